"""Numbers of 16 bits worked with in FLOAT."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from ..base.datatype import DataType, is_floating

if TYPE_CHECKING:
    from ..ir.variable import SDVariable

Compute = Callable[..., Any]

_FLOAT = np.dtype(np.float32)


def _is_brief(array: Any) -> bool:
    dtype = getattr(array, "dtype", None)
    return dtype is not None and dtype.itemsize == 2 and is_floating(dtype)


def in_float(compute: Compute) -> Compute:
    """``compute(self, xp, *arrays)`` of an op that joins many numbers: arrays of 16 bits as FLOAT, the results in their type again.

    Sums in HALF and BFLOAT16 themselves stop growing after a few hundred to a few thousand terms, as what is added is below their
    last digit, and leave the range on the way to a mean that is in it.
    """
    @functools.wraps(compute)
    def call(op: Any, xp: Any, *arrays: Any, **options: Any) -> Any:
        brief = next((a.dtype for a in arrays if _is_brief(a)), None)
        if brief is None:
            return compute(op, xp, *arrays, **options)

        def narrowed(result: Any) -> Any:
            return result.astype(brief) if result.dtype == _FLOAT else result
        found = compute(op, xp, *(a.astype(_FLOAT) if _is_brief(a) else a for a in arrays), **options)
        if any(hasattr(a, "dtype") and a.dtype.kind == "f" and a.dtype.itemsize > 2 for a in arrays):
            return found        # the type of the result follows from another array
        return tuple(map(narrowed, found)) if isinstance(found, (tuple, list)) else narrowed(found)
    return call


def as_float(x: SDVariable) -> SDVariable:
    """A variable of 16 bits as FLOAT, others as they are."""
    return x.cast_to(DataType.FLOAT) if x.dtype in (DataType.HALF, DataType.BFLOAT16) else x


def in_type_of(found: SDVariable, x: SDVariable) -> SDVariable:
    """What was computed of :func:`as_float` in the type of x again."""
    return found if found.dtype is x.dtype else found.cast_to(x.dtype)


def least(eps: float, dtype: DataType) -> float:
    """``eps``, a least divisor, or the smallest normal number where the type does not hold that: quotients by it stay finite."""
    return max(eps, float(ml_dtypes.finfo(dtype.numpy).smallest_normal))  # type: ignore[no-untyped-call]
