"""Two-dimensional pooling of NCHW images on the CPU, float32 and float64."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...datatype import DataType
from ...op import Kernel
from ...spec import TensorSpec

if TYPE_CHECKING:
    from ...ops.pooling import Pool


def _numbers(pool: Pool, x: TensorSpec, *others: TensorSpec) -> tuple[int, ...] | None:
    """Kernel, stride, padding and dilation when the kernels here serve the images."""
    if pool.channels_last or x.rank != 4 or x.dtype not in (DataType.FLOAT, DataType.DOUBLE) or 0 in (x.shape or ()):
        return None
    if any(not s.is_static or s.dtype is not x.dtype for s in (x, *others)):
        return None
    window = pool.window
    return (*window.kernel, *window.stride, *window.befores((x.shape or ())[2:]), *window.dilation)


def _dense(array: Any) -> Any:
    return np.ascontiguousarray(array)


def maximum(pool: Pool, x: TensorSpec) -> Kernel | None:
    """``call(x, y, index)``."""
    numbers = _numbers(pool, x)
    if numbers is None:
        return None
    from .kernels.pool2d import max_pool2d

    def call(x: Any, y: Any, index: Any) -> None:
        max_pool2d(_dense(x), y, index, *numbers)
    return Kernel(call, (TensorSpec(pool.shape(x.shape), DataType.INT),))


def maximum_gradient(pool: Pool, x: TensorSpec, g: TensorSpec) -> Kernel | None:
    """``call(x, g, dx, y, index)``."""
    numbers = _numbers(pool, x, g)
    if numbers is None:
        return None
    from .kernels.pool2d import max_pool2d, max_pool2d_backward

    def call(x: Any, g: Any, dx: Any, y: Any, index: Any) -> None:
        max_pool2d(_dense(x), y, index, *numbers)
        max_pool2d_backward(_dense(g), index, dx)
    return Kernel(call, (TensorSpec(pool.shape(x.shape), x.dtype), TensorSpec(pool.shape(x.shape), DataType.INT)))


def average(pool: Pool, x: TensorSpec) -> Kernel | None:
    """``call(x, y)``."""
    numbers = None if pool.divisor == "none" else _numbers(pool, x)
    if numbers is None:
        return None
    from .kernels.pool2d import avg_pool2d

    def call(x: Any, y: Any) -> None:
        avg_pool2d(_dense(x), y, *numbers, pool.divisor == "kernel")
    return Kernel(call)


def average_gradient(pool: Pool, g: TensorSpec, x: TensorSpec) -> Kernel | None:
    """``call(g, like, dx)``."""
    numbers = None if pool.divisor == "none" else _numbers(pool, x, g)
    if numbers is None:
        return None
    from .kernels.pool2d import avg_pool2d_backward

    def call(g: Any, _: Any, dx: Any) -> None:
        avg_pool2d_backward(_dense(g), dx, *numbers, pool.divisor == "kernel")
    return Kernel(call)
