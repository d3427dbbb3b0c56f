"""Pooling over windows and over everything."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError, ShapeError
from ...samediff.ir.op import Op
from ...samediff.ops.conv import pool
from ..base import automatic
from ..base.base import NoParamLayer, Rule, layer
from ..types import formats
from ..types.formats import CNN2DFormat, CNN3DFormat, ConvolutionMode, PoolingType, RNNFormat
from ..types.input_type import InputType, InputTypeConvolutional, InputTypeConvolutional3D, InputTypeFeedForward, InputTypeRecurrent
from ..types.java_names import (
    BasePoolingNames,
    BaseSubsamplingNames,
    GlobalPoolingLayerNames,
    Subsampling1DLayerNames,
    Subsampling3DLayerNames,
    SubsamplingLayerNames,
)
from ..types.layer_type import LayerType
from ..types.parameters import LayerScope
from ..types.positional import positional
from ..types.windows import WINDOW, complete_window, refuse_padding, window_arguments, window_attributes, window_counts, windowed_mask
from .global_pooling import pooled

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = [
    "BasePooling", "BaseSubsampling", "GlobalPoolingLayer", "Pooling1D", "Pooling2D", "Subsampling1DLayer", "Subsampling3DLayer",
    "SubsamplingLayer",
]


@layer()
class BasePooling(NoParamLayer, BasePoolingNames):
    """Base of pooling over windows; the number of windows is that of a convolution.

    Parameters
    ----------
    pooling_type : PoolingType or str
        What comes of a window: ``MAX`` (default), ``AVG``, or for series and images ``PNORM``. ``SUM`` is for `GlobalPoolingLayer`.
    kernel_size, stride : int or tuple of int
        Cells of a window, and from one window to the next, along each axis. Defaults: 1 and 2; for series 2 and 1.
    padding : int or tuple of int
        Cells added before and after each axis, which never win a maximum; 0 by default. Refused with ``Same``, which pads as it
        needs.
    dilation : int or tuple of int
        Distance of neighbouring cells of a window; 1 by default.
    convolution_mode : ConvolutionMode or str, optional
        ``Truncate``, ``Strict`` or ``Same``: where windows lie. That of the network where left out; for volumes ``Same``.
    cudnn_allow_fallback : bool
        For cuDNN in DL4J; kept in files, without effect here.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.SUBSAMPLING
    rank: ClassVar[int] = 2
    causal_mode: ClassVar[ConvolutionMode | None] = None    # what Causal stands for; None: nothing
    operations: ClassVar[dict[PoolingType, type[Op]]] = {
        PoolingType.MAX: pool.MaxPool2D, PoolingType.AVG: pool.AvgPool2D, PoolingType.PNORM: pool.PNormPool2D}
    convolution_mode: Convertible[ConvolutionMode | None] = None
    pooling_type: Convertible[PoolingType] = field(default=PoolingType.MAX, kw_only=False)
    kernel_size: Convertible[tuple[int, ...]] = field(default=(1, 1), kw_only=False)
    stride: Convertible[tuple[int, ...]] = field(default=(2, 2), kw_only=False)
    padding: Convertible[tuple[int, ...]] = field(default=(0, 0), kw_only=False)
    dilation: Convertible[tuple[int, ...]] = (1, 1)
    cudnn_allow_fallback: bool = field(default=True, aliases=("helper_allow_fallback",))
    PoolingType = formats.PoolingType       # DL4J's place of it

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        if args and isinstance(args[0], (PoolingType, str)):
            return {"pooling_type": args[0]} | positional(cls.__name__, WINDOW, *args[1:])
        return window_arguments(cls.__name__, *args)

    def validate(self) -> None:
        complete_window(self)
        if self.pooling_type is PoolingType.PNORM and getattr(self, "pnorm", 1) < 1:
            raise ConfigurationError(f"{self.label}: PNORM pooling needs pnorm of at least 1")

    def validate_new(self) -> None:
        refuse_padding(self, self.convolution_mode)

    def sizes(self, *sizes: int) -> list[int]:
        """Return the output sizes of the axes."""
        return window_counts(self, sizes)

    def operation(self) -> Op:
        """The op that pools."""
        kind = self.operations.get(self.pooling_type)
        if kind is None:
            raise ConfigurationError(f"{self.label}: {self.pooling_type.name} is not supported for pooling over windows; use "
                                     + ", ".join(k.name for k in self.operations))
        options: dict[str, Any] = {"data_format": vars(self)["data_format"].name}
        if self.pooling_type is PoolingType.PNORM:
            options["extra"] = float(vars(self)["pnorm"])
        elif self.pooling_type is PoolingType.AVG and getattr(self, "avg_pool_include_pad_in_divisor", False):
            options["divisor"] = "INCLUDE_PADDING"
        return kind(**window_attributes(self, kind), **options)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return sd.add_op(self.operation(), [x])  # type: ignore[no-any-return]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        """The largest mask value of each window."""
        return windowed_mask(self, mask, self.rank)


