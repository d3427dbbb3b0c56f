"""Convolution and its two gradients: three bilinear ops, each the derivative of the others."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...base.named_axes import expect
from ...base.spec import Shape, TensorSpec, size
from ...errors import ShapeError
from ...expressions.arrays import as_rows
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op
from ..shape.reshaping import reshape_like
from .window import Window, from_last, to_last

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

FORMATS = ("YXIO", "OIYX", "OYXI")


@dataclass(frozen=True)
class Geometry:
    """A window with the layouts of images and weights.

    Attributes
    ----------
    window : Window
    channels_last : bool
    weights_format : str
        YXIO (kernel, in, out), OIYX (out, in, kernel) or OYXI (out, kernel, in).
    depthwise : bool
        Every channel by itself: the out axis of the weights is the multiplier m, output channel = in * multiplier + m.
    """

    window: Window
    channels_last: bool = False
    weights_format: str = "YXIO"
    depthwise: bool = False

    def weight_sizes(self, shape: Shape) -> tuple[Shape, int, int]:
        """Kernel, in and out of a weight shape."""
        if self.weights_format == "YXIO":
            return shape[:-2], shape[-2], shape[-1]
        if self.weights_format == "OIYX":
            return shape[2:], shape[1], shape[0]
        return shape[1:-1], shape[-1], shape[0]

    def of(self, weights: Shape | None) -> Geometry:
        """The geometry with its unknown kernel sizes taken from the shape of weights."""
        if weights is None or min(self.window.kernel) > 0:
            return self
        kernel = tuple(own if own > 0 else given for own, given in zip(self.window.kernel, self.weight_sizes(weights)[0]))
        return replace(self, window=replace(self.window, kernel=kernel))

    def flops(self, result: Any, weights: Any) -> int:
        """Number of operations of a convolution with this result by these weights, or of its transpose; both as specs."""
        kernel, channels, _ = self.weight_sizes(weights.shape)
        return 2 * size(result.shape) * math.prod(kernel) * (1 if self.depthwise else channels)

    def plain_weights(self, xp: Any, w: Any) -> Any:
        """The weights as a view in the order YXIO."""
        if self.weights_format == "YXIO":
            return w
        return xp.moveaxis(w, (0, 1), (-1, -2)) if self.weights_format == "OIYX" else xp.moveaxis(w, 0, -1)

    def stored_weights(self, xp: Any, w: Any) -> Any:
        """A view of YXIO weights in the own format."""
        if self.weights_format == "YXIO":
            return w
        return xp.moveaxis(w, (-1, -2), (0, 1)) if self.weights_format == "OIYX" else xp.moveaxis(w, -1, 0)

    def convolve(self, xp: Any, x: Any, w: Any) -> Any:
        """y[o] = sum over k of x[o * stride - before + k * dilation] w[k]."""
        x, w = to_last(xp, x, self.channels_last), self.plain_weights(xp, w)
        counts = self.window.counts(x.shape[1:-1])
        padded, total = self.window.pad(xp, x), None
        for position, cells in self.window.cells(counts):
            part = self._product(xp, padded[(slice(None), *cells)], w[position])
            total = part if total is None else xp.add(total, part, out=total)
        return from_last(xp, total, self.channels_last)

    def _product(self, xp: Any, cells: Any, w: Any) -> Any:
        if self.depthwise:
            return (cells[..., None] * w).reshape(*cells.shape[:-1], w.size)
        return xp.dot(as_rows(cells), w).reshape(*cells.shape[:-1], w.shape[-1])

    def data_gradient(self, xp: Any, w: Any, g: Any, shape: Shape) -> Any:
        """The transpose of :meth:`convolve` by its input: an image of ``shape``."""
        g, w = to_last(xp, g, self.channels_last), self.plain_weights(xp, w)
        last = shape if self.channels_last else (shape[0], *shape[2:], shape[1])
        if self.depthwise:
            split = g.reshape(*g.shape[:-1], *w.shape[-2:])
            found = self.window.add_back(xp, lambda k: (split * w[k]).sum(axis=-1, dtype=g.dtype), last, g.dtype)
        else:
            flat = as_rows(g)
            found = self.window.add_back(xp, lambda k: xp.dot(flat, w[k].T).reshape(*g.shape[:-1], w.shape[-2]), last, g.dtype)
        return from_last(xp, found, self.channels_last)

    def weight_gradient(self, xp: Any, x: Any, g: Any, shape: Shape) -> Any:
        """The transpose of :meth:`convolve` by its weights."""
        x, g = to_last(xp, x, self.channels_last), to_last(xp, g, self.channels_last)
        kernel, given, out = self.weight_sizes(shape)
        total = xp.zeros((*kernel, given, out), g.dtype)
        padded, flat = self.window.pad(xp, x), as_rows(g)
        for position, cells in self.window.cells(g.shape[1:-1]):
            part = padded[(slice(None), *cells)]
            if self.depthwise:
                total[position] = xp.einsum("nc,ncm->cm", as_rows(part), flat.reshape(len(flat), given, out))
            else:
                total[position] = xp.dot(as_rows(part).T, flat)
        return self.stored_weights(xp, total)

    def bias_axes(self, rank: int) -> tuple[int, ...]:
        """The axes of an image that a bias is spread over."""
        return tuple(range(rank - 1)) if self.channels_last else (0, *range(2, rank))

    def spread_bias(self, bias: Any, rank: int) -> Any:
        """A bias that can be added to an image."""
        return bias if self.channels_last else bias.reshape(-1, *(1,) * (rank - 2))


class Convolving(Op):
    """Two of images, weights and gradient of the result; for the gradients also the array whose shape the result takes."""

    geometry: Geometry

    def fitting(self, x: TensorSpec, w: TensorSpec, upstream: TensorSpec) -> None:
        """ShapeError unless the upstream gradient is one of a convolution of these images by these weights."""
        expect("the gradient of the result", upstream, output_shape(self.geometry, x.shape, w.shape))


@op("convolution", inputs="x w")
class Convolution(Convolving):
    """Cross-correlation of images with weights in any number of dimensions (made by gradients)."""

    geometry: Geometry

    def infer(self, *specs: TensorSpec) -> Specs:
        """One value for each window and output channel."""
        return TensorSpec(output_shape(self.geometry, specs[0].shape, specs[1].shape), specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any, w: Any) -> Any:
        """One matrix product for each position in the kernel."""
        return self.geometry.of(w.shape).convolve(xp, x, w)

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return self.geometry.flops(outputs[0], inputs[1])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return convolution_grads(self.geometry, inputs[0], inputs[1], output_grads[0])


@op("convolution_data_grad", inputs="w upstream x", shape_inputs=(2,))
class ConvolutionDataGrad(Convolving):
    """Gradient of a convolution by its images (made by gradients)."""

    geometry: Geometry

    def infer(self, *specs: TensorSpec) -> Specs:
        w, upstream, x = specs
        self.fitting(x, w, upstream)
        return TensorSpec(x.shape, w.dtype)

    @in_float
    def compute(self, xp: Any, w: Any, upstream: Any, x: Any) -> Any:
        """One matrix product for each position in the kernel; results of overlapping windows are added."""
        return self.geometry.of(w.shape).data_gradient(xp, w, upstream, x.shape)

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return self.geometry.flops(inputs[1], inputs[0])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Bilinear: the gradient by the weights, and the convolution."""
        w, g, _ = inputs
        (h,) = output_grads
        return [w.sd.add_op(ConvolutionWeightGrad(self.geometry), [h, g, w]), w.sd.add_op(Convolution(self.geometry), [h, w]), None]


