"""Two-dimensional pooling on the CPU, float32 and float64; images are NCHW, others are turned."""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...datatype import DataType
from ...op import Kernel
from ...spec import TensorSpec
from .channels import channels_first, moved

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


def _turned(pool: Pool) -> Pool:
    return replace(pool, channels_last=False)


def _pooled(pool: Pool, x: TensorSpec) -> TensorSpec:
    return TensorSpec(pool.shape(x.shape), x.dtype)


def _dense(array: Any) -> Any:
    return np.ascontiguousarray(array)


def maximum(pool: Pool, x: TensorSpec) -> Kernel | None:
    """``call(x, y, index)``."""
    if pool.channels_last:
        first = channels_first(x)
        return moved(maximum(_turned(pool), first), (0,), _pooled(_turned(pool), first))
    numbers = _numbers(pool, x)
    if numbers is None:
        return None
    from .kernels.pool2d import max_pool2d

    def call(x: Any, y: Any, index: Any) -> None:
        max_pool2d(_dense(x), y, index, *numbers)
    return Kernel(call, (TensorSpec(pool.shape(x.shape), DataType.INT),))


def maximum_gradient(pool: Pool, x: TensorSpec, g: TensorSpec) -> Kernel | None:
    """``call(x, g, dx, y, index)``."""
    if pool.channels_last:
        return moved(maximum_gradient(_turned(pool), channels_first(x), channels_first(g)), (0, 1), channels_first(x))
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
    if pool.channels_last:
        first = channels_first(x)
        return moved(average(_turned(pool), first), (0,), _pooled(_turned(pool), first))
    numbers = None if pool.divisor == "none" else _numbers(pool, x)
    if numbers is None:
        return None
    from .kernels.pool2d import avg_pool2d

    def call(x: Any, y: Any) -> None:
        avg_pool2d(_dense(x), y, *numbers, pool.divisor == "kernel")
    return Kernel(call)


def average_gradient(pool: Pool, g: TensorSpec, x: TensorSpec) -> Kernel | None:
    """``call(g, like, dx)``."""
    if pool.channels_last:
        return moved(average_gradient(_turned(pool), channels_first(g), channels_first(x)), (0,), channels_first(x))
    numbers = None if pool.divisor == "none" else _numbers(pool, x, g)
    if numbers is None:
        return None
    from .kernels.pool2d import avg_pool2d_backward

    def call(g: Any, _: Any, dx: Any) -> None:
        avg_pool2d_backward(_dense(g), dx, *numbers, pool.divisor == "kernel")
    return Kernel(call)
