"""Blocks of cells on the GPU: repeated, summed, moved to the batch and back."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import Shape, TensorSpec
from ....ops.shape.blocks import BatchToSpace, RepeatBlocks, SpaceToBatch, SumBlocks
from ....plans.actions import Action, CudaKernel, KernelLaunch
from ....plans.window_geometry import WindowGeometry, joined
from ...kernel_table import kernel_for
from ...routines.pooling_sizes import NUMBERS, SUMMED, CudaPoolingSizes
from ...routines.space_to_depth import batch_to_space, space_to_batch
from ...routines.window_geometry import served, threads_for
from ...sources import source, type_name


def _divided(sizes: Shape, factors: Shape) -> tuple[list[int], list[int], int] | None:
    """Sizes and factors of (outer, z, y, x), and the size of adjacent elements that stay together."""
    moving = max((k + 1 for k, f in enumerate(factors) if f != 1), default=0)
    found = joined(sizes[:moving], factors[:moving])
    return found and (*found, math.prod(sizes[moving:]))


@kernel_for(RepeatBlocks)
def repeated(op: RepeatBlocks, x: TensorSpec) -> CudaKernel | None:
    """Each cell ``factors[i]`` times along axis i: input x."""
    factors = op.factors
    found = _divided(x.shape or (), factors) if served(x, types=NUMBERS) and min(factors, default=1) > 0 else None
    if found is None:
        return None
    small, times, inner = found

    def actions(x: Any, y: Any) -> Sequence[Action]:
        args = (x, y, np.int64(y.size), *map(np.int32, (inner, *small[1:], *times[1:])))
        return (KernelLaunch(_text(DataType.of(y.dtype), y.size), "repeat_cells", *threads_for(y.size), args),) if y.size else ()
    return CudaKernel(actions)


@kernel_for(SumBlocks)
def summed(op: SumBlocks, x: TensorSpec) -> CudaKernel | None:
    """Sums of blocks of ``factors[i]`` cells along axis i, the transpose of :func:`repeated`: input x."""
    factors = op.factors
    if not served(x, types=SUMMED) or min(factors, default=1) < 1:
        return None
    found = _divided(tuple(n // f for n, f in zip(x.shape or (), factors)), factors)
    if found is None:
        return None
    small, times, inner = found
    a, b, c = times[1:]
    large = (small[1] * a, small[2] * b, small[3] * c)
    grid = WindowGeometry(((a, b, c), (a, b, c), (0, 0, 0), (1, 1, 1)), large, (small[1], small[2], small[3]))
    planes = CudaPoolingSizes(grid, x.dtype, small[0], inner)
    return planes.kernel(planes.sums(), "window_sum", planes.windows, planes.number(1))


@kernel_for(SpaceToBatch)
def _(op: SpaceToBatch, *specs: TensorSpec) -> CudaKernel | None:
    return space_to_batch(op.sides(), *specs)


@kernel_for(BatchToSpace)
def _(op: BatchToSpace, *specs: TensorSpec) -> CudaKernel | None:
    return batch_to_space(op.sides(), *specs)


def _text(dtype: DataType, size: int) -> str:
    return source("upsampling", T=type_name(dtype), I="int" if size < 1 << 30 else "long long")


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    for dtype in (DataType.FLOAT, DataType.HALF, DataType.BOOL):
        yield f"cells {dtype.name}", _text(dtype, 1)
