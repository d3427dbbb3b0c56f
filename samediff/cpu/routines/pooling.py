"""Pooling over up to three axes on the CPU, float32 and float64; images are channels first, others are turned."""
from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...ir.op import Kernel
from ...plans.window_geometry import WindowGeometry
from .channels_last import channels_first, moved
from .parallel_kernel import ParallelKernel

if TYPE_CHECKING:
    from ...ops.conv.pooling import Pool


#: Nanoseconds of a cell.
CELL = 0.25

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
        from ..matrix.tiles import lanes_of
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


def _planes(pool: Pool, x: TensorSpec, *others: TensorSpec) -> _PoolingSizes | None:
    """None when the kernels here do not serve the images."""
    if any(not s.is_static or s.dtype is not x.dtype for s in (x, *others)) or x.dtype not in (DataType.FLOAT, DataType.DOUBLE):
        return None
    shape = x.shape or ()
    if pool.channels_last or 0 in shape or math.prod(shape[2:]) >= 1 << 31:
        return None
    grid = WindowGeometry.of(pool.window, shape[2:])
    return None if grid is None else _PoolingSizes(pool, x, grid)


def _first(pool: Pool) -> Pool:
    return replace(pool, channels_last=False)


def _pooled(pool: Pool, x: TensorSpec) -> TensorSpec:
    return TensorSpec(_first(pool).shape(x.shape), x.dtype)


def maximum(pool: Pool, x: TensorSpec) -> Kernel | None:
    """The kernel of max pooling: ``call(x, y, index)``."""
    if pool.channels_last:
        x = channels_first(x)
        return moved(maximum(_first(pool), x), (0,), _pooled(pool, x))
    p = _planes(pool, x)
    if p is None:
        return None
    if p.lanes():
        from ..kernels.pooling_2x2 import max_pairs
        return p.pairs(max_pairs, "ws")
    from ..kernels.pooling import max_pool

    def call(x: Any, y: Any, index: Any) -> None:
        max_pool(p.wide(x), p.small(y), p.small(index), p.window)
    return Kernel(call, (p.index,))


def maximum_gradient(pool: Pool, x: TensorSpec, g: TensorSpec) -> Kernel | None:
    """The kernel of the gradient of max pooling: ``call(x, g, dx, y, index)``."""
    if pool.channels_last:
        return moved(maximum_gradient(_first(pool), channels_first(x), channels_first(g)), (0, 1), channels_first(x))
    p = _planes(pool, x, g)
    if p is None:
        return None
    if p.lanes():
        from ..kernels.pooling_2x2 import max_pairs_back
        return p.pairs(max_pairs_back, "wsw")
    from ..kernels.pooling import max_pool, max_pool_backward

    def call(x: Any, g: Any, dx: Any, y: Any, index: Any) -> None:
        places = p.small(index)
        max_pool(p.wide(x), p.small(y), places, p.window)
        max_pool_backward(p.small(g), places, p.wide(dx))
    return Kernel(call, (p.pooled, p.index))


def maximum_taken(pool: Pool, x: TensorSpec, values: TensorSpec) -> Kernel | None:
    """Values where x is largest: ``call(x, values, out, y, index)``."""
    if pool.channels_last:
        first = channels_first(x)
        return moved(maximum_taken(_first(pool), first, channels_first(values)), (0, 1), _pooled(pool, first))
    p = _planes(pool, x, values)
    if p is None:
        return None
    from ..kernels.pooling import max_pool, taken

    def call(x: Any, values: Any, out: Any, y: Any, index: Any) -> None:
        places = p.small(index)
        max_pool(p.wide(x), p.small(y), places, p.window)
        taken(p.wide(values), places, p.small(out))
    return Kernel(call, (p.pooled, p.index))


def total(pool: Pool, x: TensorSpec) -> Kernel | None:
    """The kernel of sums over windows times their factors: ``call(x, y)``."""
    if pool.channels_last:
        x = channels_first(x)
        return moved(total(_first(pool), x), (0,), _pooled(pool, x))
    p = _planes(pool, x)
    if p is None:
        return None
    if p.lanes():
        from ..kernels.pooling_2x2 import sum_pairs
        return p.pairs(sum_pairs, "ws", p.share())
    from ..kernels.pooling import window_sum

    def call(x: Any, y: Any) -> None:
        window_sum(p.wide(x), p.small(y), p.window, *p.shares)
    return Kernel(call)


def spread(pool: Pool, g: TensorSpec, x: TensorSpec) -> Kernel | None:
    """The kernel of the transpose of :func:`total`: ``call(g, like, dx)``."""
    if pool.channels_last:
        return moved(spread(_first(pool), channels_first(g), channels_first(x)), (0,), channels_first(x))
    p = _planes(pool, x, g)
    if p is None:
        return None
    if p.lanes():
        from ..kernels.pooling_2x2 import spread_pairs
        return p.pairs(spread_pairs, "s-w", p.share())
    from ..kernels.pooling import window_spread

    def call(g: Any, _: Any, dx: Any) -> None:
        window_spread(p.small(g), p.wide(dx), p.window, *p.shares)
    return Kernel(call)


def power_mean(pool: Pool, power: float, x: TensorSpec) -> Kernel | None:
    """(sum |x|^power)^(1 / power) of each window: ``call(x, y, powers, norms, *work)``.

    Powers are taken in DOUBLE, of shares of the largest element, which stay in the range of the type.
    """
    wide, norm = (TensorSpec(shape, DataType.DOUBLE) for shape in (x.shape, pool.shape(x.shape)))
    inner = total(pool, wide)
    if inner is None:
        return None
    sums = inner.call

    def call(x: Any, y: Any, powers: Any, norms: Any, *work: Any) -> None:
        np.absolute(x, out=powers)
        top = powers.max(initial=0)
        top = top if 0 < top < np.inf else 1
        powers /= top
        powers **= power
        sums(powers, norms, *work)
        norms **= 1 / power
        np.multiply(norms, top, out=y, casting="same_kind")
    return Kernel(call, (wide, norm, *inner.workspace))


def maximum_and_place(pool: Pool, x: TensorSpec) -> Kernel | None:
    """The largest and its place in the array of all images: ``call(x, y, places, values, index)``."""
    last = pool.channels_last
    first = channels_first(x) if last else x
    p = _planes(_first(pool), first)
    if p is None:
        return None
    from ..kernels.pooling import max_pool
    n, channels, *sizes = first.shape or ()
    between = channels if last else 1           # neighbours of an image in its array
    start = np.arange(n)[:, None] * channels * math.prod(sizes) + np.arange(channels) * (1 if last else math.prod(sizes))
    start = start.reshape(n, channels, *(1 for _ in sizes))

    def call(x: Any, y: Any, places: Any, values: Any, index: Any) -> None:
        max_pool(p.wide(np.moveaxis(x, -1, 1) if last else x), p.small(values), p.small(index), p.window)
        y[...] = np.moveaxis(values, 1, -1) if last else values
        found = index * np.int64(between) + start
        places[...] = np.moveaxis(found, 1, -1) if last else found
        if (index < 0).any():
            places[...] = pool.gather(np, x, np.arange(x.size).reshape(x.shape))
    return Kernel(call, (p.pooled, p.index))
