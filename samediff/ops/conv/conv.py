"""Convolutions of the ``cnn`` namespace."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

from ...base.spec import Shape, TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.composite import Composite
from ...families.in_float import in_float
from ...ir.op import Op, Specs, attributes, op, require_floating, require_same_type
from .convolving import FORMATS, Convolution, Geometry, bias_grad, convolution_grads, output_shape
from .window import Windowed
from .window_fields import Fields1D, Fields2D, Fields3D

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

PAD_MODE = "padding_mode:VALID|SAME|CAUSAL"
WEIGHTS = "weights_format?:0=YXIO|1=OIYX|2=OYXI"


def window_slots(suffixes: tuple[str, ...]) -> tuple[str, ...]:
    """Kernel, stride, padding and dilation in the order of files."""
    return tuple(kind + s for kind in "kspd" for s in suffixes)


def window_properties(suffixes: tuple[str, ...]) -> dict[str, str]:
    """Window sizes as named properties of the file's node."""
    return {kind + s[1:].upper(): f"l:{kind}{s}" for kind in "kspd" for s in suffixes}


SAME_PROPERTY = {"isSameMode": "b:padding_mode:False=VALID|True=SAME|True=CAUSAL"}
MODE_PROPERTY = {"paddingMode": "s:padding_mode"}


@attributes
class Attributes1D(Fields1D, Windowed):
    """Kernel k, stride s, padding p, dilation d along time."""

    suffixes: ClassVar[tuple[str, ...]] = ("",)


@attributes
class Attributes2D(Fields2D, Windowed):
    """Attributes of windows over height and width."""


@attributes
class Attributes3D(Fields3D, Windowed):
    """Attributes of windows over depth, height and width."""

    suffixes: ClassVar[tuple[str, ...]] = ("_d", "_h", "_w")


