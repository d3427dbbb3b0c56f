"""Pooling over up to three axes on the CPU, float32 and float64; images are channels first, others are turned."""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.conv.pooling import Pool, WindowGather, WindowScatter, WindowSpread, WindowSum
from ....plans.window_geometry import WindowGeometry
from ...kernel_table import kernel_for
from ...routines.channels_last import channels_first, moved
from ...routines.parallel_kernel import ParallelKernel
from ...routines.sliced import CELL, SlicedKernel, kernel_of
from ...threads import parts

#: Windows that have kernels of their own: kernel, stride, padding and dilation.
PAIRS = ((1, 2, 2), (1, 2, 2), (0, 0, 0), (1, 1, 1))


class _PoolingSizes:
    """Sizes of one pooling; images and results are viewed as (planes, depth, height, width)."""

    def __init__(self, pool: Pool, x: TensorSpec, grid: WindowGeometry) -> None:
        self.grid, self.dtype, self.nanoseconds = grid, x.dtype.numpy, CELL * math.prod(x.shape or ())
        self.window, self.pooled = grid.window, TensorSpec(pool.shape(x.shape), x.dtype)
        self.index = TensorSpec(pool.shape(x.shape), DataType.INT)
        self.images, self.values = (-1, *grid.sizes), (-1, *grid.counts)
        self.shares = [_shares(pool, grid, axis).astype(x.dtype.numpy) for axis in range(3)]

    def wide(self, x: Any) -> Any:
        """Images as (planes, depth, height, width)."""
        return np.ascontiguousarray(x).reshape(self.images)

    def small(self, y: Any) -> Any:
        """Arrays of one value per window as (planes, depth, height, width)."""
        return np.ascontiguousarray(y).reshape(self.values)

    def share(self) -> float:
        """The factor of all sums, where all windows lie inside the images."""
        return float(math.prod(s[0] for s in self.shares))

    def pairs(self, function: Any, kinds: str, *numbers: float) -> Kernel:
        """A kernel of windows of pairs; ``kinds``: which of its arrays are wide, which small, and which only stand by."""
        turn: dict[str, Any] = {"w": self.wide, "s": self.small}

        def operands(*arrays: Any) -> tuple[Any, ...]:
            return tuple([turn[k](a)[:, 0] for k, a in zip(kinds, arrays) if k != "-"])
        return ParallelKernel(function, operands, (*numbers, self.lanes()), self.nanoseconds).kernel()

    def lanes(self) -> int:
        """Length of the vectors that windows of pairs are worked on with; 0 where these are others, or their rows shorter."""
        from ...matrix.tiles import lanes_of
        (layers, rows, across), full = self.grid.counts, lanes_of(self.dtype)
        fit = layers == 1 and 2 * rows <= self.grid.sizes[1] and 2 * across <= self.grid.sizes[2]
        if self.window != PAIRS or not fit or across < full // 2:
            return 0
        return full if across >= full else full // 2


def _shares(pool: Pool, grid: WindowGeometry, axis: int) -> Any:
    """The factor of the sums for each window along an axis."""
    kernel, stride, before, dilation = (of[axis] for of in grid.window)
    if pool.divisor != "inside":
        return np.full(grid.counts[axis], 1 / kernel if pool.divisor == "kernel" else 1)
    cells = np.arange(grid.counts[axis])[:, None] * stride - before + np.arange(kernel) * dilation
    return 1 / np.maximum(((cells >= 0) & (cells < grid.sizes[axis])).sum(axis=1), 1)


def planes_of(pool: Pool, x: TensorSpec, *others: TensorSpec) -> _PoolingSizes | None:
    """None when the kernels here do not serve the images."""
    if any(not s.is_static or s.dtype is not x.dtype for s in (x, *others)) or x.dtype not in (DataType.FLOAT, DataType.DOUBLE):
        return None
    shape = x.shape or ()
    if pool.channels_last or 0 in shape or math.prod(shape[2:]) >= 1 << 31:
        return None
    grid = WindowGeometry.of(pool.window, shape[2:])
    return None if grid is None else _PoolingSizes(pool, x, grid)


def with_channels_first(pool: Pool) -> Pool:
    return replace(pool, channels_last=False)


