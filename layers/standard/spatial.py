"""Layers that change the size of images, volumes and time series without parameters."""
from __future__ import annotations

from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError, ShapeError
from ...samediff.ops.shape.blocks import RepeatBlocks, SpaceToDepth
from ...samediff.ops.shape.slicing import Index
from ..base import automatic
from ..base.base import PACKAGE, NoParamLayer, Rule, layer
from ..types.formats import CNN2DFormat, CNN3DFormat
from ..types.input_type import InputType, InputTypeConvolutional, InputTypeConvolutional3D, InputTypeRecurrent
from ..types.java_names import (
    Cropping1DNames,
    Cropping2DNames,
    Cropping3DNames,
    ImageResizingNames,
    ResizingLayerNames,
    SpaceToBatchLayerNames,
    SpaceToDepthLayerNames,
    TimeResizingNames,
    Upsampling1DNames,
    Upsampling2DNames,
    Upsampling3DNames,
    VolumeResizingNames,
    ZeroPadding1DLayerNames,
    ZeroPadding3DLayerNames,
    ZeroPaddingLayerNames,
)
from ..types.layer_type import LayerType
from ..types.parameters import LayerScope
from ..types.positional import positional
from ..types.sizes import pairs, repeated

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = [
    "Cropping1D", "Cropping2D", "Cropping3D", "ImageResizing", "ResizingLayer", "SpaceToBatchLayer", "SpaceToDepthLayer", "TimeResizing",
    "Upsampling1D", "Upsampling2D", "Upsampling3D", "VolumeResizing", "ZeroPadding1DLayer", "ZeroPadding3DLayer", "ZeroPaddingLayer",
]

_CONVOLUTIONAL = PACKAGE + "convolutional."


def several(name: str, *args: Any) -> dict[str, Any]:
    """Positional arguments as one tuple: ``Builder(1, 2)`` and ``Builder((1, 2))``."""
    return {name: args[0] if len(args) == 1 else args} if args else {}


@layer()
class ResizingLayer(NoParamLayer, ResizingLayerNames):
    """Base of layers that change sizes of axes and keep values."""

    sizes_field: ClassVar[str] = ""
    rank: ClassVar[int] = 2
    in_pairs: ClassVar[bool] = False

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return several(cls.sizes_field, *args)

    def validate(self) -> None:
        value = getattr(self, self.sizes_field)
        sizes = pairs(value, self.rank) if self.in_pairs else repeated(value, self.rank)
        if not self.in_pairs and (len(sizes) != self.rank or min(sizes) < 1):
            want = f"{self.rank} numbers of at least 1"
            raise ConfigurationError(f"{self.label}: {self.sizes_field} must be {want}; got {value}")
        self._put(**{self.sizes_field: sizes})

    def resized(self, axis: int, n: int) -> int:
        """Return the new size of an axis."""
        raise NotImplementedError

    @property
    def channels_last(self) -> bool:
        """Whether the channels are the last axis, not the second."""
        return False

    def per_axis(self, x: SDVariable, spatial: list[Any], other: Any) -> list[Any]:
        """``spatial`` at the axes of sizes and ``other`` at those of batch and channels."""
        if x.spec.shape is not None and len(x.spec.shape) != self.rank + 2:
            raise ShapeError(f"{self.label} takes arrays with {self.rank + 2} axes; got {list(x.spec.shape)}")
        return [other, *spatial, other] if self.channels_last else [other, other, *spatial]

    def _positive(self, input_type: InputType, *sizes: int) -> tuple[int, ...]:
        if any(n == 0 or n < -1 for n in sizes):
            raise ConfigurationError(f"{self.label} leaves nothing of {input_type!r}: {sizes}")
        return sizes


@layer()
class TimeResizing(ResizingLayer, TimeResizingNames):
    """Changes the length of time series (batch, size, time)."""

    rank: ClassVar[int] = 1
    preprocessor_rule: ClassVar[Rule] = automatic.to_images
    reads_channels_first: ClassVar[bool] = True

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.recurrent(input_type.size, self.resized(0, input_type.time_series_length))

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        """The mask of the steps that there are now."""
        return mask if mask is None or mask.spec.rank != 2 else self.resized_mask(sd, mask)

    def resized_mask(self, sd: SameDiff, mask: SDVariable) -> SDVariable:
        """A mask (batch, time) after the change of length."""
        raise NotImplementedError