@op("convolution_weight_grad", inputs="x upstream w", shape_inputs=(2,))
class ConvolutionWeightGrad(Convolving):
    """Gradient of a convolution by its weights (made by gradients)."""

    geometry: Geometry

    def infer(self, *specs: TensorSpec) -> Specs:
        x, upstream, w = specs
        self.fitting(x, w, upstream)
        return TensorSpec(w.shape, x.dtype)

    @in_float
    def compute(self, xp: Any, x: Any, upstream: Any, w: Any) -> Any:
        """One matrix product for each position in the kernel."""
        return self.geometry.of(w.shape).weight_gradient(xp, x, upstream, w.shape)

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return self.geometry.flops(inputs[1], outputs[0])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Bilinear: the gradient by the images, and the convolution."""
        x, g, _ = inputs
        (h,) = output_grads
        return [x.sd.add_op(ConvolutionDataGrad(self.geometry), [h, g, x]), x.sd.add_op(Convolution(self.geometry), [x, h]), None]


def output_shape(geometry: Geometry, x: Shape | None, w: Shape | None) -> Shape | None:
    """Shape of a convolution's result; ShapeError when images and weights do not fit."""
    rank, geometry = len(geometry.window.stride) + 2, geometry.of(w)
    if x is None:
        return (-1,) * rank
    for what, shape in (("images", x), ("weights", w)):
        if shape is not None and len(shape) != rank:
            raise ShapeError(f"{what} need rank {rank}; got {shape}")
    sizes = x[1:-1] if geometry.channels_last else x[2:]
    channels, out = x[-1] if geometry.channels_last else x[1], -1
    if w is not None:
        kernel, given, out = geometry.weight_sizes(w)
        if any(-1 not in (m, n) and m != n for m, n in zip(kernel, geometry.window.kernel)):
            raise ShapeError(f"weights {w} ({geometry.weights_format}) have a kernel of {kernel}; {geometry.window.kernel} was expected")
        if -1 not in (given, channels) and given != channels:
            layout = "last" if geometry.channels_last else "first"
            raise ShapeError(f"images {x} have {channels} channels (channels {layout}), the weights {w} "
                             f"({geometry.weights_format}) take {given}")
        out = -1 if geometry.depthwise and -1 in (given, out) else given * out if geometry.depthwise else out
    counts = geometry.window.counts(sizes)
    return (x[0], *counts, out) if geometry.channels_last else (x[0], out, *counts)


def convolution_grads(geometry: Geometry, x: SDVariable, w: SDVariable, g: SDVariable) -> list[SDVariable | None]:
    """Gradients of a convolution by images and weights."""
    return [x.sd.add_op(ConvolutionDataGrad(geometry), [w, g, x]), x.sd.add_op(ConvolutionWeightGrad(geometry), [x, g, w])]


def bias_grad(geometry: Geometry, bias: SDVariable | None, g: SDVariable) -> list[SDVariable | None]:
    """Gradient of an added bias, as a list of one (none without a bias)."""
    if bias is None:
        return []
    return [reshape_like(g.sum(*geometry.bias_axes(len(geometry.window.stride) + 2)), bias)]
