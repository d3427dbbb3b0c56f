"""Rows of features to images and volumes."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ...samediff.configuration.declaring import configuration, field
from ...samediff.errors import ConfigurationError
from ..ops.series_ops import reshaped
from ..types.formats import CNN2DFormat, CNN3DFormat
from ..types.input_type import InputType, InputTypeConvolutional, InputTypeConvolutionalFlat, InputTypeFeedForward
from ..types.java_names import FeedForwardToCnn3DPreProcessorNames, FeedForwardToCnnPreProcessorNames, UnflattenPreProcessorNames
from .base import PACKAGE, InputPreProcessor, expect_shape, rank_of

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["FeedForwardToCnn3DPreProcessor", "FeedForwardToCnnPreProcessor"]


@configuration
class UnflattenPreProcessor(InputPreProcessor, UnflattenPreProcessorNames):
    """Reshapes rows in C order; arrays of the full rank pass through. A mask with one value for each row counts for its whole image."""

    def shape(self) -> tuple[int, ...]:
        """Shape of one example of the result."""
        raise NotImplementedError

    def pre_process(self, array: Any, minibatch: int) -> Any:
        if array.ndim == len(self.shape()) + 1:
            return array
        expect_shape(self, array, (-1, math.prod(self.shape())))
        return array.reshape(array.shape[0], *self.shape())

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        return epsilon if epsilon.ndim == 2 else epsilon.reshape(epsilon.shape[0], -1)

    def check_size(self, size: int) -> None:
        """Refuse rows of another length."""
        if size != math.prod(self.shape()):
            raise ConfigurationError(f"{self!r} makes {math.prod(self.shape())} values; the input has {size}")

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        if rank_of(x) == len(self.shape()) + 1:
            return x
        return reshaped(x, self.shape(), (math.prod(self.shape()),), type(self).__name__)

    def mask(self, mask: Any, minibatch: int) -> Any:
        return mask.reshape(-1, *self._one()) if mask.shape[1:] == (1,) else mask

    def define_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable, batch: SDVariable | None = None) -> SDVariable | None:
        return reshaped(mask, self._one()) if mask is not None and rank_of(mask) == rank_of(x) == 2 else mask

    def _one(self) -> tuple[int, ...]:
        return (1,) * len(self.shape())


@configuration(PACKAGE + "FeedForwardToCnnPreProcessor")
class FeedForwardToCnnPreProcessor(UnflattenPreProcessor, FeedForwardToCnnPreProcessorNames):
    """Rows (batch, channels * height * width) to images (batch, channels, height, width).

    Parameters
    ----------
    input_height, input_width : int
        Size of the images. Two numbers by position are width and height, as in DL4J; three height, width and channels.
    num_channels : int
        Number of channels; 1 by default.
    """

    input_height: int
    input_width: int
    num_channels: int = 1

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return super()._bind(args[::-1] if len(args) == 2 else args, kwargs)

    def shape(self) -> tuple[int, ...]:
        return (self.num_channels, self.input_height, self.input_width)

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        return epsilon if epsilon.ndim == 2 else epsilon.reshape(epsilon.shape[0], -1)

    def output_type(self, input_type: InputType) -> InputType:
        self.expect(input_type, "FF", "CNNFlat", "CNN")
        if isinstance(input_type, InputTypeConvolutional):
            self.check_size(input_type.array_elements_per_example())
            return input_type
        assert isinstance(input_type, (InputTypeFeedForward, InputTypeConvolutionalFlat))
        self.check_size(input_type.array_elements_per_example())
        return InputType.convolutional(self.input_height, self.input_width, self.num_channels, CNN2DFormat.NCHW)


@configuration(PACKAGE + "FeedForwardToCnn3DPreProcessor")
class FeedForwardToCnn3DPreProcessor(UnflattenPreProcessor, FeedForwardToCnn3DPreProcessorNames):
    """Rows (batch, channels * depth * height * width) to volumes (batch, channels, depth, height, width), or channels last.

    Parameters
    ----------
    input_depth, input_height, input_width : int
        Size of the volumes. Three numbers by position are depth, width and height, as in DL4J; four depth, height, width and channels.
    num_channels : int
        Number of channels; 1 by default.
    is_ncdhw : bool
        Whether channels come first (default) rather than last.
    """

    json_first: ClassVar[tuple[str, ...]] = ("inputDepth", "inputHeight", "inputWidth", "numChannels")
    input_depth: int
    input_height: int
    input_width: int
    num_channels: int = 1
    is_ncdhw: bool = field(default=True, json="ncdhw")

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return super()._bind((args[0], args[2], args[1]) if len(args) == 3 else args, kwargs)

    def shape(self) -> tuple[int, ...]:
        volume = (self.input_depth, self.input_height, self.input_width)
        return (self.num_channels, *volume) if self.is_ncdhw else (*volume, self.num_channels)

    def output_type(self, input_type: InputType) -> InputType:
        self.expect(input_type, "FF", "CNN", "CNN3D")
        if input_type.kind == "CNN3D":
            return input_type
        if isinstance(input_type, InputTypeConvolutional):
            return InputType.convolutional3d(1, input_type.height, input_type.width, input_type.channels)
        self.check_size(input_type.array_elements_per_example())
        form = CNN3DFormat.NCDHW if self.is_ncdhw else CNN3DFormat.NDHWC
        return InputType.convolutional3d(form, self.input_depth, self.input_height, self.input_width, self.num_channels)
