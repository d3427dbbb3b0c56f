"""Sums of cells and their neighbours along an axis, on the GPU."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ops.nn.local_response import NeighbourSum
from ....plans.actions import CudaKernel, KernelLaunch
from ...code.layout import NARROW
from ...kernel_table import kernel_for
from ...sources import source, type_name

BLOCKS = 4096


def _source(dtype: Any, wide: bool) -> str:
    return source("neighbour_sum", T=type_name(dtype), I="long long" if wide else "int")


@kernel_for(NeighbourSum)
def neighbours(op: NeighbourSum, x: TensorSpec) -> CudaKernel | None:
    """``(x, out)``: the sum over ``depth`` neighbours on each side."""
    if not x.is_static or not x.dtype.is_floating:
        return None
    shape, dtype = x.shape or (), x.dtype.numpy
    axis = op.axis % len(shape)
    size, n, inner = math.prod(shape), shape[axis], math.prod(shape[axis + 1:])
    wide = size >= NARROW
    index = np.int64 if wide else np.int32

    def actions(x: Any, out: Any) -> list[KernelLaunch]:
        if not size:
            return []
        blocks = min(-(-size // 256), BLOCKS)
        return [KernelLaunch(_source(dtype, wide), "neighbours", (blocks, 1, 1), (256, 1, 1),
                       (x, out, index(size), index(n), index(inner), index(min(op.depth, n))))]
    return CudaKernel(actions)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Texts of every kind, for checks that they compile."""
    for name in ("float16", "float32", "float64"):
        yield f"sums of neighbours of {name}", _source(DataType.of(name).numpy, name == "float64")
