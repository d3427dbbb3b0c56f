"""Vertices between time series and rows."""
from __future__ import annotations

from ...samediff.errors import ConfigurationError
from ..formats import RNNFormat
from ..input_type import InputType, InputTypeFeedForward, InputTypeRecurrent
from .base import PACKAGE, GraphVertex, vertex


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


@vertex(PACKAGE + "rnn.ReverseTimeSeriesVertex")
class ReverseTimeSeriesVertex(GraphVertex):
    """Reverses time series; with the mask of the named network input only the valid steps."""

    mask_array_input_name: str | None = None

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        (given,) = input_types
        if not isinstance(given, InputTypeRecurrent):
            raise ConfigurationError(f"ReverseTimeSeriesVertex takes time series; got {given!r}")
        return given