@layer()
class BaseSubsampling(BasePooling, BaseSubsamplingNames):
    """Base of one- and two-dimensional pooling.

    Parameters
    ----------
    pnorm : int
        Exponent p of ``PNORM``, ``(sum |x|^p)^(1/p)``: at least 1, and needed for it.
    avg_pool_include_pad_in_divisor : bool
        Whether a mean counts the padding; False by default.
    data_format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``; that of the input type where the network has one.
    eps : float
        DL4J's guard of a division; kept in files, without effect here.
    """

    takes_dropout: ClassVar[bool] = False
    data_format: Convertible[CNN2DFormat] = field(default=CNN2DFormat.NCHW, json="cnn2dDataFormat")
    pnorm: int = 0
    eps: float = 1e-8
    avg_pool_include_pad_in_divisor: bool = False


@layer("SubsamplingLayer", aliases=("org.deeplearning4j.nn.conf.layers.Pooling2D",))
class SubsamplingLayer(BaseSubsampling, SubsamplingLayerNames):
    """Pooling of images: maximum, mean or p-norm of each window.

    Shapes: x (batch, channels, height, width) -> (batch, channels, out height, out width); NHWC likewise.

    Parameters
    ----------
    pooling_type, kernel_size, stride, padding, dilation, convolution_mode, pnorm, ...
        See `BasePooling` and `BaseSubsampling`.

    Examples
    --------
    >>> SubsamplingLayer(kernel_size=2).output_type(InputType.convolutional(28, 28, 8))
    InputTypeConvolutional(height=14, width=14, channels=8)
    """

    preprocessor_rule: ClassVar[Rule] = automatic.to_images

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        height, width = self.sizes(input_type.height, input_type.width)
        return InputType.convolutional(height, width, input_type.channels, input_type.format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        return self.replace(data_format=input_type.format)


@layer("Subsampling1DLayer", aliases=("org.deeplearning4j.nn.conf.layers.Pooling1D",))
class Subsampling1DLayer(BaseSubsampling, Subsampling1DLayerNames):
    """Pooling over time. Shapes: x (batch, size, time) -> (batch, size, out time); one number describes a window.

    The mode ``Causal`` pads nothing, as in DL4J; unlike there, types and masks tell the steps that come out.
    """

    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    causal_mode: ClassVar[ConvolutionMode | None] = ConvolutionMode.Truncate    # DL4J pads nothing
    kernel_size: Convertible[tuple[int, ...]] = field(default=(2, 1), kw_only=False)
    stride: Convertible[tuple[int, ...]] = field(default=(1, 1), kw_only=False)

    def operation(self) -> Op:
        """Two-dimensional pooling over steps, with a second axis of size 1."""
        return super().operation().replace(k_w=1, s_w=1, p_w=0, d_w=1)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        axis = 3 if self.data_format is CNN2DFormat.NCHW else 2
        images = sd.call("base", "expand_dims", x, axis)
        return sd.call("base", "squeeze", super().define_layer(sd, images, params, mask), axis)  # type: ignore[no-any-return]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return windowed_mask(self, mask, 1)

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        if args and isinstance(args[0], (PoolingType, str)):
            return {"pooling_type": args[0]} | positional(cls.__name__, WINDOW, *args[1:])
        return positional(cls.__name__, WINDOW, *args)

    def validate(self) -> None:
        if len(self.kernel_size) == 1:  # DL4J's files write the second, unused axis
            self._put(kernel_size=(*self.kernel_size, 1))
        super().validate()

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.recurrent(input_type.size, self.sizes(input_type.time_series_length)[0], input_type.format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        image = CNN2DFormat.NCHW if input_type.format is RNNFormat.NCW else CNN2DFormat.NHWC
        return self.replace(data_format=image)


@layer("Subsampling3DLayer")
class Subsampling3DLayer(BasePooling, Subsampling3DLayerNames):
    """Pooling of volumes: maximum or mean of each window.

    Shapes: x (batch, channels, depth, height, width) -> (batch, channels, out depth, out height, out width), or channels last.

    Parameters
    ----------
    data_format : CNN3DFormat or str
        ``NCDHW`` (default) or ``NDHWC``; not taken from the input type.
    """

    rank: ClassVar[int] = 3
    operations: ClassVar[dict[PoolingType, type[Op]]] = {PoolingType.MAX: pool.MaxPool3D, PoolingType.AVG: pool.AvgPool3D}
    preprocessor_rule: ClassVar[Rule] = automatic.to_volumes
    convolution_mode: Convertible[ConvolutionMode | None] = ConvolutionMode.Same
    kernel_size: Convertible[tuple[int, ...]] = field(default=(1, 1, 1), kw_only=False)
    stride: Convertible[tuple[int, ...]] = field(default=(2, 2, 2), kw_only=False)
    padding: Convertible[tuple[int, ...]] = field(default=(0, 0, 0), kw_only=False)
    dilation: Convertible[tuple[int, ...]] = (1, 1, 1)
    data_format: Convertible[CNN3DFormat] = CNN3DFormat.NCDHW

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional3D)
        assert isinstance(input_type, InputTypeConvolutional3D)
        sizes = self.sizes(input_type.depth, input_type.height, input_type.width)
        same = self.convolution_mode is ConvolutionMode.Same  # other modes report NDHWC, as Convolution3D does
        return InputType.convolutional3d(self.data_format if same else CNN3DFormat.NDHWC, *sizes, input_type.channels)


@layer("GlobalPoolingLayer")
class GlobalPoolingLayer(NoParamLayer, GlobalPoolingLayerNames):
    """Pools over time, height and width, or depth, height and width; masked steps do not count.

    Shapes: x (batch, channels, …) -> (batch, channels), or with ones in place of the pooled axes unless
    ``collapse_dimensions``. Over time series the type is reported as the unchanged series, as in DL4J.

    Parameters
    ----------
    pooling_type : PoolingType or str
        ``MAX`` (default), ``AVG``, ``SUM`` or ``PNORM``.
    pooling_dimensions : tuple of int, optional
        Axes to pool over; by default all behind the channels. For images, and series NWC, they follow from the input type.
    pnorm : int
        Exponent p of ``PNORM``, ``(sum |x|^p)^(1/p)``; 2 by default.
    collapse_dimensions : bool
        Whether the pooled axes are dropped; True by default.

    Examples
    --------
    >>> GlobalPoolingLayer("avg").output_type(InputType.convolutional(7, 7, 32))
    InputTypeFeedForward(size=32)
    """

    takes_dropout: ClassVar[bool] = False
    dl4j_type: ClassVar[LayerType | None] = LayerType.SUBSAMPLING
    reports_other_type: ClassVar[bool] = True
    pools_series: ClassVar[bool] = True
    preprocessor_rule: ClassVar[Rule] = automatic.to_pool
    arguments: ClassVar[tuple[str, ...]] = ("pooling_type",)
    pooling_type: Convertible[PoolingType] = field(default=PoolingType.MAX, kw_only=False)
    pooling_dimensions: Convertible[tuple[int, ...] | None] = None
    pnorm: int = 2
    collapse_dimensions: bool = True

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        if isinstance(input_type, InputTypeConvolutional) and (override or self.pooling_dimensions is None):
            nchw = input_type.format is CNN2DFormat.NCHW
            return self.replace(pooling_dimensions=(2, 3) if nchw else (1, 2))
        if isinstance(input_type, InputTypeRecurrent) and input_type.format is RNNFormat.NWC and self.pooling_dimensions is None:
            return self.replace(pooling_dimensions=(1,))
        return self

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        rank = len(x.spec.shape or ())
        if rank < 3:
            raise ShapeError(f"{self.label} pools series, images or volumes with three to five axes; got an input with {rank}")
        axes = self.pooling_dimensions or tuple(range(2, rank))
        return pooled(x, mask, self.pooling_type, axes, self.pnorm, self.collapse_dimensions)

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return None

    def output_type(self, input_type: InputType) -> InputType:
        if isinstance(input_type, InputTypeRecurrent):
            return input_type.replace(pooled=self.collapse_dimensions)
        if isinstance(input_type, InputTypeFeedForward):
            return input_type
        if isinstance(input_type, InputTypeConvolutional):
            if self.collapse_dimensions:
                return InputType.feed_forward(input_type.channels)
            return InputType.convolutional(1, 1, input_type.channels, input_type.format)
        if isinstance(input_type, InputTypeConvolutional3D):
            if self.collapse_dimensions:
                return InputType.feed_forward(input_type.channels)
            return InputType.convolutional3d(1, 1, 1, input_type.channels)
        return InputType.feed_forward(getattr(input_type, "depth", 0))


Pooling1D = Subsampling1DLayer
Pooling2D = SubsamplingLayer
