"""Convolution on the CPU: directly where that is possible, else patches as columns and BLAS, some images at a time.

Images are channels first (others are turned) with one, two or three spatial axes, float32 or float64.
"""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import Shape, TensorSpec
from ...ir.op import Kernel
from . import depthwise, direct
from .channels import channels_first, moved
from .convolution_shapes import Shapes

if TYPE_CHECKING:
    from ...ops.conv.convolving import Geometry

def _shapes(geometry: Geometry, x: TensorSpec, w: TensorSpec, *others: TensorSpec | None) -> Shapes | None:
    """The sizes when the kernels here serve them."""
    grid = depthwise.served(geometry, x, w, *others)
    return None if grid is None else Shapes(geometry, x, w, grid)


def _first(geometry: Geometry) -> Geometry:
    return replace(geometry, channels_last=False)


def forward(geometry: Geometry, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None = None) -> Kernel | None:
    """Convolution, with a bias when there is one: ``call(x, w[, bias], y, columns)``."""
    if geometry.channels_last:
        from ...ops.conv.convolving import output_shape
        x = channels_first(x)
        y = TensorSpec(output_shape(_first(geometry), x.shape, w.shape), x.dtype)
        return moved(forward(_first(geometry), x, w, bias), (0,), y)
    if geometry.depthwise:
        return depthwise.forward(geometry, x, w, bias)
    s = _shapes(geometry, x, w, bias)
    if s is None:
        return None
    without_columns = direct.Direct.of(s)
    made = None if without_columns is None else direct.forward(without_columns)
    if made is not None:
        return made
    from ..kernels.im2col import im2col

    def call(x: Any, w: Any, *rest: Any) -> None:
        b, y, columns = (None, *rest) if len(rest) == 2 else rest
        x, weights, result = s.planes(x), s.matrix(w), s.maps(y)

        def some(share: int, low: int, high: int) -> None:
            cells = x[low * s.channels:high * s.channels]
            if not s.direct:
                cells = columns[share, :len(cells)]
                im2col(x[low * s.channels:high * s.channels], cells, s.grid.window)
            np.matmul(weights, cells.reshape(high - low, s.length, s.grid.places), out=result[low:high])
            if b is not None:
                result[low:high] += b.reshape(-1, 1)
        s.run(some)
    return Kernel(call, (s.columns(),), one_thread=True)


def data_gradient(geometry: Geometry, w: TensorSpec, g: TensorSpec, x: TensorSpec) -> Kernel | None:
    """Gradient by the images: ``call(w, g, like, dx, columns)``."""
    if geometry.channels_last:
        return moved(data_gradient(_first(geometry), w, channels_first(g), channels_first(x)), (1,), channels_first(x))
    if geometry.depthwise:
        return depthwise.data_gradient(geometry, w, g, x)
    s = _shapes(geometry, x, w, g)
    if s is None:
        return None
    without_columns = direct.Direct.of(s)
    made = None if without_columns is None else direct.data_gradient(without_columns)
    if made is not None:
        return made
    from ..kernels.im2col import col2im

    def call(w: Any, g: Any, _: Any, dx: Any, columns: Any) -> None:
        weights, g, images = s.matrix(w).T, s.maps(g), s.planes(dx)

        def some(share: int, low: int, high: int) -> None:
            target = images[low * s.channels:high * s.channels]
            cells = target if s.direct else columns[share, :len(target)]
            np.matmul(weights, g[low:high], out=cells.reshape(high - low, s.length, s.grid.places))
            if not s.direct:
                col2im(cells, target, s.grid.window)
        s.run(some)
    return Kernel(call, (s.columns(),), one_thread=True)


def weight_gradient(geometry: Geometry, x: TensorSpec, g: TensorSpec, w: TensorSpec) -> Kernel | None:
    """Gradient by the weights: ``call(x, g, like, dw, columns, part, total)``."""
    if geometry.channels_last:
        return moved(weight_gradient(_first(geometry), channels_first(x), channels_first(g), w), (0, 1))
    if geometry.depthwise:
        return depthwise.weight_gradient(geometry, x, g, w)
    s = _shapes(geometry, x, w, g)
    if s is None:
        return None
    without_columns = direct.Direct.of(s)
    made = None if without_columns is None else direct.weight_gradient(without_columns)
    if made is not None:
        return made
    from ..kernels.im2col import im2col

    def call(x: Any, g: Any, _: Any, dw: Any, columns: Any, part: Any, total: Any) -> None:
        x, g = s.planes(x), s.maps(g)
        total[...] = 0

        def some(share: int, low: int, high: int) -> None:
            cells = x[low * s.channels:high * s.channels]
            if not s.direct:
                cells = columns[share, :len(cells)]
                im2col(x[low * s.channels:high * s.channels], cells, s.grid.window)
            for image, patches in zip(g[low:high], cells.reshape(high - low, s.length, s.grid.places)):
                np.matmul(image, patches.T, out=part[share])
                np.add(total[share], part[share], out=total[share])
        s.run(some)
        for other in total[1:]:
            np.add(total[0], other, out=total[0])
        s.store(total[0], dw)
    matrix = TensorSpec((s.shares, s.out, s.length), s.dtype)
    return Kernel(call, (s.columns(), matrix, matrix), one_thread=True)


def transposed(geometry: Geometry, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None, shape: Shape) -> Kernel | None:
    """The data gradient as a forward pass, with a bias when there is one: ``call(x, w[, bias], y, *work)``."""
    inner = data_gradient(geometry, w, x, TensorSpec(shape, x.dtype))
    if inner is None or (bias is not None and bias.dtype is not x.dtype):
        return None
    data, given = inner.call, 2 if bias is None else 3

    def call(*arrays: Any) -> None:
        y = arrays[given]
        data(arrays[1], arrays[0], None, *arrays[given:])
        if bias is not None:
            np.add(y, geometry.spread_bias(arrays[2].reshape(-1), y.ndim), out=y)
    return Kernel(call, inner.workspace, inner.one_thread)
