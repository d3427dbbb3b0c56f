"""Pooling ops on the CPU, in the manner of :mod:`.pooling`."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.conv.pool import MaxPooling, MaxPoolWithArgmax
from ....ops.conv.pooling import Pool
from ...kernel_table import kernel_for
from ...routines.channels_last import channels_first, moved
from ...routines.sliced import SlicedKernel, kernel_of
from .pooling import planes_of, pooled_spec, with_channels_first


def maximum(pool: Pool, x: TensorSpec) -> Kernel | None:
    """The kernel of max pooling: ``call(x, y, index)``."""
    if pool.channels_last:
        x = channels_first(x)
        return moved(maximum(with_channels_first(pool), x), (0,), pooled_spec(pool, x))
    p = planes_of(pool, x)
    if p is None:
        return None
    if p.lanes():
        from ...kernels.pooling_2x2 import max_pairs
        return p.pairs(max_pairs, "ws")
    from ...kernels.pooling import max_pool

    return kernel_of(lambda x, y, index: [SlicedKernel(max_pool, (p.wide(x), p.small(y), p.small(index)), (), (p.window,))], (p.index,))


@kernel_for(MaxPoolWithArgmax)
def maximum_and_place(op: MaxPoolWithArgmax, x: TensorSpec) -> Kernel | None:
    """The largest and its place in the array of all images: ``call(x, y, places, values, index)``."""
    pool = op.pool()
    last = pool.channels_last
    first = channels_first(x) if last else x
    p = planes_of(with_channels_first(pool), first)
    if p is None:
        return None
    from ...kernels.pooling import max_pool
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


@kernel_for(MaxPooling)
def _(op: MaxPooling, *specs: TensorSpec) -> Kernel | None:
    return maximum(op.pool(), specs[0])
