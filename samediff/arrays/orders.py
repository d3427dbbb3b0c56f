"""Row order and column order, ``'c'`` and ``'f'``: how the elements of an array follow one another in memory."""
from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np


def in_columns(x: Any) -> bool:
    """Whether strides rise from the first axis to the last."""
    long = [s for s, n in zip(x.strides, x.shape) if n > 1]
    return len(long) > 1 and all(a < b for a, b in pairwise(long))


def arranged(made: Any, order: str) -> Any:
    """A new array in an order, ``'C'`` or ``'F'``."""
    if not isinstance(made, np.ndarray) or (made.flags.f_contiguous if order == "F" else made.flags.c_contiguous):
        return made
    return np.array(made, order=order, copy=True, subok=True)  # type: ignore[call-overload]


def order_like(x: Any, made: Any) -> str:
    """The order of a result: columns where this array has that and the shape is the same."""
    return "F" if isinstance(x, np.ndarray) and tuple(x.shape) == tuple(made.shape) and in_columns(x) else "C"


def order_of_first(arrays: Any) -> str:
    """The order of what several arrays are put together to: that of the first one."""
    return "F" if isinstance(arrays[0], np.ndarray) and in_columns(arrays[0]) else "C"


def counts_in_memory(op: Any) -> bool:
    """Whether the first of equal elements is the first in memory, as DL4J has it for the largest element of a whole array."""
    return op.id == "ismax" and not op.dimensions
