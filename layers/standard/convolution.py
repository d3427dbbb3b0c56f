"""Convolutions of one, two and three dimensions."""
from __future__ import annotations

import math
from dataclasses import InitVar
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...samediff.configuration.declaring import Convertible, field
from ...samediff.ops.conv import conv, deconv
from ..base import automatic
from ..base.affine import activated
from ..base.base import FeedForwardLayer, Rule, layer
from ..base.defaults import constrainer
from ..types import formats
from ..types.formats import AlgoMode, CNN2DFormat, CNN3DFormat, ConvolutionMode, RNNFormat
from ..types.input_type import InputType, InputTypeConvolutional, InputTypeConvolutional3D, InputTypeRecurrent
from ..types.java_names import (
    BaseConvolutionNames,
    Convolution1DLayerNames,
    Convolution3DNames,
    ConvolutionLayerNames,
    Deconvolution2DNames,
    Deconvolution3DNames,
    DepthwiseConvolution2DNames,
    SeparableConvolution2DNames,
)
from ..types.layer_type import LayerType
from ..types.parameters import LayerScope, ParameterTable
from ..types.positional import positional
from ..types.sizes import deconvolved
from ..types.windows import WINDOW, complete_window, refuse_padding, window_arguments, window_attributes, window_counts, windowed_mask

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = [
    "BaseConvolution", "Convolution1D", "Convolution1DLayer", "Convolution2D", "Convolution3D", "ConvolutionLayer", "Deconvolution2D",
    "Deconvolution3D", "DepthwiseConvolution2D", "SeparableConvolution2D",
]


