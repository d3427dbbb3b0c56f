"""The rule for arrays of indices, classes and lengths.

They hold whole numbers; an index into ``n`` things lies between 0 and n - 1, a length between 0 and the most there is. What is no
whole number (a fraction, NaN, infinity) raises DataTypeError, what lies outside ShapeError; nothing is rounded, cut off or counted
from the end. Both name the op and the first value that is refused.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.spec import TensorSpec
from ..errors import DataTypeError, OutOfRangeError
from ..ir.op import Op


def require_integer(what: str, spec: TensorSpec) -> None:
    """DataTypeError unless indices are integers."""
    if not spec.dtype.is_integer:
        raise DataTypeError(f"{what} must be integers, got {spec.dtype.name}")


def check_whole(what: str, values: Any) -> None:
    """DataTypeError for a fraction, NaN or infinity."""
    if values.dtype.kind in "iub" or not values.size:
        return
    off = ~((values - values == 0) & (values == np.floor(values)))          # inf - inf is NaN
    if off.any():
        raise DataTypeError(f"{what} must be a whole number, got {values[off].reshape(-1)[0]:g}")


def check_range(what: str, indices: Any, n: int, of: str = "an axis of size") -> None:
    """OutOfRangeError when an index lies outside of ``n`` things; negative ones do not count from the end."""
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= n):
        bad = int(indices[(indices < 0) | (indices >= n)].reshape(-1)[0])
        raise OutOfRangeError(f"{what} {bad} is out of range for {of} {n} ({f'0 to {n - 1}' if n else 'there is none'})")


def check_lengths(what: str, lengths: Any, most: int) -> None:
    """DataTypeError or OutOfRangeError unless lengths are whole numbers from 0 to ``most``."""
    check_whole(what, lengths)
    if lengths.size and (int(lengths.min()) < 0 or int(lengths.max()) > most):
        bad = int(lengths[(lengths < 0) | (lengths > most)].reshape(-1)[0])
        raise OutOfRangeError(f"{what} {bad} is out of range (0 to {most})")


def check_index_vectors(what: str, shape: Sequence[int], indices: Any) -> None:
    """OutOfRangeError when one of the vectors along the last axis points outside of an array of ``shape``."""
    for axis, n in enumerate(shape[:indices.shape[-1]]):
        check_range(what, indices[..., axis], n, f"axis {axis} of size")


def or_compute(op: Op, call: Callable[..., bool]) -> Callable[..., None]:
    """A kernel that leaves indices out of range to ``compute`` and its errors."""

    def checked(*arrays: Any) -> None:
        if not call(*arrays):
            with np.errstate(all="ignore"):
                arrays[-1][...] = op.compute(np, *arrays[:-1])
    return checked
