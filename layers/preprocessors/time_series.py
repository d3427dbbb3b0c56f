"""Between time series and the rows or images of their single steps.

Rows are time-major: step t of example n is row ``t * batch + n``.
In this file T is time, N the batch, S the size of a step.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.errors import ConfigurationError, ShapeError
from ..ops.series_ops import reshaped
from ..ops.series_ops import to_rows as rows_of
from ..ops.series_ops import to_series as series_of
from ..types.formats import CNN2DFormat, RNNFormat
from ..types.input_type import InputType, InputTypeFeedForward, InputTypeRecurrent
from ..types.java_names import (
    CnnToRnnPreProcessorNames,
    FeedForwardToRnnPreProcessorNames,
    ImageSeriesPreProcessorNames,
    RnnToCnnPreProcessorNames,
    RnnToFeedForwardPreProcessorNames,
    TimeSeriesPreProcessorNames,
)
from .base import PACKAGE, InputPreProcessor, expect_shape, minibatch_of, rank_of

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["CnnToRnnPreProcessor", "FeedForwardToRnnPreProcessor", "RnnToCnnPreProcessor", "RnnToFeedForwardPreProcessor"]


def to_rows(series: Any, form: RNNFormat) -> Any:
    """(N, S, T), or (N, T, S) for NWC, to (T * N, S)."""
    steps = series.transpose(2, 0, 1) if form is RNNFormat.NCW else series.transpose(1, 0, 2)
    return steps.reshape(-1, steps.shape[2])


def to_series(rows: Any, minibatch: int, form: RNNFormat) -> Any:
    """(T * N, S) to (N, S, T), or (N, T, S) for NWC."""
    if minibatch < 1 or rows.shape[0] % minibatch:
        raise ShapeError(f"{rows.shape[0]} rows cannot be the steps of {minibatch} time series")
    steps = rows.reshape(-1, minibatch, rows.shape[1])
    return steps.transpose(1, 2, 0) if form is RNNFormat.NCW else steps.transpose(1, 0, 2)


def mask_to_column(mask: Any) -> Any:
    """(N, T) to (T * N, 1)."""
    return mask.transpose().reshape(-1, 1)


def mask_to_series(mask: Any, minibatch: int) -> Any:
    """(T * N, 1 …) to (N, T)."""
    return mask.reshape(-1, minibatch).transpose()


def mask_rows(sd: SameDiff, mask: SDVariable) -> SDVariable:
    """:func:`mask_to_column` in a graph."""
    return rows_of(sd.call("base", "expand_dims", mask, 1))


def mask_series(sd: SameDiff, mask: SDVariable, batch: SDVariable) -> SDVariable:
    """:func:`mask_to_series` in a graph."""
    series = series_of(reshaped(mask, (-1,)), batch)
    return sd.call("base", "squeeze", series, 1)  # type: ignore[no-any-return]


@configuration
class TimeSeriesPreProcessor(InputPreProcessor, TimeSeriesPreProcessorNames):
    """A preprocessor with time series on one side.

    Parameters
    ----------
    rnn_data_format : RNNFormat or str
        ``NCW`` (default, time last) or ``NWC``: axes of the series.
    """

    rnn_data_format: Convertible[RNNFormat] = RNNFormat.NCW


@configuration(PACKAGE + "RnnToFeedForwardPreProcessor")
class RnnToFeedForwardPreProcessor(TimeSeriesPreProcessor, RnnToFeedForwardPreProcessorNames):
    """Time series (N, S, T) to rows (T * N, S), all examples of the first step first; rows pass through.

    N is the batch, S the size of a step, T time.
    """

    def pre_process(self, array: Any, minibatch: int) -> Any:
        return array if array.ndim == 2 else to_rows(array, self.rnn_data_format)

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        return epsilon if epsilon.ndim == 3 else to_series(epsilon, minibatch, self.rnn_data_format)

    def output_type(self, input_type: InputType) -> InputType:
        self.expect(input_type, "RNN")
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.feed_forward(input_type.size, input_type.format)

    def mask(self, mask: Any, minibatch: int) -> Any:
        return mask_to_column(mask)

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        return x if rank_of(x) == 2 else rows_of(x, self.rnn_data_format is RNNFormat.NWC)

    def define_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable, batch: SDVariable | None = None) -> SDVariable | None:
        return mask if mask is None or rank_of(x) == 2 else mask_rows(sd, mask)


@configuration(PACKAGE + "FeedForwardToRnnPreProcessor")
class FeedForwardToRnnPreProcessor(TimeSeriesPreProcessor, FeedForwardToRnnPreProcessorNames):
    """Rows (T * N, S), all examples of the first step first, to time series (N, S, T).

    N is the batch, S the size of a step, T time.
    """

    def pre_process(self, array: Any, minibatch: int) -> Any:
        return array if array.ndim == 3 else to_series(array, minibatch, self.rnn_data_format)

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        return epsilon if epsilon.ndim == 2 else to_rows(epsilon, self.rnn_data_format)

    def output_type(self, input_type: InputType) -> InputType:
        self.expect(input_type, "FF", "CNNFlat")
        size = input_type.array_elements_per_example()
        form = input_type.time_distributed_format if isinstance(input_type, InputTypeFeedForward) else None
        return InputType.recurrent(size, format=form or self.rnn_data_format)

    def mask(self, mask: Any, minibatch: int) -> Any:
        return mask_to_series(mask, minibatch)

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        return x if rank_of(x) == 3 else series_of(x, minibatch_of(sd, x, batch), self.rnn_data_format is RNNFormat.NWC)

    def define_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable, batch: SDVariable | None = None) -> SDVariable | None:
        return mask if mask is None or rank_of(x) == 3 else mask_series(sd, mask, minibatch_of(sd, x, batch))


@configuration
class ImageSeriesPreProcessor(InputPreProcessor, ImageSeriesPreProcessorNames):
    """Between time series of flattened images and the images of all steps.

    Parameters
    ----------
    input_height, input_width, num_channels : int
        Size of one image.
    rnn_data_format : RNNFormat or str
        ``NCW`` (default, time last) or ``NWC``: axes of the series.
    """

    input_height: int
    input_width: int
    num_channels: int
    rnn_data_format: Convertible[RNNFormat] = RNNFormat.NCW

    def shape(self) -> tuple[int, ...]:
        """Shape of one image."""
        return (self.num_channels, self.input_height, self.input_width)


@configuration(PACKAGE + "CnnToRnnPreProcessor")
class CnnToRnnPreProcessor(ImageSeriesPreProcessor, CnnToRnnPreProcessorNames):
    """Images (T * N, channels, height, width) to time series (N, channels * height * width, T).

    N is the batch, T time.
    """

    def pre_process(self, array: Any, minibatch: int) -> Any:
        expect_shape(self, array, (-1, *self.shape()))
        return to_series(array.reshape(array.shape[0], -1), minibatch, self.rnn_data_format)

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        return to_rows(epsilon, self.rnn_data_format).reshape(-1, *self.shape())

    def output_type(self, input_type: InputType) -> InputType:
        self.expect(input_type, "CNN")
        return InputType.recurrent(input_type.array_elements_per_example(), format=self.rnn_data_format)

    def mask(self, mask: Any, minibatch: int) -> Any:
        return mask_to_series(mask, minibatch)

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        rows = reshaped(x, (-1,), self.shape(), type(self).__name__)
        return series_of(rows, minibatch_of(sd, x, batch), self.rnn_data_format is RNNFormat.NWC)

    def define_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable, batch: SDVariable | None = None) -> SDVariable | None:
        return None if mask is None else mask_series(sd, mask, minibatch_of(sd, x, batch))


@configuration(PACKAGE + "RnnToCnnPreProcessor")
class RnnToCnnPreProcessor(ImageSeriesPreProcessor, RnnToCnnPreProcessorNames):
    """Time series of flattened images (N, channels * height * width, T) to images (T * N, channels, height, width).

    N is the batch, T time.
    """

    def pre_process(self, array: Any, minibatch: int) -> Any:
        return to_rows(array, self.rnn_data_format).reshape(-1, *self.shape())

    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        return to_series(epsilon.reshape(epsilon.shape[0], -1), minibatch, self.rnn_data_format)

    def output_type(self, input_type: InputType) -> InputType:
        self.expect(input_type, "RNN")
        assert isinstance(input_type, InputTypeRecurrent)
        if input_type.size != math.prod(self.shape()):
            raise ConfigurationError(f"{self!r} needs steps of {math.prod(self.shape())} values; got {input_type!r}")
        return InputType.convolutional(self.input_height, self.input_width, self.num_channels, CNN2DFormat.NCHW)

    def mask(self, mask: Any, minibatch: int) -> Any:
        return mask_to_column(mask).reshape(-1, 1, 1, 1)

    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        rows = rows_of(x, self.rnn_data_format is RNNFormat.NWC)
        return reshaped(rows, self.shape(), owner=type(self).__name__)

    def define_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable, batch: SDVariable | None = None) -> SDVariable | None:
        return None if mask is None else reshaped(mask_rows(sd, mask), (1, 1, 1))
