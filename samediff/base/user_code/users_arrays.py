"""The class of arrays with DL4J's methods, for code of users: it stands above what calls such code, and makes itself known here."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

_known: list[Callable[[Any], Any]] = []


def is_users_array(make: Callable[[Any], Any]) -> None:
    """Make arrays for code of users by this function."""
    _known[:] = [make]


def users_array(values: Any) -> Any:
    """An array that looks at the memory of ``values``, with DL4J's methods."""
    return _known[0](values) if _known else values
