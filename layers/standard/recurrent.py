"""Recurrent layers."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError, ShapeError
from ...samediff.families.elementwise import Elementwise
from ...samediff.graph.graph import SameDiff
from ...samediff.ops.recurrent.recurrence import function
from ..base import automatic
from ..base.base import PACKAGE, FeedForwardLayer, Rule, layer
from ..base.defaults import constrainer
from ..functions.activations import ActivationSigmoid, ActivationSoftmax, IActivation
from ..functions.constraints import INPUTS, RECURRENT
from ..functions.weight_init import IWeightInit
from ..types.formats import RNNFormat
from ..types.input_type import InputType, InputTypeRecurrent
from ..types.java_names import (
    AbstractLSTMNames,
    BaseRecurrentLayerNames,
    GravesBidirectionalLSTMNames,
    GravesLSTMNames,
    LSTMNames,
    RnnOutputLayerNames,
    SimpleRnnNames,
)
from ..types.layer_type import LayerType
from ..types.parameters import LayerScope, ParameterTable
from .output import BaseOutputLayer, PerPositionLoss
from .recurrent_steps import lstm_steps, simple_steps

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["LSTM", "AbstractLSTM", "BaseRecurrentLayer", "GravesBidirectionalLSTM", "GravesLSTM", "RnnOutputLayer", "SimpleRnn"]


#: Names of the states that are kept between calls, as in DL4J: the last activations, and the last cells of an LSTM.
PREVIOUS_ACTIVATION, PREVIOUS_CELL = "prevAct", "prevMem"


def elementwise_op(activation: IActivation | None) -> Any:
    """The elementwise op behind an activation function, for ops that apply it at every step; None where it is no single one."""
    if activation is None:
        raise ConfigurationError("a recurrent layer has no activation function; networks give every layer one, otherwise set activation")
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, -1)
    y = activation.define(sd, x)
    if y is x:
        return function("identity")
    node = sd.producer(y.name())
    return node.op if node is not None and len(sd.nodes()) == 1 and isinstance(node.op, Elementwise) else None


def reversed_steps(x: SDVariable) -> SDVariable:
    """The last axis (time) of a series or mask turned round."""
    return x.sd.call("base", "reverse", x, -1)  # type: ignore[no-any-return]


@layer()
class BaseRecurrentLayer(FeedForwardLayer, BaseRecurrentLayerNames):
    """A layer over time series. Shapes: x (batch, n_in, time) -> (batch, n_out, time); (batch, time, size) for NWC.

    Parameters
    ----------
    weight_init_recurrent : WeightInit, str, IWeightInit or Distribution, optional
        First values of ``RW``, the weights of the previous state; those of ``weight_init`` where left out.
    rnn_data_format : RNNFormat or str
        ``NCW`` (default, time last) or ``NWC``; that of the input type where the network has one.
    constrain_input_weights, constrain_recurrent : LayerConstraint or sequence of them, optional
        Constraints on the weights of the inputs and of the previous state, added to ``constraints``.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.RECURRENT
    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    weight_names: ClassVar[tuple[str, ...]] = ("W", "RW")
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    weight_init_recurrent: Convertible[IWeightInit | None] = field(default=None, json="weightInitFnRecurrent")
    rnn_data_format: Convertible[RNNFormat] = field(default=RNNFormat.NCW, aliases=("data_format",))
    constrain_input_weights: InitVar[Any] = constrainer(INPUTS)
    constrain_recurrent: InitVar[Any] = constrainer(RECURRENT)
    if TYPE_CHECKING:       # further names, which `aliases` make
        data_format: InitVar[Any] = None

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.recurrent(self.n_out, input_type.time_series_length, input_type.format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return self.replace(rnn_data_format=input_type.format).with_n_in(input_type.size, override)


    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The series of hidden states."""
        return self.masked_layer(sd, x, params, mask)

    def masked_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The same where ``mask`` zeroes output and carried state of masked steps (wrappers ask for it)."""
        if x.spec.rank not in (None, 3):
            axes = "(batch, time, n_in)" if self.rnn_data_format is RNNFormat.NWC else "(batch, n_in, time)"
            raise ShapeError(f"{self.label} takes series with three axes, {axes}; got an array with {x.spec.rank}")
        last = self.rnn_data_format is RNNFormat.NWC
        series = x.permute(0, 2, 1) if last else x
        hidden: SDVariable = self.recur(sd, series, params, mask)
        return hidden.permute(0, 2, 1) if last else hidden  # type: ignore[no-any-return]

    def recur(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """Hidden states (batch, n_out, time) of x (batch, n_in, time), from the state of the scope."""
        raise NotImplementedError(f"{type(self).__name__} must implement recur(self, sd, x, params, mask)")


@layer(PACKAGE + "recurrent.SimpleRnn")
class SimpleRnn(BaseRecurrentLayer, SimpleRnnNames):
    """``h[t] = activation(x[t] @ W + h[t-1] @ RW + b)``; h is 0 before the first step.

    Parameters
    ----------
    has_layer_norm : bool
        Whether both products are normalized over the outputs and multiplied by gains ``g`` (2 * n_out,); False by default.

    Examples
    --------
    >>> [(p.name, p.shape) for p in SimpleRnn(n_in=3, n_out=5).parameter_table()]
    [('W', (3, 5)), ('RW', (5, 5)), ('b', (5,))]
    """

    has_layer_norm: bool = False

    def define_parameters(self, params: ParameterTable) -> None:
        """W (n_in, n_out), RW (n_out, n_out), b (n_out,)."""
        n = self.n_out
        params.weight("W", (self.n_in, n), fan_in=self.n_in, fan_out=n, order="f")
        params.weight("RW", (n, n), fan_in=n, fan_out=n, order="f", init=self.weight_init_recurrent)
        params.bias("b", (n,), init=self.bias_init)
        if self.has_layer_norm:
            params.weight("g", (2 * n,), order="f", init=self.gain_init, role="gain")

    def recur(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """One sequence op, or a scan where that cannot do it."""
        def run(h0: SDVariable) -> Any:
            op = elementwise_op(self.activation)
            if op is None or self.has_layer_norm:
                assert self.activation is not None
                return simple_steps(sd, x, params, h0, mask, self.activation, self.n_out)
            return sd.call("rnn", "dl4j_simple_rnn", x, params["W"], params["RW"], params["b"], h0, mask, op)

        hidden, last = run(params.state(PREVIOUS_ACTIVATION, x, self.n_out))
        params.keep_state(PREVIOUS_ACTIVATION, last)
        return truncated(sd, hidden, params, lambda zero: run(zero)[0], x, self.n_out)


def truncated(sd: SameDiff, exact: SDVariable, params: LayerScope, run: Callable[[SDVariable], SDVariable], x: SDVariable,
              size: int) -> SDVariable:
    """``exact`` as it is; in truncated back-propagation with DL4J's gradient, that of the same piece run from a zero state.

    DL4J goes back through the whole piece, whatever its backward length says.
    """
    if not params.in_pieces:
        return exact
    from_zero = run(sd.call("nn", "zero_state", x, size))
    return from_zero + sd.call("base", "stop_gradient", exact - from_zero)  # type: ignore[no-any-return]


@layer()
class AbstractLSTM(BaseRecurrentLayer, AbstractLSTMNames):
    """Base of LSTM layers: ``c[t] = f * c[t-1] + i * a`` and ``h[t] = o * activation(c[t])``.

    ``a`` is the activation of the first n_out columns of ``x[t] @ W + h[t-1] @ RW + b``, the gates f, o and i (forget, output, input) the
    gate activation of the next three times n_out. Shapes: W (n_in, 4 n_out), RW (n_out, 4 n_out), with peepholes 3 columns more, b (4
    n_out,).

    Parameters
    ----------
    gate_activation : str, Activation or IActivation
        Of the gates; sigmoid by default (DL4J's ``gateActivationFunction``).
    forget_gate_bias_init : float
        First bias of the forget gates; 1 by default, so that states last at first. The other biases start at 0.
    helper_allow_fallback : bool
        For cuDNN in DL4J; kept in files, without effect here.
    """

    forget_gate_bias_init: float = 1.0
    gate_activation: Convertible[IActivation] = field(
        default=ActivationSigmoid(), json="gateActivationFn", aliases=("gate_activation_function",))
    helper_allow_fallback: bool = True
    peepholes: ClassVar[int] = 0

    def define_parameters(self, params: ParameterTable) -> None:
        """W (n_in, 4 n), RW (n, 4 n + peepholes), b (4 n) whose forget part starts at ``forget_gate_bias_init``."""
        self._direction(params, "", self.weight_init_recurrent)

    def _direction(self, params: ParameterTable, suffix: str, recurrent: IWeightInit | None = None) -> None:
        n = self.n_out
        total = self.n_in + n
        params.weight("W" + suffix, (self.n_in, 4 * n), order="f", fan_in=n, fan_out=total)
        params.weight("RW" + suffix, (n, 4 * n + self.peepholes), order="f", fan_in=n, fan_out=total, init=recurrent)
        params.bias("b" + suffix, (4 * n,), init=self._initial_bias)

    def _initial_bias(self, rng: Any, shape: tuple[int, ...], order: str, dtype: Any) -> Any:
        bias = np.zeros(shape, dtype)
        bias[self.n_out:2 * self.n_out] = self.forget_gate_bias_init
        return bias

    def recur(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return self._lstm(sd, x, params, mask, "")

    def _lstm(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None, suffix: str) -> SDVariable:
        weights = [params[n + suffix] for n in ("W", "RW", "b")]
        ops = elementwise_op(self.activation), elementwise_op(self.gate_activation)

        def run(h0: SDVariable, c0: SDVariable) -> Any:
            if None in ops:
                assert self.activation is not None
                return lstm_steps(sd, x, weights, h0, c0, mask, self.activation, self.gate_activation, self.n_out)
            return sd.call("rnn", "dl4j_lstm", x, *weights, h0, c0, mask, *ops)

        hidden, h, c = run(*(params.state(k + suffix, x, self.n_out) for k in (PREVIOUS_ACTIVATION, PREVIOUS_CELL)))
        params.keep_state(PREVIOUS_ACTIVATION + suffix, h)
        params.keep_state(PREVIOUS_CELL + suffix, c)
        return truncated(sd, hidden, params, lambda zero: run(zero, zero)[0], x, self.n_out)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """Unmasked, as DL4J runs it: a mask reaches an LSTM only through a wrapper."""
        return self.masked_layer(sd, x, params, None)


@layer("LSTM")
class LSTM(AbstractLSTM, LSTMNames):
    """Long short-term memory without peepholes (Hochreiter and Schmidhuber, 1997); formula as of `AbstractLSTM`.

    Shapes: x (batch, n_in, time) -> (batch, n_out, time). A mask reaches it only through a wrapper, as in DL4J.

    Parameters
    ----------
    n_in, n_out, activation, gate_activation, forget_gate_bias_init, weight_init_recurrent, rnn_data_format, updater, dropout, ...
        See `AbstractLSTM`, `BaseRecurrentLayer`, `FeedForwardLayer` and `BaseLayer`.

    Examples
    --------
    >>> LSTM(n_in=3, n_out=5).output_type(InputType.recurrent(3, 7))
    InputTypeRecurrent(size=5, time_series_length=7)
    """


@layer("GravesLSTM")
class GravesLSTM(AbstractLSTM, GravesLSTMNames):
    """LSTM with peepholes (Graves, 2012); otherwise the formula of `AbstractLSTM`.

    Forget and input gate see ``c[t-1]`` times columns 4 n_out and 4 n_out + 2 of RW, the output gate ``c[t]`` times column 4 n_out + 1.
    Shapes: x (batch, n_in, time) -> (batch, n_out, time).
    """

    peepholes: ClassVar[int] = 3


@layer("GravesBidirectionalLSTM")
class GravesBidirectionalLSTM(AbstractLSTM, GravesBidirectionalLSTMNames):
    """Two LSTMs with peepholes, one in each direction, whose outputs are added; each has weights of its own (WF … and WB …).

    Shapes: x (batch, n_in, time) -> (batch, n_out, time). Masks act in both directions. All weights start by ``weight_init``, as in
    DL4J, whatever ``weight_init_recurrent`` says.
    """

    weight_names: ClassVar[tuple[str, ...]] = ("WF", "RWF", "WB", "RWB")
    bias_names: ClassVar[tuple[str, ...]] = ("bF", "bB")
    peepholes: ClassVar[int] = 3

    def define_parameters(self, params: ParameterTable) -> None:
        """WF, RWF, bF, WB, RWB, bB."""
        self._direction(params, "F")
        self._direction(params, "B")

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """Masked in both directions."""
        return self.masked_layer(sd, x, params, mask)

    def recur(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The sum of the forward and the backward series."""
        forward = self._lstm(sd, x, params, mask, "F")
        backward = self._lstm(sd, reversed_steps(x), params, None if mask is None else reversed_steps(mask), "B")
        return forward + reversed_steps(backward)


@layer("RnnOutputLayer")
class RnnOutputLayer(PerPositionLoss, BaseOutputLayer, RnnOutputLayerNames):
    """Output layer on every step.

    Shapes: x (batch, n_in, time), labels (batch, n_out, time) -> (batch, n_out, time).

    Parameters
    ----------
    rnn_data_format : RNNFormat or str, optional
        ``NCW`` (time last, also where left out) or ``NWC``, of x and labels; that of the input type where the network has one.
    activation : str, Activation or IActivation
        Softmax by default, at every step.

    Examples
    --------
    >>> RnnOutputLayer(n_in=8, n_out=3).output_type(InputType.recurrent(8, 20))
    InputTypeRecurrent(size=3, time_series_length=20)
    """

    takes_dropout: ClassVar[bool] = True
    dl4j_type: ClassVar[LayerType | None] = LayerType.RECURRENT
    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    activation: Convertible[IActivation | None] = field(default=ActivationSoftmax(), json="activationFn")
    rnn_data_format: Convertible[RNNFormat | None] = field(default=None, aliases=("data_format",))
    if TYPE_CHECKING:       # further names, which `aliases` make
        data_format: InitVar[Any] = None
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
