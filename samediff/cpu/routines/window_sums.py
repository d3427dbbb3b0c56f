"""Sums over windows along axes of any meaning."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import Shape, TensorSpec
from ...ir.op import Kernel
from ...plans.window_geometry import WindowGeometry
from .sliced import SlicedKernel, dense, kernel_of


def served(x: TensorSpec) -> bool:
    """Whether kernels serve an array: static, not empty, float32 or float64."""
    return x.is_static and x.dtype in (DataType.FLOAT, DataType.DOUBLE) and 0 not in (x.shape or ())


def window_sums(window: Any, shape: Shape, x: TensorSpec) -> Kernel | None:
    """The kernel of sums over windows of x, seen as (outer, *sizes): ``call(x, y)``."""
    grid = WindowGeometry.of(window, shape[1:])
    if grid is None:
        return None
    from ..kernels.pooling import window_sum
    shares = [np.ones(n, x.dtype.numpy) for n in grid.counts]

    def build(x: Any, y: Any) -> list[SlicedKernel]:
        return [SlicedKernel(window_sum, (dense(x, -1, *grid.sizes), dense(y, -1, *grid.counts)), shares, (grid.window,))]
    return kernel_of(build)
