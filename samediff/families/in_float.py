"""Numbers of 16 bits worked with in FLOAT."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.datatype import is_floating

Compute = Callable[..., Any]

_FLOAT = np.dtype(np.float32)


def _is_brief(array: Any) -> bool:
    return array.dtype.itemsize == 2 and is_floating(array.dtype)


def in_float(compute: Compute) -> Compute:
    """``compute(self, xp, *arrays)`` of an op that joins many numbers: arrays of 16 bits as FLOAT, the results in their type again.

    Sums in HALF and BFLOAT16 themselves stop growing after a few hundred to a few thousand terms, as what is added is below their
    last digit, and leave the range on the way to a mean that is in it.
    """
    @functools.wraps(compute)
    def call(op: Any, xp: Any, *arrays: Any, **options: Any) -> Any:
        floats = [a for a in arrays if hasattr(a, "dtype") and is_floating(a.dtype)]
        brief = next((a.dtype for a in floats if _is_brief(a)), None)
        if brief is None:
            return compute(op, xp, *arrays, **options)
        found = compute(op, xp, *(a.astype(_FLOAT) if any(a is b for b in floats) and _is_brief(a) else a for a in arrays), **options)
        if not all(map(_is_brief, floats)):         # the type of the result follows from another array
            return found
        made = [r.astype(brief) if r.dtype == _FLOAT else r for r in (found if isinstance(found, tuple) else (found,))]
        return tuple(made) if isinstance(found, tuple) else made[0]
    return call
