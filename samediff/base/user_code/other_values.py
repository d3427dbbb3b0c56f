"""Other values of the kind of one: what is tried in the place of an option or attribute."""
from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..datatype import DataType


def others(value: Any) -> Iterator[Any]:
    """Other values, likely ones first; none of texts and types, whose meaning nobody can guess."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, enum.Enum) and not isinstance(value, DataType):
        yield from (member for member in type(value) if member is not value)
    elif isinstance(value, int) and not isinstance(value, DataType):
        yield from dict.fromkeys(n for n in (value + 1, value - 1, 1, 0) if n != value)
    elif isinstance(value, float):
        yield from dict.fromkeys(x for x in (value * 0.75 + 0.1, 0.0, -value, 1e3) if x != value)
    elif isinstance(value, complex) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
        yield value * 0.75 + 0.1
    elif isinstance(value, (list, tuple)):
        yield from _changed(value, type(value))
    elif isinstance(value, dict):
        yield from _changed(value.values(), lambda values: dict(zip(value, values)))


def _changed(values: Any, made: Callable[[Any], Any]) -> Iterator[Any]:
    """All of several values changed; those that have no others stay, and where none has some there is nothing to try."""
    found = [next(others(v), v) for v in values]
    if any(a is not b for a, b in zip(found, values)):
        yield made(found)
