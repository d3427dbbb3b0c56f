"""Recurrent layers."""
from __future__ import annotations

from typing import ClassVar, Self

from ..samediff.configuration import field
from . import automatic
from .activations import ActivationSigmoid, ActivationSoftmax, IActivation
from .base import PACKAGE, FeedForwardLayer, Rule, layer
from .formats import RNNFormat
from .input_type import InputType, InputTypeRecurrent
from .output import BaseOutputLayer, Distributed
from .weight_init import IWeightInit


@layer()
class BaseRecurrentLayer(FeedForwardLayer):
    """A layer over time series. Shapes: x (batch, n_in, time) -> (batch, n_out, time); (batch, time, size) for NWC."""

    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    weight_names: ClassVar[tuple[str, ...]] = ("W", "RW")
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    weight_init_recurrent: IWeightInit | None = field(default=None, json="weightInitFnRecurrent")
    rnn_data_format: RNNFormat = field(default=RNNFormat.NCW, aliases=("data_format",))

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.recurrent(self.n_out, input_type.time_series_length, input_type.format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return self.replace(rnn_data_format=input_type.format).with_n_in(input_type.size, override)


@layer(PACKAGE + "recurrent.SimpleRnn")
class SimpleRnn(BaseRecurrentLayer):
    """``h[t] = activation(x[t] @ W + h[t-1] @ RW + b)``, with layer normalization if asked for."""

    has_layer_norm: bool = False


@layer()
class AbstractLSTM(BaseRecurrentLayer):
    """What the LSTM layers share."""

    forget_gate_bias_init: float = 1.0
    gate_activation: IActivation = field(
        default=ActivationSigmoid(), json="gateActivationFn", aliases=("gate_activation_function",))
    helper_allow_fallback: bool = True


@layer("LSTM")
class LSTM(AbstractLSTM):
    """Long short-term memory without peepholes (Hochreiter and Schmidhuber, 1997).

    Shapes: x (batch, n_in, time) -> (batch, n_out, time). The columns of W and RW are block input, forget, output
    and input gate.

    Examples
    --------
    >>> LSTM(n_in=3, n_out=5).output_type(InputType.recurrent(3, 7))
    InputTypeRecurrent(size=5, time_series_length=7)
    """


@layer("GravesLSTM")
class GravesLSTM(AbstractLSTM):
    """LSTM with peepholes (Graves, 2012); the last three columns of RW."""


@layer("GravesBidirectionalLSTM")
class GravesBidirectionalLSTM(AbstractLSTM):
    """Two LSTMs with peepholes, one in each direction, added."""

    weight_names: ClassVar[tuple[str, ...]] = ("WF", "RWF", "WB", "RWB")
    bias_names: ClassVar[tuple[str, ...]] = ("bF", "bB")


@layer("RnnOutputLayer")
class RnnOutputLayer(Distributed, BaseOutputLayer):
    """Output layer on every step.

    Shapes: x (batch, n_in, time), labels (batch, n_out, time) -> (batch, n_out, time).
    """

    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    activation: IActivation | None = field(default=ActivationSoftmax(), json="activationFn")
    rnn_data_format: RNNFormat | None = field(default=None, aliases=("data_format",))
    loss_uses_feature_mask: ClassVar[bool] = False
    masks_activations: ClassVar[bool] = True

    @property
    def channels_last(self) -> bool:
        return self.rnn_data_format is RNNFormat.NWC

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.recurrent(self.n_out, input_type.time_series_length, input_type.format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        form = input_type.format if self.rnn_data_format is None or override else self.rnn_data_format
        return self.replace(rnn_data_format=form).with_n_in(input_type.size, override)
