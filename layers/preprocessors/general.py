"""Preprocessors that chain, reshape and permute, mostly from imported Keras models."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.errors import ConfigurationError
from ..ops.series_ops import reshaped
from ..types.formats import CNN2DFormat, MaskState, RNNFormat
from ..types.input_type import InputType, InputTypeConvolutional, InputTypeConvolutional3D, InputTypeRecurrent
from ..types.java_names import (
    ComposableInputPreProcessorNames,
    KerasFlattenRnnPreprocessorNames,
    PermutePreprocessorNames,
    ReshapePreprocessorNames,
)
from .base import PACKAGE, InputPreProcessor

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["ComposableInputPreProcessor", "KerasFlattenRnnPreprocessor", "PermutePreprocessor", "ReshapePreprocessor"]

_KERAS = "org.deeplearning4j.preprocessors."


@configuration(PACKAGE + "ComposableInputPreProcessor")
class ComposableInputPreProcessor(InputPreProcessor, ComposableInputPreProcessorNames):
    """Several preprocessors, applied from left to right.

    Parameters
    ----------
    input_pre_processors : InputPreProcessor
        One by one, or as one list.
    """

    input_pre_processors: Convertible[tuple[InputPreProcessor, ...]]

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Any) -> dict[str, Any]:
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            (args,) = args
        return super()._bind((args,) if args else (), kwargs)

    def pre_process(self, array: Any, minibatch: int) -> Any:
        for part in self.input_pre_processors:
            array = part.pre_process(array, minibatch)
        return array

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        for part in reversed(self.input_pre_processors):
            epsilon = part.backprop(epsilon, minibatch)
        return epsilon

    def output_type(self, input_type: InputType) -> InputType:
        for part in self.input_pre_processors:
            input_type = part.output_type(input_type)
        return input_type

    def feed_forward_mask_array(self, mask: Any, state: MaskState, minibatch: int) -> tuple[Any, MaskState]:
        for part in self.input_pre_processors:
            mask, state = part.feed_forward_mask_array(mask, state, minibatch)
        return mask, state

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        for part in self.input_pre_processors:
            x = part.define(sd, x, batch)
        return x

    def define_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable, batch: SDVariable | None = None) -> SDVariable | None:
        for part in self.input_pre_processors:
            mask, x = part.define_mask(sd, mask, x, batch), part.define(sd, x, batch)
        return mask


@configuration(_KERAS + "KerasFlattenRnnPreprocessor",
               aliases=("org.deeplearning4j.nn.modelimport.keras.preprocessors.KerasFlattenRnnPreprocessor",))
class KerasFlattenRnnPreprocessor(InputPreProcessor, KerasFlattenRnnPreprocessorNames):
    """Time series (batch, depth, ts_length) to rows (batch, depth * ts_length), in C order.

    Parameters
    ----------
    depth : int
        Size of one step.
    ts_length : int
        Number of steps.
    """

    depth: int
    ts_length: int

    def pre_process(self, array: Any, minibatch: int) -> Any:
        return array.reshape(array.shape[0], -1)

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        return epsilon.reshape(-1, self.depth, self.ts_length)

    def output_type(self, input_type: InputType) -> InputType:
        return InputType.feed_forward(self.depth * self.ts_length)

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        return reshaped(x, (-1,))

    def feed_forward_mask_array(self, mask: Any, state: MaskState, minibatch: int) -> tuple[Any, MaskState]:
        """None: rows have no steps to mask."""
        return None, state

    def define_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable, batch: SDVariable | None = None) -> SDVariable | None:
        return None


@configuration(_KERAS + "PermutePreprocessor",
               aliases=("org.deeplearning4j.nn.modelimport.keras.preprocessors.PermutePreprocessor",))
class PermutePreprocessor(InputPreProcessor, PermutePreprocessorNames):
    """Permutes the axes of each example: ``(2, 1)`` exchanges the two axes after the batch.

    Parameters
    ----------
    permutation_indices : int
        Axes of the input in their new order, one by one or as one list: counted from 1, the batch being 0, which may be left out.
    """

    permutation_indices: Convertible[tuple[int, ...]]

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Any) -> dict[str, Any]:
        return super()._bind((args,) if len(args) > 1 else args, kwargs)

    def validate(self) -> None:
        order = self.axes()
        if sorted(order) != list(range(len(order))):
            indices = self.permutation_indices
            raise ConfigurationError(f"PermutePreprocessor: {indices} is no permutation of 1 … {len(order) - 1}")

    def axes(self) -> tuple[int, ...]:
        """The permutation with the batch axis."""
        order = self.permutation_indices
        return order if 0 in order else (0, *order)

    def pre_process(self, array: Any, minibatch: int) -> Any:
        return array.transpose(self.axes())

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        order = self.axes()
        return epsilon.transpose([order.index(i) for i in range(len(order))])

    def output_type(self, input_type: InputType) -> InputType:
        self.expect(input_type, "FF", "RNN", "CNN", "CNN3D")
        given = input_type.array_shape()
        if len(given) != len(self.axes()) or isinstance(input_type, InputTypeConvolutional3D):
            return input_type
        _, *shape = (given[i] for i in self.axes())
        if isinstance(input_type, InputTypeRecurrent):
            return InputType.recurrent(*shape)
        if isinstance(input_type, InputTypeConvolutional):
            channels, height, width = shape
            return InputType.convolutional(height, width, channels, CNN2DFormat.NCHW)
        return input_type

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        return sd.call("base", "permute", x, *self.axes())  # type: ignore[no-any-return]


@configuration(_KERAS + "ReshapePreprocessor",
               aliases=("org.deeplearning4j.nn.modelimport.keras.preprocessors.ReshapePreprocessor",))
class ReshapePreprocessor(InputPreProcessor, ReshapePreprocessorNames):
    """Reshapes each example in C order; without a batch dimension in the shapes, it is put in front of them.

    Parameters
    ----------
    input_shape, target_shape : tuple of int
        Shapes before and after.
    has_mini_batch_dimension : bool
        Whether the batch is the first size of both shapes, where any number may stand; False by default.
    format : str, optional
        Order of the axes of the result for its type: "NCW" or "NWC" (default); "NCHW" (default for images and volumes) or "NHWC" (default
        for rows and series).
    """

    json_first: ClassVar[tuple[str, ...]] = ("hasMiniBatchDimension", "inputShape", "targetShape")
    input_shape: Convertible[tuple[int, ...]]
    target_shape: Convertible[tuple[int, ...]]
    has_mini_batch_dimension: bool = False
    format: str | None = None

    def _shape(self, shape: tuple[int, ...], batch: int) -> tuple[int, ...]:
        return (batch, *(shape[1:] if self.has_mini_batch_dimension else shape))

    def pre_process(self, array: Any, minibatch: int) -> Any:
        return array.reshape(self._shape(self.target_shape, array.shape[0]))

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        return epsilon.reshape(self._shape(self.input_shape, epsilon.shape[0]))

    def output_type(self, input_type: InputType) -> InputType:
        shape = self._shape(self.target_shape, -1)[1:]
        if len(shape) == 1:
            return InputType.feed_forward(shape[0])
        if len(shape) == 2:
            series = shape if self.format == "NCW" else shape[::-1]
            return InputType.recurrent(*series, RNNFormat(self.format or "NWC"))
        if len(shape) == 3:
            flat = len(self.input_shape) == 1 or isinstance(input_type, InputTypeRecurrent)
            form = self.format or ("NHWC" if flat else "NCHW")
            height, width, channels = (*shape[1:], shape[0]) if form == "NCHW" else shape
            return InputType.convolutional(height, width, channels, CNN2DFormat(form))
        raise ConfigurationError(f"ReshapePreprocessor: no input type has the shape {shape}")

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        return reshaped(x, self._shape(self.target_shape, -1)[1:], owner=type(self).__name__)
