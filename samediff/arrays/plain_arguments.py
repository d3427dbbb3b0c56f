"""Arguments that are whole numbers (positions, sizes, dimensions, counts), which are never cut to such, and truth values."""
from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import DataTypeError


def whole(value: Any, what: str = "a position") -> int:
    """The whole number that a number is.

    Raises
    ------
    DataTypeError
        It has a fraction, or is a truth value or no number.
    """
    if type(value) is int:
        return value
    if not isinstance(value, (bool, np.bool_)) and getattr(value, "dtype", None) != np.bool_:
        try:
            return operator.index(value)
        except TypeError:
            if np.ndim(value) == 0 and isinstance(getattr(value, "dtype", value), (float, np.dtype)) and float(value).is_integer():
                return int(value)
    raise DataTypeError(f"{what} is a whole number; got {value!r:.60}")


def wholes(values: Any, what: str = "a position") -> tuple[int, ...]:
    """Those of a list, an array of them or a single one."""
    if isinstance(values, np.ndarray):
        values = np.asarray(values).ravel()
    return tuple(whole(v, what) for v in (values if isinstance(values, Iterable) else (values,)))


def truth(value: Any, what: str) -> bool:
    """The truth value; DataTypeError for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise DataTypeError(f"{what} is True or False; got {value!r:.60}")
    return bool(value)