@layer()
class ImageResizing(ResizingLayer, ImageResizingNames):
    """Changes the size of images (batch, channels, height, width), or NHWC."""

    format_field: ClassVar[str] = "data_format"
    preprocessor_rule: ClassVar[Rule] = automatic.to_images

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        rows, columns = self.resized(0, input_type.height), self.resized(1, input_type.width)
        height, width = self._positive(input_type, rows, columns)
        return InputType.convolutional(height, width, self.channels(input_type.channels), input_type.format)

    @property
    def channels_last(self) -> bool:
        return getattr(self, self.format_field) is CNN2DFormat.NHWC

    def channels(self, n: int) -> int:
        """Return the new number of channels."""
        return n

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        return self.replace(**{self.format_field: input_type.format})


@layer()
class VolumeResizing(ResizingLayer, VolumeResizingNames):
    """Changes the size of volumes (batch, channels, depth, height, width), or channels last; types are reported as NDHWC,
    as in DL4J.
    """

    reports_other_type: ClassVar[bool] = True
    rank: ClassVar[int] = 3
    preprocessor_rule: ClassVar[Rule] = automatic.to_volumes

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional3D)
        assert isinstance(input_type, InputTypeConvolutional3D)
        sizes = (input_type.depth, input_type.height, input_type.width)
        new = self._positive(input_type, *(self.resized(i, n) for i, n in enumerate(sizes)))
        return InputType.convolutional3d(CNN3DFormat.NDHWC, *new, input_type.channels)