class ConvolutionOp(Windowed, Op):
    """Base of convolutions, whose inputs are images, weights and an optional bias."""

    inputs = "x weights bias?"
    signatures = ("x, weights, &config", "x, weights, bias, &config")
    depthwise: ClassVar[bool] = False

    def geometry(self, weights: Shape | None) -> Geometry:
        """Layouts and window, with kernel sizes that are not declared taken from the weights."""
        name = str(getattr(self, "weights_format", None) or "YXIO")
        if name not in FORMATS:
            raise ShapeError(f"weights_format must be one of {', '.join(FORMATS)}; got {name!r}")
        if weights is not None and len(weights) != len(self.suffixes) + 2:
            raise ShapeError(f"weights need rank {len(self.suffixes) + 2}; got {weights}")
        kernel = (-1,) * len(self.suffixes) if weights is None else Geometry(None, False, name).weight_sizes(weights)[0]  # type: ignore[arg-type]
        return Geometry(self.window(kernel), self.channels_last, name, self.depthwise)

    def infer(self, *specs: TensorSpec) -> Specs:
        """(N, out, *windows) in the data format of the images."""
        require_floating(self.id, *specs)
        require_same_type(self.id, *specs)
        shape = output_shape(self.geometry(specs[1].shape), specs[0].shape, specs[1].shape)
        check_bias(specs[2] if len(specs) > 2 else None, shape, self.channels_last)
        return TensorSpec(shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any, weights: Any, bias: Any = None) -> Any:
        """Cross-correlation, then the bias."""
        geometry = self.geometry(weights.shape)
        y = geometry.convolve(xp, x, weights)
        return y if bias is None else y + geometry.spread_bias(bias.reshape(-1), y.ndim)

    def kernel_op(self, *specs: TensorSpec) -> Op:
        """The convolution of this geometry."""
        return Convolution(self.geometry(specs[1].shape))

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        weights: Any = inputs[1]
        return self.geometry(weights.shape).flops(outputs[0], weights)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The transposed convolutions, and the sum for the bias."""
        geometry = self.geometry(inputs[1].spec.shape)
        bias = inputs[2] if len(inputs) > 2 else None
        return [*convolution_grads(geometry, inputs[0], inputs[1], output_grads[0]), *bias_grad(geometry, bias, output_grads[0])]


def check_bias(bias: TensorSpec | None, shape: Shape | None, channels_last: bool) -> None:
    """ShapeError unless the bias has one value per output channel."""
    if bias is None or bias.shape is None or shape is None or -1 in bias.shape:
        return
    out, count = shape[-1] if channels_last else shape[1], 1
    for n in bias.shape:
        count *= n
    if out not in (-1, count):
        raise ShapeError(f"the bias needs one value for each of {out} output channels; got shape {bias.shape}")


@op("conv1d", api="cnn.conv1d", file=FileArgs(
    ints=("k", "s", "p", "d", PAD_MODE, "data_format:NCW|NWC", WEIGHTS),
    properties={"k": "l:k", "s": "l:s", "p": "l:p", "d": "l:d", "paddingMode": "s:padding_mode", "dataFormat": "s:data_format"}))
class Conv1D(Attributes1D, ConvolutionOp):
    """One-dimensional cross-correlation.

    Shapes: x (N, in, T) for NCW or (N, T, in) for NWC, weights (k, in, out), bias (out) -> (N, out, T') or (N, T', out).
    """

    weights_format: str | None = None


@op("conv2d", api="cnn.conv2d", file=FileArgs(
    ints=(*window_slots(("_h", "_w")), PAD_MODE, "data_format:NCHW|NHWC", WEIGHTS),
    properties={**window_properties(("_h", "_w")), **MODE_PROPERTY, "dataFormat": "s:data_format"}))
class Conv2D(Attributes2D, ConvolutionOp):
    """Two-dimensional cross-correlation: y[o] = sum over k of x[o * stride - pad + k * dilation] w[k] + bias.

    Shapes: x (N, in, H, W) for NCHW or (N, H, W, in) for NHWC; weights (kH, kW, in, out) for YXIO, (out, in, kH, kW) for
    OIYX, (out, kH, kW, in) for OYXI; bias (out) -> (N, out, H', W') or (N, H', W', out).  VALID:
    H' = floor((H + 2 p - ((k - 1) d + 1)) / s) + 1; SAME: ceil(H / s).

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.samediff import SameDiff, Conv2DConfig
    >>> sd = SameDiff.create()
    >>> x = sd.var("x", np.ones((1, 2, 5, 5), np.float32))
    >>> w = sd.var("w", np.ones((3, 3, 2, 4), np.float32))
    >>> sd.cnn.conv2d(x, w, Conv2DConfig(k_h=3, k_w=3)).eval().shape
    (1, 4, 3, 3)
    """

    weights_format: str = "YXIO"


@op("conv3dnew", api="cnn.conv3d", file=FileArgs(
    ints=(*window_slots(("_d", "_h", "_w")), PAD_MODE, "data_format:NCDHW|NDHWC", WEIGHTS),
    properties={**window_properties(("_d", "_h", "_w")), **MODE_PROPERTY, "biasUsed": "b:bias_used", "dataFormat": "s:data_format"}))
class Conv3D(Attributes3D, ConvolutionOp):
    """Three-dimensional cross-correlation.

    Shapes: x (N, in, D, H, W) or (N, D, H, W, in), weights (kD, kH, kW, in, out), bias (out) -> as x with out channels.
    """

    weights_format: str | None = None
    bias_used: bool = False


@op("depthwise_conv2d", api="cnn.depth_wise_conv2d cnn.depthwise_conv2d", file=FileArgs(
    ints=(*window_slots(("_h", "_w")), PAD_MODE, "data_format:NCHW|NHWC", WEIGHTS),
    properties={**window_properties(("_h", "_w")), **MODE_PROPERTY, "dataFormat": "s:data_format"}))
class DepthwiseConv2D(Attributes2D, ConvolutionOp):
    """Every channel convolved by itself; output channel = channel * multiplier + m.

    Shapes: x (N, C, H, W) or (N, H, W, C), weights (kH, kW, C, multiplier), bias (C * multiplier) -> (N, C * multiplier, H', W').
    """

    depthwise = True
    weights_format: str = "YXIO"


@op("sconv2d", api="cnn.separable_conv2d", inputs="x depth_weights point_weights? bias?",
    signatures=("x, depth_weights, point_weights, &config", "x, depth_weights, point_weights, bias, &config"), file=FileArgs(
        ints=(*window_slots(("_h", "_w")), PAD_MODE, "data_format:NCHW|NHWC", WEIGHTS),
        properties={**window_properties(("_h", "_w")), **MODE_PROPERTY, "dataFormat": "s:data_format"}))
class SeparableConv2D(Attributes2D, Composite):
    """Depthwise convolution, then one of kernel 1 over the channels, and the bias.

    Shapes: x (N, C, H, W) or (N, H, W, C), depth_weights (kH, kW, C, m), point_weights (1, 1, C * m, out), bias (out).
    """

    inlines = True
    weights_format: str = "YXIO"

    def parts(self) -> tuple[DepthwiseConv2D, Conv2D]:
        """The depthwise and the pointwise convolution."""
        names = [f.name for f in fields(DepthwiseConv2D)]
        depth = DepthwiseConv2D(**{n: getattr(self, n) for n in names})
        return depth, Conv2D(k_h=1, k_w=1, data_format=self.data_format, weights_format=self.weights_format)

    def infer(self, *specs: TensorSpec) -> Specs:
        """(N, out, *windows) in the data format of the images."""
        depth, point = self.parts()
        middle = depth.infer(*specs[:2])
        return middle if len(specs) < 3 or specs[2] is None else point.infer(middle, *specs[2:])  # type: ignore[arg-type]

    @in_float
    def compute(self, xp: Any, x: Any, depth_weights: Any, point_weights: Any = None, bias: Any = None) -> Any:
        """The depthwise convolution, then the pointwise one."""
        depth, point = self.parts()
        middle = depth.compute(xp, x, depth_weights)
        return middle if point_weights is None else point.compute(xp, middle, point_weights, bias)

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        depth, point = self.parts()
        middle = inputs[0].sd.add_op(depth, inputs[:2])
        return middle if len(inputs) < 3 or inputs[2] is None else middle.sd.add_op(point, [middle, *inputs[2:]])
