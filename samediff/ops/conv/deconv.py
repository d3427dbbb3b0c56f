"""Transposed convolutions of the ``cnn`` namespace: the data gradient of a convolution as a forward pass."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import Shape, TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op, require_floating, require_same_type
from .conv import PAD_MODE, SAME_PROPERTY, WEIGHTS, Attributes2D, Attributes3D, check_bias, window_properties, window_slots
from .convolving import Convolution, ConvolutionWeightGrad, Geometry, bias_grad
from .window import Windowed

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class TransposedConvolution(Windowed, Op):
    """Weights hold (kernel, out, in): those of the convolution that this one transposes."""

    inputs = "x weights bias?"
    signatures = ("x, weights, &config", "x, weights, bias, &config")

    def geometry(self, weights: Shape | None) -> Geometry:
        """The geometry of the convolution that maps the result back to x."""
        if weights is not None and len(weights) != len(self.suffixes) + 2:
            raise ShapeError(f"weights need rank {len(self.suffixes) + 2}; got {weights}")
        probe = Geometry(None, False, str(getattr(self, "weights_format", None) or "YXIO"))  # type: ignore[arg-type]
        kernel = (-1,) * len(self.suffixes) if weights is None else probe.weight_sizes(weights)[0]
        return Geometry(self.window(kernel), self.channels_last, probe.weights_format)

    def result(self, x: Shape | None, weights: Shape | None) -> Shape | None:
        """VALID: stride (size - 1) + ((k - 1) dilation + 1) - 2 padding; SAME: size * stride."""
        if x is None:
            return (-1,) * (len(self.suffixes) + 2)
        geometry = self.geometry(weights)
        window, out = geometry.window, -1
        if weights is not None:
            _, out, given = geometry.weight_sizes(weights)
            if -1 not in (given, self.channels(x)) and given != self.channels(x):
                layout = "last" if self.channels_last else "first"
                raise ShapeError(f"images {x} have {self.channels(x)} channels (channels {layout}), the weights {weights} take {given}")
        sizes = []
        for i, n in enumerate(self.sizes(x)):
            if n == -1 or window.kernel[i] == -1:
                sizes.append(-1)
            elif window.mode == "VALID":
                sizes.append(window.stride[i] * (n - 1) + window.extent(i) - 2 * window.padding[i])
            else:
                sizes.append(n * window.stride[i])
        return self.image(x[0], out, tuple(sizes))

    def infer(self, *specs: TensorSpec) -> Specs:
        """(N, out, *sizes) in the data format of the images."""
        require_floating(self.id, *specs)
        require_same_type(self.id, *specs)
        shape = self.result(specs[0].shape, specs[1].shape)
        check_bias(specs[2] if len(specs) > 2 else None, shape, self.channels_last)
        return TensorSpec(shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any, weights: Any, bias: Any = None) -> Any:
        """Every cell of x adds its weights to the result."""
        geometry = self.geometry(weights.shape)
        y = geometry.data_gradient(xp, weights, x, self.result(x.shape, weights.shape) or ())
        return y if bias is None else y + geometry.spread_bias(bias.reshape(-1), y.ndim)

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        weights: Any = inputs[1]
        return self.geometry(weights.shape).flops(inputs[0], weights)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The convolution, and its gradient by the weights."""
        x, w = inputs[:2]
        (g,) = output_grads
        geometry = self.geometry(w.spec.shape)
        for_x = x.sd.add_op(Convolution(geometry), [g, w])
        for_w = x.sd.add_op(ConvolutionWeightGrad(geometry), [g, x, w])
        return [for_x, for_w, *bias_grad(geometry, inputs[2] if len(inputs) > 2 else None, g)]


@op("deconv2d", api="cnn.deconv2d", file=FileArgs(
    ints=(*window_slots(("_h", "_w")), PAD_MODE, "data_format:NCHW|NHWC", WEIGHTS),
    properties={**window_properties(("_h", "_w")), **SAME_PROPERTY, "dataFormat": "s:data_format"}))
class Deconv2D(Attributes2D, TransposedConvolution):
    """Two-dimensional transposed convolution.

    Shapes: x (N, in, H, W) or (N, H, W, in), weights (kH, kW, out, in), bias (out) -> (N, out, H', W') or (N, H', W', out) with
    H' = s (H - 1) + ((k - 1) d + 1) - 2 p, or H s for SAME.
    """

    weights_format: str | None = None


@op("deconv3d", api="cnn.deconv3d", file=FileArgs(
    ints=(*window_slots(("_d", "_h", "_w")), PAD_MODE, "data_format:NCDHW|NDHWC", WEIGHTS),
    properties={**window_properties(("_d", "_h", "_w")), **SAME_PROPERTY, "dataFormat": "s:data_format"}))
class Deconv3D(Attributes3D, TransposedConvolution):
    """Three-dimensional transposed convolution; weights (kD, kH, kW, out, in), sizes as for :class:`Deconv2D`."""

    weights_format: str | None = None