@layer()
class _Repeats(ResizingLayer):
    """Repeats every value ``size`` times along each axis.

    Parameters
    ----------
    size : int or tuple of int
        How often a value is repeated along each axis, at least 1; one number stands for all axes.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.UPSAMPLING
    sizes_field: ClassVar[str] = "size"
    size: Convertible[tuple[int, ...]] = field(kw_only=False)
    if TYPE_CHECKING:       # one number for each axis, by position
        _2: InitVar[int] = field(default=0, kw_only=False)
        _3: InitVar[int] = field(default=0, kw_only=False)
        _4: InitVar[int] = field(default=0, kw_only=False)

    def resized(self, axis: int, n: int) -> int:
        return n if n < 0 else n * self.size[axis]

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return sd.add_op(RepeatBlocks(tuple(self.per_axis(x, list(self.size[:self.rank]), 1))), [x])  # type: ignore[no-any-return]


@layer()
class _Pads(ResizingLayer):
    """Adds zeros before and after each axis.

    Parameters
    ----------
    padding : int or tuple of int
        Zeros: one number for all sides, one for each axis, or two for each axis, before and after it.
    """

    takes_dropout: ClassVar[bool] = False
    dl4j_type: ClassVar[LayerType | None] = LayerType.CONVOLUTIONAL
    sizes_field: ClassVar[str] = "padding"
    in_pairs: ClassVar[bool] = True
    padding: Convertible[tuple[int, ...]] = field(kw_only=False)
    if TYPE_CHECKING:       # one number for each side, by position
        _2: InitVar[int] = field(default=0, kw_only=False)
        _3: InitVar[int] = field(default=0, kw_only=False)
        _4: InitVar[int] = field(default=0, kw_only=False)
        _5: InitVar[int] = field(default=0, kw_only=False)
        _6: InitVar[int] = field(default=0, kw_only=False)

    def resized(self, axis: int, n: int) -> int:
        return n + self.padding[2 * axis] + self.padding[2 * axis + 1]

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        edges = [self.padding[i:i + 2] for i in range(0, 2 * self.rank, 2)]
        return sd.call("nn", "pad", x, sd.constant(np.array(self.per_axis(x, edges, (0, 0)))), 0.0)  # type: ignore[no-any-return]


@layer()
class _Crops(ResizingLayer):
    """Cuts off values before and after each axis.

    Parameters
    ----------
    cropping : int or tuple of int
        Cells to cut off: one number for all sides, one for each axis, or two for each axis, before and after it.
    """

    takes_dropout: ClassVar[bool] = False
    dl4j_type: ClassVar[LayerType | None] = LayerType.CONVOLUTIONAL
    sizes_field: ClassVar[str] = "cropping"
    in_pairs: ClassVar[bool] = True
    cropping: Convertible[tuple[int, ...]] = field(kw_only=False)
    if TYPE_CHECKING:       # one number for each side, by position
        _2: InitVar[int] = field(default=0, kw_only=False)
        _3: InitVar[int] = field(default=0, kw_only=False)
        _4: InitVar[int] = field(default=0, kw_only=False)
        _5: InitVar[int] = field(default=0, kw_only=False)
        _6: InitVar[int] = field(default=0, kw_only=False)

    def resized(self, axis: int, n: int) -> int:
        return n if n < 0 else n - self.cropping[2 * axis] - self.cropping[2 * axis + 1]

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        kept = [("slice", self.cropping[i], -self.cropping[i + 1] or None, 1) for i in range(0, 2 * self.rank, 2)]
        return sd.add_op(Index(tuple(self.per_axis(x, kept, ("slice", None, None, 1)))), [x])  # type: ignore[no-any-return]


@layer("Upsampling1D")
class Upsampling1D(_Repeats, TimeResizing, Upsampling1DNames):
    """Repeats every step. Shapes: x (batch, size, time) -> (batch, size, time * n). A mask is repeated too."""

    def validate(self) -> None:
        self._put(size=self.size[:1] if self.size[1:] == self.size[:1] else self.size)
        super().validate()
        self._put(size=self.size * 2)  # DL4J's files write two equal numbers

    def resized_mask(self, sd: SameDiff, mask: SDVariable) -> SDVariable:
        return sd.add_op(RepeatBlocks((1, self.size[0])), [mask])  # type: ignore[no-any-return]


@layer("Upsampling2D")
class Upsampling2D(_Repeats, ImageResizing, Upsampling2DNames):
    """Repeats rows and columns. Shapes: x (batch, channels, height, width) -> (batch, channels, height * n, width * m); NHWC likewise.

    Parameters
    ----------
    format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``; that of the input type where the network has one.

    Examples
    --------
    >>> Upsampling2D(2).output_type(InputType.convolutional(7, 7, 3))
    InputTypeConvolutional(height=14, width=14, channels=3)
    """

    format_field: ClassVar[str] = "format"
    format: Convertible[CNN2DFormat] = field(default=CNN2DFormat.NCHW, aliases=("data_format",))


@layer("Upsampling3D")
class Upsampling3D(_Repeats, VolumeResizing, Upsampling3DNames):
    """Repeats along depth, height and width. Shapes: x (batch, channels, depth, height, width) -> larger by ``size``, or channels last.

    Parameters
    ----------
    data_format : CNN3DFormat or str
        ``NCDHW`` (default) or ``NDHWC``; not taken from the input type.
    """

    data_format: Convertible[CNN3DFormat] = CNN3DFormat.NCDHW

    @property
    def channels_last(self) -> bool:
        return self.data_format is CNN3DFormat.NDHWC

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        if args and isinstance(args[0], CNN3DFormat):
            return {"data_format": args[0]} | several("size", *args[1:])
        return several("size", *args)


@layer("ZeroPadding1DLayer")
class ZeroPadding1DLayer(_Pads, TimeResizing, ZeroPadding1DLayerNames):
    """Zeros before and after a time series: ``padding`` (left, right); their mask is that of the first and last step."""

    dl4j_type: ClassVar[LayerType | None] = LayerType.RECURRENT
    reports_other_type: ClassVar[bool] = True
    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent

    def resized_mask(self, sd: SameDiff, mask: SDVariable) -> SDVariable:
        left, right = self.padding
        parts = [sd.add_op(RepeatBlocks((1, left)), [mask[:, :1]])] if left else []
        parts += [mask, sd.add_op(RepeatBlocks((1, right)), [mask[:, -1:]])] if right else [mask]
        return sd.call("base", "concat", 1, *parts)  # type: ignore[no-any-return]


@layer("ZeroPaddingLayer")
class ZeroPaddingLayer(_Pads, ImageResizing, ZeroPaddingLayerNames):
    """Zeros around images: ``padding`` (top, bottom, left, right).

    Parameters
    ----------
    data_format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``; that of the input type where the network has one.
    """

    data_format: Convertible[CNN2DFormat] = CNN2DFormat.NCHW


@layer("ZeroPadding3DLayer")
class ZeroPadding3DLayer(_Pads, VolumeResizing, ZeroPadding3DLayerNames):
    """Zeros around volumes: ``padding`` two numbers each for depth, height, width."""


@layer(_CONVOLUTIONAL + "Cropping1D")
class Cropping1D(_Crops, TimeResizing, Cropping1DNames):
    """Cuts steps off both ends: ``cropping`` (left, right)."""

    summary_name: ClassVar[str] = "Cropping1DLayer"

    def resized_mask(self, sd: SameDiff, mask: SDVariable) -> SDVariable:
        return mask[:, self.cropping[0]:-self.cropping[1] or None]


@layer(_CONVOLUTIONAL + "Cropping2D")
class Cropping2D(_Crops, ImageResizing, Cropping2DNames):
    """Cuts off rows and columns: ``cropping`` (top, bottom, left, right).

    Parameters
    ----------
    data_format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``; that of the input type where the network has one.
    """

    summary_name: ClassVar[str] = "Cropping2DLayer"
    data_format: Convertible[CNN2DFormat] = CNN2DFormat.NCHW


@layer(_CONVOLUTIONAL + "Cropping3D")
class Cropping3D(_Crops, VolumeResizing, Cropping3DNames):
    """Cuts off parts of volumes: ``cropping`` two numbers each for depth, height, width."""

    dl4j_type: ClassVar[LayerType | None] = LayerType.CONVOLUTIONAL3D
    summary_name: ClassVar[str] = "Cropping3DLayer"


@layer("SpaceToDepthLayer")
class SpaceToDepthLayer(ImageResizing, SpaceToDepthLayerNames):
    """Moves blocks of pixels into channels. Shapes: (batch, c, h, w) -> (batch, c * b², h / b, w / b).

    Parameters
    ----------
    block_size : int
        Side b of a block, at least 1; sizes are divided by it, rounded down in types.
    data_format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``; that of the input type where the network has one.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.CONVOLUTIONAL
    summary_name: ClassVar[str] = "SpaceToDepth"
    sizes_field: ClassVar[str] = "block_size"
    rank: ClassVar[int] = 1
    DataFormat = CNN2DFormat                # DL4J's place of it
    block_size: int = field(aliases=("blocks",), kw_only=False)
    data_format: Convertible[CNN2DFormat] = field(default=CNN2DFormat.NCHW, kw_only=False)

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return positional(cls.__name__, ("block_size", "data_format"), *args)

    def validate(self) -> None:
        if self.block_size < 1:
            raise ConfigurationError(f"{self.label}: block_size must be at least 1; got {self.block_size}")

    def resized(self, axis: int, n: int) -> int:
        return n // self.block_size

    def channels(self, n: int) -> int:
        return n * self.block_size**2

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return sd.add_op(SpaceToDepth(self.block_size, self.data_format.name), [x])  # type: ignore[no-any-return]


