"""Helpers of layers in HALF and BFLOAT16."""
from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes

from ...samediff.base.datatype import DataType

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


def in_float(x: SDVariable) -> SDVariable:
    """A variable of 16 bits as FLOAT, others as they are."""
    return x.cast_to(DataType.FLOAT) if x.dtype in (DataType.HALF, DataType.BFLOAT16) else x


def to_type_of(found: SDVariable, x: SDVariable) -> SDVariable:
    """What was computed of :func:`in_float` in the type of x again."""
    return found if found.dtype is x.dtype else found.cast_to(x.dtype)


def least(eps: float, dtype: DataType) -> float:
    """``eps``, a least divisor, or the smallest normal number where the type does not hold that: quotients by it stay finite."""
    return max(eps, float(ml_dtypes.finfo(dtype.numpy).smallest_normal))  # type: ignore[no-untyped-call]