def pooled_spec(pool: Pool, x: TensorSpec) -> TensorSpec:
    return TensorSpec(with_channels_first(pool).shape(x.shape), x.dtype)


def maximum_gradient(pool: Pool, x: TensorSpec, g: TensorSpec) -> Kernel | None:
    """The kernel of the gradient of max pooling: ``call(x, g, dx, y, index)``."""
    if pool.channels_last:
        return moved(maximum_gradient(with_channels_first(pool), channels_first(x), channels_first(g)), (0, 1), channels_first(x))
    p = planes_of(pool, x, g)
    if p is None:
        return None
    if p.lanes():
        from ...kernels.pooling_2x2 import max_pairs_back
        return p.pairs(max_pairs_back, "wsw")
    from ...kernels.pooling import max_pool, max_pool_backward

    def build(x: Any, g: Any, dx: Any, y: Any, index: Any) -> list[SlicedKernel]:
        places = p.small(index)
        return [SlicedKernel(max_pool, (p.wide(x), p.small(y), places), (), (p.window,)),
                SlicedKernel(max_pool_backward, (p.small(g), places, p.wide(dx)))]
    return kernel_of(build, (p.pooled, p.index))


def maximum_taken(pool: Pool, x: TensorSpec, values: TensorSpec) -> Kernel | None:
    """Values where x is largest: ``call(x, values, out, y, index)``."""
    if pool.channels_last:
        first = channels_first(x)
        return moved(maximum_taken(with_channels_first(pool), first, channels_first(values)), (0, 1), pooled_spec(pool, first))
    p = planes_of(pool, x, values)
    if p is None:
        return None
    from ...kernels.pooling import max_pool, taken

    def build(x: Any, values: Any, out: Any, y: Any, index: Any) -> list[SlicedKernel]:
        places = p.small(index)
        return [SlicedKernel(max_pool, (p.wide(x), p.small(y), places), (), (p.window,)),
                SlicedKernel(taken, (p.wide(values), places, p.small(out)))]
    return kernel_of(build, (p.pooled, p.index))


def total(pool: Pool, x: TensorSpec) -> Kernel | None:
    """The kernel of sums over windows times their factors: ``call(x, y)``."""
    if pool.channels_last:
        x = channels_first(x)
        return moved(total(with_channels_first(pool), x), (0,), pooled_spec(pool, x))
    p = planes_of(pool, x)
    if p is None:
        return None
    if p.lanes():
        from ...kernels.pooling_2x2 import sum_pairs
        return p.pairs(sum_pairs, "ws", p.share())
    from ...kernels.pooling import window_sum

    return kernel_of(lambda x, y: [SlicedKernel(window_sum, (p.wide(x), p.small(y)), p.shares, (p.window,))])


def spread(pool: Pool, g: TensorSpec, x: TensorSpec) -> Kernel | None:
    """The kernel of the transpose of :func:`total`: ``call(g, like, dx)``."""
    if pool.channels_last:
        return moved(spread(with_channels_first(pool), channels_first(g), channels_first(x)), (0,), channels_first(x))
    p = planes_of(pool, x, g)
    if p is None:
        return None
    if p.lanes():
        from ...kernels.pooling_2x2 import spread_pairs
        return p.pairs(spread_pairs, "s-w", p.share())
    from ...kernels.pooling import window_spread

    def operands(g: Any, _: Any, dx: Any, room: Any) -> tuple[Any, ...]:
        return p.small(g), p.wide(dx), room, *p.shares
    room = TensorSpec((parts(), p.grid.counts[2]), x.dtype)
    return ParallelKernel(window_spread, operands, (p.window,), CELL * math.prod(x.shape or ()), (room,)).kernel()


@kernel_for(WindowSum)
def _(op: WindowSum, *specs: TensorSpec) -> Kernel | None:
    return total(op.pool, specs[0])


@kernel_for(WindowSpread)
def _(op: WindowSpread, *specs: TensorSpec) -> Kernel | None:
    return spread(op.pool, *specs)


@kernel_for(WindowScatter)
def _(op: WindowScatter, *specs: TensorSpec) -> Kernel | None:
    return maximum_gradient(op.pool, *specs)


@kernel_for(WindowGather)
def _(op: WindowGather, *specs: TensorSpec) -> Kernel | None:
    return maximum_taken(op.pool, *specs)
