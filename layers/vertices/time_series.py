"""Vertices between time series and rows."""
from __future__ import annotations

from typing import TYPE_CHECKING

from ...samediff.errors import ConfigurationError
from ..base.automatic import refuse_channels_last
from ..ops.step_ops import LastUnmaskedStep, RepeatSteps, ReverseUnmasked
from ..types.formats import RNNFormat
from ..types.input_type import InputType, InputTypeFeedForward, InputTypeRecurrent
from ..types.java_names import DuplicateToTimeSeriesVertexNames, LastTimeStepVertexNames, ReverseTimeSeriesVertexNames
from ..types.parameters import LayerScope
from .base import PACKAGE, GraphVertex, vertex

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["DuplicateToTimeSeriesVertex", "LastTimeStepVertex", "ReverseTimeSeriesVertex"]


@vertex(PACKAGE + "rnn.LastTimeStepVertex")
class LastTimeStepVertex(GraphVertex, LastTimeStepVertexNames):
    """The last step of a time series, or the last one that a mask allows. Shapes: x (batch, size, time) -> (batch, size).

    Parameters
    ----------
    mask_array_input_name : str, optional
        The network input whose mask (batch, time) says which steps count; without, the last step is taken whatever masks say.
    """

    mask_array_input_name: str | None = None

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        (given,) = input_types
        if not isinstance(given, InputTypeRecurrent):
            raise ConfigurationError(f"LastTimeStepVertex takes time series; got {given!r}")
        refuse_channels_last("LastTimeStepVertex", given)
        return InputType.feed_forward(given.size)

    def named_inputs(self) -> tuple[str, ...]:
        return _names(self.mask_array_input_name)

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        mask = masks[1] if len(masks) > 1 else None
        return inputs[0][:, :, -1] if mask is None else sd.add_op(LastUnmaskedStep(), [inputs[0], mask])

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return None


@vertex(PACKAGE + "rnn.DuplicateToTimeSeriesVertex")
class DuplicateToTimeSeriesVertex(GraphVertex, DuplicateToTimeSeriesVertexNames):
    """Repeats rows for every step of a network input. Shapes: x (batch, size) -> (batch, size, time).

    Parameters
    ----------
    input_name : str
        The network input whose number of steps, and mask, the result has.
    """

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
class ReverseTimeSeriesVertex(GraphVertex, ReverseTimeSeriesVertexNames):
    """Reverses time series; with a mask the steps that it leaves, among their places, and the others become 0.

    Shapes: x (batch, size, time) -> the same.

    Parameters
    ----------
    mask_array_input_name : str, optional
        The network input whose mask (batch, time) says which steps count; without, all do.
    """

    mask_array_input_name: str | None = None

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        (given,) = input_types
        if not isinstance(given, InputTypeRecurrent):
            raise ConfigurationError(f"ReverseTimeSeriesVertex takes time series; got {given!r}")
        refuse_channels_last("ReverseTimeSeriesVertex", given)
        return given

    def named_inputs(self) -> tuple[str, ...]:
        return _names(self.mask_array_input_name)

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        mask = masks[1] if len(masks) > 1 else None
        if mask is None:
            return sd.call("base", "reverse", inputs[0], 2)  # type: ignore[no-any-return]
        return sd.add_op(ReverseUnmasked(), [inputs[0], mask])  # type: ignore[no-any-return]


def _names(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)
