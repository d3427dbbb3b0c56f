"""Memory and products of recurrent ops over whole sequences on the CPU.

The rows of a batch do not depend on each other, so large sequences are worked on by several threads.
"""
from __future__ import annotations

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec

Specs = tuple[TensorSpec | None, ...]


def fits(given: Specs) -> bool:
    """Whether the inputs are static, not empty, and float32 or float64."""
    x, rw = given[0], given[2]
    if x is None or rw is None or x.dtype not in (DataType.FLOAT, DataType.DOUBLE) or any(s and not s.is_static for s in given):
        return False
    return 0 not in (*(x.shape or ()), *(rw.shape or ()))


def work(rw: TensorSpec, x: TensorSpec) -> int:
    """Number of multiplications of all steps."""
    return int(np.prod((*(x.shape or ())[:2], *(rw.shape or ())), dtype=np.int64))


def packed_spec(like: TensorSpec, depth: int, columns: int) -> TensorSpec:
    """Spec of the memory for packed weights."""
    from ..matrix.product_tiles import VECTOR, VECTORS
    wide = VECTORS * VECTOR // like.dtype.numpy.itemsize
    return TensorSpec((-(-columns // wide) * wide * depth,), like.dtype)


def workspace_spec(like: TensorSpec, parts: list[tuple[int, int]]) -> TensorSpec:
    """Spec of the workspace of the products, one row for each part."""
    from ..matrix.small_products import WORKSPACE
    return TensorSpec((len(parts), WORKSPACE), like.dtype)


def library(like: TensorSpec) -> int:
    """The address of the BLAS library's product; 0 where there is none to call."""
    from ..blas.blas import address
    return int(address(like.dtype is DataType.DOUBLE))