@layer("SpaceToBatchLayer")
class SpaceToBatchLayer(ImageResizing, SpaceToBatchLayerNames):
    """Moves blocks of pixels into the batch.

    Shapes: (batch, c, h, w) -> (batch * b0 * b1, c, h / b0, w / b1), padded first.

    Parameters
    ----------
    blocks : (height, width)
        Sides b0 and b1 of a block, at least 1.
    padding : ((top, bottom), (left, right))
        Zeros around the image before it is cut; none by default. Padded sizes are multiples of the sides.
    format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``; that of the input type where the network has one.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.CONVOLUTIONAL
    summary_name: ClassVar[str] = "SpaceToBatch"
    sizes_field: ClassVar[str] = "blocks"
    format_field: ClassVar[str] = "format"
    blocks: Convertible[tuple[int, ...]] = field(kw_only=False)
    padding: Convertible[tuple[tuple[int, ...], ...]] = field(default=((0, 0), (0, 0)), kw_only=False)
    format: Convertible[CNN2DFormat] = field(default=CNN2DFormat.NCHW, aliases=("data_format",))

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return positional(cls.__name__, ("blocks", "padding"), *args)

    def resized(self, axis: int, n: int) -> int:
        return (n + sum(self.padding[axis])) // self.blocks[axis]

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        last = x if self.channels_last else sd.call("base", "permute", x, 0, 2, 3, 1)
        moved = sd.call("cnn", "space_to_batch", last, tuple(self.blocks), tuple(self.padding[0]), *self.padding[1])
        return moved if self.channels_last else sd.call("base", "permute", moved, 0, 3, 1, 2)  # type: ignore[no-any-return]
