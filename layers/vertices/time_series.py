"""Vertices between time series and rows."""
from __future__ import annotations

from typing import TYPE_CHECKING

from ...samediff.base.datatype import DataType
from ...samediff.errors import ConfigurationError
from ..ops.step_ops import LastUnmaskedStep, RepeatSteps
from ..types.formats import RNNFormat
from ..types.input_type import InputType, InputTypeFeedForward, InputTypeRecurrent
from ..types.parameters import LayerScope
from .base import PACKAGE, GraphVertex, vertex

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable


@vertex(PACKAGE + "rnn.LastTimeStepVertex")
class LastTimeStepVertex(GraphVertex):
    """The last step of a time series, or the last one that the mask of the named network input allows."""

    mask_array_input_name: str | None = None

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        (given,) = input_types
        if not isinstance(given, InputTypeRecurrent):
            raise ConfigurationError(f"LastTimeStepVertex takes time series; got {given!r}")
        return InputType.feed_forward(given.size)

    def named_inputs(self) -> tuple[str, ...]:
        return _names(self.mask_array_input_name)

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        mask = masks[1] if len(masks) > 1 else None
        return inputs[0][:, :, -1] if mask is None else sd.add_op(LastUnmaskedStep(), [inputs[0], mask])

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return None


@vertex(PACKAGE + "rnn.DuplicateToTimeSeriesVertex")
class DuplicateToTimeSeriesVertex(GraphVertex):
    """Repeats rows for every step of the named network input: (batch, size) -> (batch, size, time)."""

    input_name: str

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        (given,) = input_types
        if isinstance(given, InputTypeFeedForward):
            return InputType.recurrent(given.size, format=given.time_distributed_format or RNNFormat.NCW)
        return InputType.recurrent(given.array_elements_per_example())

    def named_inputs(self) -> tuple[str, ...]:
        return (self.input_name,)

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return sd.add_op(RepeatSteps(), inputs)  # type: ignore[no-any-return]

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return masks[1]


@vertex(PACKAGE + "rnn.ReverseTimeSeriesVertex")
class ReverseTimeSeriesVertex(GraphVertex):
    """Reverses time series; with the mask of the named network input only the valid steps, and the others become 0."""

    mask_array_input_name: str | None = None

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        (given,) = input_types
        if not isinstance(given, InputTypeRecurrent):
            raise ConfigurationError(f"ReverseTimeSeriesVertex takes time series; got {given!r}")
        return given

    def named_inputs(self) -> tuple[str, ...]:
        return _names(self.mask_array_input_name)

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        mask = masks[1] if len(masks) > 1 else None
        if mask is None:
            return sd.call("base", "reverse", inputs[0], 2)  # type: ignore[no-any-return]
        lengths = sd.call("base", "cast_to", mask.sum(1), DataType.INT64)
        turned = sd.call("base", "reverse_sequence", inputs[0], lengths, 2, 0)
        return turned * sd.call("base", "expand_dims", mask, 1)  # type: ignore[no-any-return]


def _names(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)
