"""Images and volumes to rows of features."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from ...samediff.configuration.declaring import Convertible, configuration, field
from ..ops.series_ops import reshaped
from ..types.formats import CNN2DFormat
from ..types.input_type import InputType
from ..types.java_names import (
    Cnn3DToFeedForwardPreProcessorNames,
    CnnToFeedForwardPreProcessorNames,
    FlattenPreProcessorNames,
    TensorFlowCnnToFeedForwardPreProcessorNames,
)
from .base import PACKAGE, InputPreProcessor, expect_shape, rank_of

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["Cnn3DToFeedForwardPreProcessor", "CnnToFeedForwardPreProcessor", "TensorFlowCnnToFeedForwardPreProcessor"]


@configuration
class FlattenPreProcessor(InputPreProcessor, FlattenPreProcessorNames):
    """Flattens each example in C order; arrays that are rows already pass through."""

    def shape(self) -> tuple[int, ...]:
        """Shape of one example."""
        raise NotImplementedError

    def pre_process(self, array: Any, minibatch: int) -> Any:
        if array.ndim == 2:
            return array
        shape = self.shape()
        if any(shape):
            expect_shape(self, array, (-1, *shape))
        return array.reshape(array.shape[0], -1)

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        if epsilon.ndim == len(self.shape()) + 1:
            return epsilon
        expect_shape(self, epsilon, (-1, math.prod(self.shape())))
        return epsilon.reshape(epsilon.shape[0], *self.shape())

    def output_type(self, input_type: InputType) -> InputType:
        self.expect(input_type, "CNN" if len(self.shape()) == 3 else "CNN3D")
        return InputType.feed_forward(input_type.array_elements_per_example())

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        if rank_of(x) == 2:
            return x
        return reshaped(x, (-1,), self.shape() if any(self.shape()) else None, type(self).__name__)

    def mask(self, mask: Any, minibatch: int) -> Any:
        return mask.reshape(mask.shape[0], -1) if mask.ndim == len(self.shape()) + 1 else mask

    def define_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable, batch: SDVariable | None = None) -> SDVariable | None:
        return mask if mask is None or rank_of(mask) != len(self.shape()) + 1 else reshaped(mask, (-1,))


@configuration(PACKAGE + "CnnToFeedForwardPreProcessor")
class CnnToFeedForwardPreProcessor(FlattenPreProcessor, CnnToFeedForwardPreProcessorNames):
    """Images (batch, channels, height, width), or NHWC, to rows (batch, channels * height * width).

    Parameters
    ----------
    input_height, input_width : int
        Size of the images; both 0 (default) takes any.
    num_channels : int
        Number of channels; 1 by default.
    format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``, of the images; values stay in their order.

    Examples
    --------
    >>> import numpy as np
    >>> CnnToFeedForwardPreProcessor(3, 2, 4).pre_process(np.zeros((5, 4, 3, 2)), 5).shape
    (5, 24)
    """

    input_height: int = 0
    input_width: int = 0
    num_channels: int = 1
    format: Convertible[CNN2DFormat] = CNN2DFormat.NCHW

    def shape(self) -> tuple[int, ...]:
        if not self.input_height and not self.input_width:
            return (0, 0, 0)
        size = (self.input_height, self.input_width)
        return (self.num_channels, *size) if self.format is CNN2DFormat.NCHW else (*size, self.num_channels)


@configuration("org.deeplearning4j.nn.modelimport.keras.preprocessors.TensorFlowCnnToFeedForwardPreProcessor")
class TensorFlowCnnToFeedForwardPreProcessor(CnnToFeedForwardPreProcessor, TensorFlowCnnToFeedForwardPreProcessorNames):
    """Images (batch, channels, height, width) to rows in (height, width, channels) order, as TensorFlow flattens them.

    Sizes must be given.
    """

    json_first: ClassVar[tuple[str, ...]] = ("inputHeight", "inputWidth", "numChannels")

    def pre_process(self, array: Any, minibatch: int) -> Any:
        if array.ndim == 2:
            return array
        expect_shape(self, array, (-1, self.num_channels, self.input_height, self.input_width))
        return array.transpose(0, 2, 3, 1).reshape(array.shape[0], -1)

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        if epsilon.ndim == 4:
            return epsilon
        images = epsilon.reshape(epsilon.shape[0], self.input_height, self.input_width, self.num_channels)
        return images.transpose(0, 3, 1, 2)

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        if rank_of(x) == 2:
            return x
        given = (self.input_height, self.input_width, self.num_channels)
        return reshaped(sd.call("base", "permute", x, 0, 2, 3, 1), (-1,), given, type(self).__name__)


@configuration(PACKAGE + "Cnn3DToFeedForwardPreProcessor")
class Cnn3DToFeedForwardPreProcessor(FlattenPreProcessor, Cnn3DToFeedForwardPreProcessorNames):
    """Volumes (batch, channels, depth, height, width), or channels last, to rows.

    The number of values per example has to be right; the sizes may stand in another order, as DL4J's input types of some
    convolutions over volumes have them.

    Parameters
    ----------
    input_depth, input_height, input_width : int
        Size of the volumes.
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

    def shape(self) -> tuple[int, ...]:
        volume = (self.input_depth, self.input_height, self.input_width)
        return (self.num_channels, *volume) if self.is_ncdhw else (*volume, self.num_channels)

    def pre_process(self, array: Any, minibatch: int) -> Any:
        if array.ndim == 2:
            return array
        rows = array.reshape(array.shape[0], -1)
        expect_shape(self, rows, (-1, math.prod(self.shape())))
        return rows

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        return x if rank_of(x) == 2 else reshaped(x, (math.prod(self.shape()),), None, type(self).__name__)