@layer()
class BaseConvolution(FeedForwardLayer, BaseConvolutionNames):
    """Base of convolutions. A window of ``k`` elements in distances ``d`` spans ``k + (k - 1) * (d - 1)`` cells.

    Parameters
    ----------
    kernel_size : int or tuple of int
        Elements of a window along each axis; one number stands for all axes. Default 5 for images, 2 for series and volumes.
    stride : int or tuple of int
        Cells from one window to the next along each axis; 1 by default.
    padding : int or tuple of int
        Zeros before and after each axis; 0 by default. Refused with ``Same``, which pads as it needs, except in transposed
        convolutions.
    dilation : int or tuple of int
        Distance of neighbouring elements of a window; 1 by default.
    convolution_mode : ConvolutionMode or str, optional
        ``Truncate``, ``Strict``, ``Same`` or, along time, ``Causal``: where windows lie. That of the network where left out.
    has_bias : bool
        Whether each output channel has a bias, ``b`` (n_out,); True by default.
    cudnn_algo_mode, cudnn_fwd_algo, cudnn_bwd_filter_algo, cudnn_bwd_data_algo, cudnn_allow_fallback
        For cuDNN in DL4J; kept in files, without effect here.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.CONVOLUTIONAL
    rank: ClassVar[int] = 2
    causal_mode: ClassVar[ConvolutionMode | None] = None    # what Causal stands for; None: nothing
    operation: ClassVar[Any] = conv.Conv2D
    weights_format: ClassVar[str] = "OIYX"
    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    has_bias: bool = True
    convolution_mode: Convertible[ConvolutionMode | None] = None
    dilation: Convertible[tuple[int, ...]] = (1, 1)
    kernel_size: Convertible[tuple[int, ...]] = field(default=(5, 5), kw_only=False)
    stride: Convertible[tuple[int, ...]] = field(default=(1, 1), kw_only=False)
    padding: Convertible[tuple[int, ...]] = field(default=(0, 0), kw_only=False)
    cudnn_algo_mode: Convertible[AlgoMode | None] = None
    cudnn_fwd_algo: str | None = field(default=None, aliases=("cudnn_fwd_mode",))
    cudnn_bwd_filter_algo: str | None = field(default=None, aliases=("cudnn_bwd_filter_mode",))
    cudnn_bwd_data_algo: str | None = field(default=None, aliases=("cudnn_bwd_data_mode",))
    cudnn_allow_fallback: bool = field(default=True, aliases=("helper_allow_fallback",))
    AlgoMode = formats.AlgoMode         # DL4J's place of it

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return window_arguments(cls.__name__, *args)

    def validate(self) -> None:
        super().validate()
        complete_window(self)

    def validate_new(self) -> None:
        refuse_padding(self, self.convolution_mode)

    def sizes(self, *sizes: int) -> list[int]:
        """Return the output sizes of the axes."""
        return window_counts(self, sizes)

    @property
    def layout(self) -> str:
        """Data format of the images, as the op names it."""
        return vars(self)["data_format"].name  # type: ignore[no-any-return]

    def weight_shape(self) -> tuple[int, ...]:
        """Shape of W."""
        return (self.n_out, self.n_in, *self.kernel_size)

    def fans(self) -> tuple[float, float]:
        """Fans of W."""
        area = math.prod(self.kernel_size)
        return self.n_in * area, self.n_out * area / math.prod(self.stride)

    def define_parameters(self, params: ParameterTable) -> None:
        """b (n_out,) first, then W."""
        self.define_bias(params)
        fan_in, fan_out = self.fans()
        params.weight("W", self.weight_shape(), fan_in=fan_in, fan_out=fan_out)

    def define_bias(self, params: ParameterTable) -> None:
        """b (n_out,), when there is one."""
        if self.has_bias:
            params.bias("b", (self.n_out,), init=self.bias_init)

    def weights(self, sd: SameDiff, params: LayerScope) -> list[SDVariable]:
        """The weights as the op takes them."""
        return [params["W"]]

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        bias = [params["b"]] if self.has_bias else []
        attributes = window_attributes(self, self.operation)
        operation = self.operation(**attributes, data_format=self.layout, weights_format=self.weights_format)
        return activated(self, sd, sd.add_op(operation, [x, *self.weights(sd, params), *bias]))

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        """The largest mask value of each window."""
        return windowed_mask(self, mask, len(self.operation.suffixes))


@layer("ConvolutionLayer", aliases=("org.deeplearning4j.nn.conf.layers.Convolution2D",))
class ConvolutionLayer(BaseConvolution, ConvolutionLayerNames):
    """Two-dimensional convolution (cross-correlation) with bias and activation.

    Shapes: x (batch, n_in, height, width) -> (batch, n_out, out height, out width); NHWC likewise. Sizes by mode:
    ``Truncate`` floor((in - k + 2p) / s) + 1, ``Same`` ceil(in / s), with k the dilated kernel.

    Parameters
    ----------
    data_format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``; that of the input type where the network has one.
    n_in, n_out, kernel_size, stride, padding, dilation, convolution_mode, has_bias, activation, updater, l1, l2, dropout, ...
        See `BaseConvolution`, `FeedForwardLayer` and `BaseLayer`. ``n_in`` and ``n_out`` are numbers of channels.

    Examples
    --------
    >>> conv = ConvolutionLayer(kernel_size=3, n_out=8, convolution_mode="Same", stride=2)
    >>> conv.output_type(InputType.convolutional(28, 28, 1))
    InputTypeConvolutional(height=14, width=14, channels=8)
    """

    preprocessor_rule: ClassVar[Rule] = automatic.to_images
    data_format: Convertible[CNN2DFormat] = field(default=CNN2DFormat.NCHW, json="cnn2dDataFormat")

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        height, width = self.sizes(input_type.height, input_type.width)
        return InputType.convolutional(height, width, self.n_out, input_type.format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        return self.replace(data_format=input_type.format).with_n_in(input_type.channels, override)


@layer("Deconvolution2D")
class Deconvolution2D(ConvolutionLayer, Deconvolution2DNames):
    """Transposed convolution: each value adds ``value * W`` to a window of the result.

    Shapes: x (batch, n_in, height, width) -> (batch, n_out, out height, out width); sizes in ``Same`` s * in, else s * (in - 1) + k - 2p,
    with k the dilated kernel. W (n_in, n_out, kernel height, kernel width).
    """

    summary_name: ClassVar[str] = "Deconvolution2DLayer"
    operation: ClassVar[Any] = deconv.Deconv2D

    def weight_shape(self) -> tuple[int, ...]:
        return (self.n_in, self.n_out, *self.kernel_size)

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return mask

    def validate_new(self) -> None:
        """Padding is taken in each mode."""

    def sizes(self, *sizes: int) -> list[int]:
        mode = self.convolution_mode
        return [deconvolved(n, k, s, p, d, mode)
                for n, k, s, p, d in zip(sizes, self.kernel_size, self.stride, self.padding, self.dilation)]


@layer("DepthwiseConvolution2D")
class DepthwiseConvolution2D(ConvolutionLayer, DepthwiseConvolution2DNames):
    """Each channel has ``depth_multiplier`` kernels of its own.

    Shapes: x (batch, n_in, height, width) -> (batch, n_in * depth_multiplier, out height, out width); ``n_out`` follows.

    Parameters
    ----------
    depth_multiplier : int
        Kernels, and so output channels, for each input channel; 1 by default.
    """

    summary_name: ClassVar[str] = "DepthwiseConvolution2DLayer"
    table_order: ClassVar[tuple[str, ...]] = ("W", "b")
    operation: ClassVar[Any] = conv.DepthwiseConv2D
    weights_format: ClassVar[str] = "YXIO"
    depth_multiplier: int = 1

    def weight_shape(self) -> tuple[int, ...]:
        return (*self.kernel_size, self.n_in, self.depth_multiplier)

    def fans(self) -> tuple[float, float]:
        area = math.prod(self.kernel_size)
        return self.n_in * area, self.depth_multiplier * area / math.prod(self.stride)

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        height, width = self.sizes(input_type.height, input_type.width)
        return InputType.convolutional(height, width, self.depth_multiplier * input_type.channels, input_type.format)

    def with_n_in(self, size: int, override: bool) -> Self:
        changed = super().with_n_in(size, override)
        return changed.replace(n_out=changed.n_in * self.depth_multiplier)


@layer("SeparableConvolution2D")
class SeparableConvolution2D(ConvolutionLayer, SeparableConvolution2DNames):
    """A depthwise convolution W, then one over single positions pW (Chollet, 2017), without an activation between them.

    Shapes: x (batch, n_in, height, width) -> (batch, n_out, out height, out width).

    Parameters
    ----------
    depth_multiplier : int
        Kernels for each input channel in the first of the two; 1 by default.
    constrain_point_wise : LayerConstraint or sequence of them, optional
        Constraints on pW, added to ``constraints``.
    """

    weight_names: ClassVar[tuple[str, ...]] = ("W", "pW")
    summary_name: ClassVar[str] = "SeparableConvolution2DLayer"
    table_order: ClassVar[tuple[str, ...]] = ("W", "pW", "b")
    operation: ClassVar[Any] = conv.SeparableConv2D
    depth_multiplier: int = 1
    constrain_point_wise: InitVar[Any] = constrainer("pW")

    def weight_shape(self) -> tuple[int, ...]:
        return (self.depth_multiplier, self.n_in, *self.kernel_size)

    def fans(self) -> tuple[float, float]:
        area = math.prod(self.kernel_size)
        return self.n_in * area, self.depth_multiplier * area / math.prod(self.stride)

    def define_parameters(self, params: ParameterTable) -> None:
        super().define_parameters(params)
        middle = self.n_in * self.depth_multiplier
        params.weight("pW", (self.n_out, middle, 1, 1), fan_in=middle, fan_out=middle)

    def weights(self, sd: SameDiff, params: LayerScope) -> list[SDVariable]:
        return [params["W"], params["pW"]]


@layer("Convolution1DLayer", aliases=("org.deeplearning4j.nn.conf.layers.Convolution1D",))
class Convolution1DLayer(BaseConvolution, Convolution1DLayerNames):
    """Convolution over time. Shapes: x (batch, n_in, time) -> (batch, n_out, out time); NWC likewise.

    Windows are pairs of equal numbers, as in DL4J's files; one number is enough.

    Parameters
    ----------
    rnn_data_format : RNNFormat or str
        ``NCW`` (default, time last) or ``NWC``; that of the input type where the network has one.
    cnn2d_data_format : CNN2DFormat or str
        What DL4J's files say of the same order; without effect here.

    Examples
    --------
    >>> Convolution1DLayer(kernel_size=3, n_in=4, n_out=8, convolution_mode="Causal").output_type(InputType.recurrent(4, 20))
    InputTypeRecurrent(size=8, time_series_length=20)
    """

    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    arguments: ClassVar[tuple[str, ...]] = WINDOW
    rnn_data_format: Convertible[RNNFormat] = field(default=RNNFormat.NCW, aliases=("data_format",))
    cnn2d_data_format: Convertible[CNN2DFormat] = CNN2DFormat.NCHW
    kernel_size: Convertible[tuple[int, ...]] = field(default=(2, 2), kw_only=False)
    causal_mode: ClassVar[ConvolutionMode | None] = ConvolutionMode.Causal
    operation: ClassVar[Any] = conv.Conv1D
    weights_format: ClassVar[str] = "YXIO"

    @property
    def layout(self) -> str:
        return self.rnn_data_format.name

    def weight_shape(self) -> tuple[int, ...]:
        return (self.n_out, self.n_in, self.kernel_size[0], 1)

    def weights(self, sd: SameDiff, params: LayerScope) -> list[SDVariable]:
        """DL4J reads the c-ordered values of (n_out, n_in, k, 1) as (k, n_in, n_out)."""
        return [sd.call("base", "reshape", params["W"], self.kernel_size[0], self.n_in, self.n_out)]

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return positional(cls.__name__, cls.arguments, *args)

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.recurrent(self.n_out, self.sizes(input_type.time_series_length)[0], input_type.format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        image = CNN2DFormat.NCHW if input_type.format is RNNFormat.NCW else CNN2DFormat.NHWC
        changed = self.replace(rnn_data_format=input_type.format, cnn2d_data_format=image)
        return changed.with_n_in(input_type.size, override)


@layer("Convolution3D")
class Convolution3D(BaseConvolution, Convolution3DNames):
    """Convolution over volumes. Shapes: x (batch, n_in, depth, height, width), or channels last.

    As in DL4J, the output type in the modes ``Truncate`` and ``Strict`` is reported as NDHWC whatever the layer's
    format.

    Parameters
    ----------
    data_format : CNN3DFormat or str
        ``NCDHW`` (default) or ``NDHWC``; as in DL4J not taken from the input type.
    cnn2d_data_format, mode
        Stand in DL4J's files; without effect here.
    """

    DataFormat: ClassVar[type[Enum]] = CNN3DFormat
    rank: ClassVar[int] = 3
    summary_name: ClassVar[str] = "Convolution3DLayer"
    operation: ClassVar[Any] = conv.Conv3D
    preprocessor_rule: ClassVar[Rule] = automatic.to_volumes
    data_format: Convertible[CNN3DFormat] = CNN3DFormat.NCDHW
    cnn2d_data_format: Convertible[CNN2DFormat] = CNN2DFormat.NCHW
    mode: Convertible[ConvolutionMode] = ConvolutionMode.Same  # in DL4J's files; without effect
    dilation: Convertible[tuple[int, ...]] = (1, 1, 1)
    kernel_size: Convertible[tuple[int, ...]] = field(default=(2, 2, 2), kw_only=False)
    stride: Convertible[tuple[int, ...]] = field(default=(1, 1, 1), kw_only=False)
    padding: Convertible[tuple[int, ...]] = field(default=(0, 0, 0), kw_only=False)

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional3D)
        assert isinstance(input_type, InputTypeConvolutional3D)
        sizes = self.sizes(input_type.depth, input_type.height, input_type.width)
        same = self.convolution_mode is ConvolutionMode.Same
        return InputType.convolutional3d(self.data_format if same else CNN3DFormat.NDHWC, *sizes, self.n_out)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeConvolutional3D)
        assert isinstance(input_type, InputTypeConvolutional3D)
        return self.with_n_in(input_type.channels, override)


@layer("Deconvolution3D")
class Deconvolution3D(BaseConvolution, Deconvolution3DNames):
    """Transposed convolution over volumes; sizes as of `Deconvolution2D`.

    Shapes: x (batch, n_in, depth, height, width) -> (batch, n_out, out depth, out height, out width), or channels last.

    Parameters
    ----------
    data_format : CNN3DFormat or str
        ``NCDHW`` (default) or ``NDHWC``; as in DL4J not taken from the input type.
    cnn2d_data_format : CNN2DFormat or str
        Stands in DL4J's files; without effect here.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.FEED_FORWARD
    rank: ClassVar[int] = 3
    summary_name: ClassVar[str] = "Deconvolution3DLayer"
    operation: ClassVar[Any] = deconv.Deconv3D
    weights_format: ClassVar[str] = "YXIO"
    preprocessor_rule: ClassVar[Rule] = automatic.to_volumes
    data_format: Convertible[CNN3DFormat] = CNN3DFormat.NCDHW
    cnn2d_data_format: Convertible[CNN2DFormat] = CNN2DFormat.NCHW
    dilation: Convertible[tuple[int, ...]] = (1, 1, 1)
    kernel_size: Convertible[tuple[int, ...]] = field(default=(2, 2, 2), kw_only=False)
    stride: Convertible[tuple[int, ...]] = field(default=(1, 1, 1), kw_only=False)
    padding: Convertible[tuple[int, ...]] = field(default=(0, 0, 0), kw_only=False)

    def validate_new(self) -> None:
        """Padding is taken in each mode."""

    def weight_shape(self) -> tuple[int, ...]:
        return (*self.kernel_size, self.n_out, self.n_in)

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return mask

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional3D)
        assert isinstance(input_type, InputTypeConvolutional3D)
        sizes = (input_type.depth, input_type.height, input_type.width)
        out = [deconvolved(n, k, s, p, d, self.convolution_mode)
               for n, k, s, p, d in zip(sizes, self.kernel_size, self.stride, self.padding, self.dilation)]
        return InputType.convolutional3d(self.data_format, *out, self.n_out)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeConvolutional3D)
        assert isinstance(input_type, InputTypeConvolutional3D)
        return self.with_n_in(input_type.channels, override)


Convolution1D = Convolution1DLayer
Convolution2D = ConvolutionLayer
