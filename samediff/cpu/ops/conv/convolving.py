"""Convolution on the CPU: directly where that is possible, else patches as columns and BLAS, some images at a time.

Images are channels first (others are turned) with one, two or three spatial axes, float32 or float64.
"""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.conv.convolving import Convolution, ConvolutionDataGrad, ConvolutionWeightGrad, Geometry, output_shape
from ...kernel_table import kernel_for
from ...routines import column_products, depthwise, direct_convolution
from ...routines.channels_last import channels_first, moved
from ...routines.convolution_sizes import ConvolutionSizes


def sizes_of(geometry: Geometry, x: TensorSpec, w: TensorSpec, *others: TensorSpec | None) -> ConvolutionSizes | None:
    """The sizes when the kernels here serve them."""
    grid = depthwise.served(geometry, x, w, *others)
    return None if grid is None else ConvolutionSizes(geometry, x, w, grid)


def _first(geometry: Geometry) -> Geometry:
    return replace(geometry, channels_last=False)


def forward(geometry: Geometry, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None = None) -> Kernel | None:
    """Convolution, with a bias when there is one: ``call(x, w[, bias], y, columns)``."""
    if geometry.channels_last:
        x = channels_first(x)
        y = TensorSpec(output_shape(_first(geometry), x.shape, w.shape), x.dtype)
        return moved(forward(_first(geometry), x, w, bias), (0,), y)
    if geometry.depthwise:
        return depthwise.forward(geometry, x, w, bias)
    s = sizes_of(geometry, x, w, bias)
    if s is None:
        return None
    without_columns = direct_convolution.DirectConvolution.of(s)
    made = None if without_columns is None else direct_convolution.forward(without_columns)
    if made is not None:
        return made
    from ...kernels.im2col import im2col

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

    def native(x: Any, w: Any, *rest: Any) -> list[Any] | None:
        return column_products.forward(s, x, w, *((None, *rest) if len(rest) == 2 else rest))
    return Kernel(call, (s.columns(),), one_thread=True, native=native)


def data_gradient(geometry: Geometry, w: TensorSpec, g: TensorSpec, x: TensorSpec) -> Kernel | None:
    """Gradient by the images: ``call(w, g, like, dx, columns)``."""
    if geometry.channels_last:
        return moved(data_gradient(_first(geometry), w, channels_first(g), channels_first(x)), (1,), channels_first(x))
    if geometry.depthwise:
        return depthwise.data_gradient(geometry, w, g, x)
    s = sizes_of(geometry, x, w, g)
    if s is None:
        return None
    without_columns = direct_convolution.DirectConvolution.of(s)
    made = None if without_columns is None else direct_convolution.data_gradient(without_columns)
    if made is not None:
        return made
    from ...kernels.im2col import col2im

    def call(w: Any, g: Any, _: Any, dx: Any, columns: Any) -> None:
        weights, g, images = s.matrix(w).T, s.maps(g), s.planes(dx)

        def some(share: int, low: int, high: int) -> None:
            target = images[low * s.channels:high * s.channels]
            cells = target if s.direct else columns[share, :len(target)]
            np.matmul(weights, g[low:high], out=cells.reshape(high - low, s.length, s.grid.places))
            if not s.direct:
                col2im(cells, target, s.grid.window)
        s.run(some)

    def native(w: Any, g: Any, _: Any, dx: Any, columns: Any) -> list[Any] | None:
        return column_products.data_gradient(s, w, g, dx, columns)
    return Kernel(call, (s.columns(),), one_thread=True, native=native)


def weight_gradient(geometry: Geometry, x: TensorSpec, g: TensorSpec, w: TensorSpec) -> Kernel | None:
    """Gradient by the weights: ``call(x, g, like, dw, columns, total)``."""
    if geometry.channels_last:
        return moved(weight_gradient(_first(geometry), channels_first(x), channels_first(g), w), (0, 1))
    if geometry.depthwise:
        return depthwise.weight_gradient(geometry, x, g, w)
    s = sizes_of(geometry, x, w, g)
    if s is None:
        return None
    without_columns = direct_convolution.DirectConvolution.of(s)
    made = None if without_columns is None else direct_convolution.weight_gradient(without_columns)
    if made is not None:
        return made
    from ...kernels.im2col import im2col

    def call(x: Any, g: Any, _: Any, dw: Any, columns: Any, total: Any) -> None:
        x, g = s.planes(x), s.maps(g)
        total[...] = 0

        def some(share: int, low: int, high: int) -> None:
            cells = x[low * s.channels:high * s.channels]
            if not s.direct:
                cells = columns[share, :len(cells)]
                im2col(x[low * s.channels:high * s.channels], cells, s.grid.window)
            for image, patches in zip(g[low:high], cells.reshape(high - low, s.length, s.grid.places), strict=True):
                total[share] += image @ patches.T
        s.run(some)
        for other in total[1:]:
            np.add(total[0], other, out=total[0])
        s.store(total[0], dw)

    def native(x: Any, g: Any, _: Any, dw: Any, columns: Any, total: Any) -> list[Any] | None:
        return column_products.weight_gradient(s, x, g, dw, columns, total)
    return Kernel(call, (s.columns(), TensorSpec((s.shares, s.out, s.length), s.dtype)), one_thread=True, native=native)


@kernel_for(Convolution)
def _(op: Convolution, *specs: TensorSpec) -> Kernel | None:
    return forward(op.geometry.of(specs[1].shape), *specs)


@kernel_for(ConvolutionDataGrad)
def _(op: ConvolutionDataGrad, *specs: TensorSpec) -> Kernel | None:
    return data_gradient(op.geometry.of(specs[0].shape), *specs)


@kernel_for(ConvolutionWeightGrad)
def _(op: ConvolutionWeightGrad, *specs: TensorSpec) -> Kernel | None:
    return weight_gradient(op.geometry.of(specs[2].shape), *specs)
