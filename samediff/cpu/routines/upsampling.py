"""Cells that are repeated, summed in blocks, or summed with their neighbours: windows over axes of any meaning."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import Shape, TensorSpec
from ...ir.op import Kernel
from ...plans.window_geometry import WindowGeometry, joined


def _served(x: TensorSpec) -> bool:
    return x.is_static and x.dtype in (DataType.FLOAT, DataType.DOUBLE) and 0 not in (x.shape or ())


def repeated(factors: Shape, x: TensorSpec) -> Kernel | None:
    """Each cell ``factors[i]`` times along axis i: ``call(x, y)``."""
    found = joined(x.shape or (), factors) if _served(x) and min(factors) > 0 else None
    if found is None:
        return None
    from ..kernels.upsampling import repeat
    small, times = found
    large, three = [n * f for n, f in zip(small, times)], tuple(times[1:])

    def call(x: Any, y: Any) -> None:
        repeat(np.ascontiguousarray(x).reshape(small), y.reshape(large), three)
    return Kernel(call)


def summed(factors: Shape, x: TensorSpec) -> Kernel | None:
    """Sums of blocks of cells, the transpose of :func:`repeated`: ``call(x, y)``."""
    if not _served(x) or min(factors) < 1:
        return None
    found = joined(tuple(n // f for n, f in zip(x.shape or (), factors)), factors)
    if found is None:
        return None
    from ...ops.conv.window import Window
    small, times = found
    large, still = tuple(n * f for n, f in zip(small, times)), (0, 0, 0)
    kernel = tuple(times[1:])
    return _sums(Window(kernel, kernel, still, (1, 1, 1)), large, x)


def neighbours(depth: int, axis: int, x: TensorSpec) -> Kernel | None:
    """Sums of each cell and ``depth`` neighbours on both sides along an axis: ``call(x, y)``."""
    if not _served(x) or depth < 0:
        return None
    from ...ops.conv.window import Window
    shape = x.shape or ()
    axis %= len(shape)
    planes, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1:])
    reach = min(depth, shape[axis] - 1)
    return _sums(Window((2 * reach + 1, 1), (1, 1), (reach, 0), (1, 1)), (planes, shape[axis], inner), x)


def _sums(window: Any, shape: Shape, x: TensorSpec) -> Kernel | None:
    grid = WindowGeometry.of(window, shape[1:])
    if grid is None:
        return None
    from ..kernels.pooling import window_sum
    shares = [np.ones(n, x.dtype.numpy) for n in grid.counts]

    def call(x: Any, y: Any) -> None:
        window_sum(np.ascontiguousarray(x).reshape(-1, *grid.sizes), y.reshape(-1, *grid.counts), grid.window, *shares)
    return Kernel(call)
