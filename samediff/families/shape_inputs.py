"""Sizes, axes and counts that are inputs of ops, as far as shape rules know them."""
from __future__ import annotations

import math

from ..base.spec import TensorSpec
from ..errors import DataTypeError, ShapeError


def ints_of(spec: TensorSpec | None) -> tuple[int, ...] | None:
    """The values of a small constant input, which must be integers; None when unknown."""
    if spec is None:
        return None
    if not spec.dtype.is_integer:
        raise DataTypeError(f"sizes, axes and counts are integers (INT, LONG, ...), got {spec.dtype.name}. Use cast_to(DataType.INT) first")
    return None if spec.value is None else tuple(int(v) for v in spec.value.reshape(-1))


def shape_from(spec: TensorSpec) -> tuple[int, ...] | None:
    """The shape that a variable describes, as far as known; ShapeError unless it is a vector of sizes."""
    if spec.shape is not None and sum(n != 1 for n in spec.shape) > 1:
        raise ShapeError(f"a shape is a vector of sizes, got an array of shape {spec.shape}")
    values = ints_of(spec)
    if values is not None:
        return values
    return None if spec.shape is None or -1 in spec.shape else (-1,) * math.prod(spec.shape)
