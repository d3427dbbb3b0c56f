"""NumPy without warnings of divisions by 0 and overflows, at the price of a call."""
from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

#: From NumPy 2 on what is said of such cases belongs to a context, which can be entered faster than ``np.errstate`` makes one.
_IN_CONTEXTS = int(np.__version__.partition(".")[0]) >= 2

#: Whether what runs is in a context of :class:`_Quiet`, which cannot be entered twice.
_inside = contextvars.ContextVar("_inside", default=not _IN_CONTEXTS)


class _Quiet(threading.local):
    """A context of each thread in which nothing is said."""

    def __init__(self) -> None:
        self.context = contextvars.copy_context()
        if _IN_CONTEXTS:
            self.context.run(np.seterr, all="ignore")
        self.context.run(_inside.set, True)


_quiet = _Quiet()


def quietly(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The function called so; it must be NumPy's, or array code that looks at no context of its own."""
    if _inside.get():
        with np.errstate(all="ignore"):
            return function(*args, **options)
    return _quiet.context.run(function, *args, **options)
