"""Recurrent layers step by step: the gated recurrent unit, and all cells where masks or the direction ask for it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....layers.base.base import FeedForwardLayer, layer
from ....layers.functions.activations import ActivationSigmoid, IActivation
from ....layers.functions.weight_init import IWeightInit
from ....layers.types.formats import RNNFormat
from ....samediff.configuration.declaring import Convertible, field
from ....samediff.errors import ConfigurationError
from ..shapes import Shape
from .result_shapes import ShapedResult

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope, ParameterTable
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable

GATES = {"simple": 1, "gru": 3, "lstm": 4}


@layer("dl4py.keras.Recurrent")
class Recurrent(ShapedResult, FeedForwardLayer):
    """A recurrent layer with the cell, the order of gates and the masks of Keras. Shapes: x (batch, time, n_in) -> (batch, time, n_out),
    or the last step (batch, n_out).

    Gates stand in the order z, r, h (gated recurrent unit) or i, f, c, o (LSTM). A masked step keeps the state, and repeats the result
    of the step before.

    Parameters
    ----------
    cell : str
        "simple", "gru" or "lstm".
    recurrent_activation : IActivation
        Of the gates; sigmoid by default.
    has_bias : bool
        Whether there is ``b``; True by default.
    reset_after : bool
        Whether the reset gate of a gated recurrent unit acts behind the product with the state, which has a bias of its own then.
    return_sequences : bool
        Whether all steps are the result, or the last alone.
    go_backwards : bool
        Whether the series is read from its end; results are in the order in which they come.
    zero_masked : bool
        Whether results of masked steps are 0.
    weight_init_recurrent : IWeightInit, optional
        First values of ``RW``; those of ``weight_init`` where left out.
    rnn_data_format : RNNFormat
        NWC: steps, then features.
    """

    weight_names: ClassVar[tuple[str, ...]] = ("W", "RW")
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    cell: str = "gru"
    recurrent_activation: Convertible[IActivation] = field(default=ActivationSigmoid())
    has_bias: bool = True
    reset_after: bool = True
    return_sequences: bool = True
    go_backwards: bool = False
    zero_masked: bool = False
    weight_init_recurrent: Convertible[IWeightInit | None] = None
    rnn_data_format: Convertible[RNNFormat] = RNNFormat.NWC

    def validate(self) -> None:
        super().validate()
        if self.cell not in GATES:
            raise ConfigurationError(f"{self.label}: cell must be one of {', '.join(GATES)}; got {self.cell!r}")

    def result_shape(self, shape: Shape) -> Shape:
        return (shape[0], self.n_out) if self.return_sequences else (self.n_out,)

    @property
    def two_biases(self) -> bool:
        """Whether the product with the state has a bias of its own."""
        return self.cell == "gru" and self.reset_after

    def define_parameters(self, params: ParameterTable) -> None:
        """W (n_in, gates * n_out), RW (n_out, gates * n_out), b (gates * n_out), or two rows of it."""
        n = self.n_out
        width = GATES[self.cell] * n
        params.weight("W", (self.n_in, width), fan_in=self.n_in, fan_out=width, order="f")
        params.weight("RW", (n, width), fan_in=n, fan_out=width, order="f", init=self.weight_init_recurrent)
        if self.has_bias:
            params.bias("b", (2, width) if self.two_biases else (width,), init=self._first_bias)

    def _first_bias(self, rng: Any, shape: tuple[int, ...], order: str, dtype: Any) -> Any:
        """Forget gates are open at first."""
        bias = np.zeros(shape, dtype)
        if self.cell == "lstm":
            bias[self.n_out:2 * self.n_out] = 1
        return bias

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the states."""
        return ("h", "c") if self.cell == "lstm" else ("h",)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        series, last = self.run(sd, x, params, mask)
        return series if self.return_sequences else last[0]

    def run(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None,
            first: list[SDVariable] | None = None) -> tuple[SDVariable, list[SDVariable]]:
        """The results of all steps, (batch, time, n_out), and the states behind them; ``first`` are those in front."""
        if self.go_backwards:
            x, mask = sd.call("base", "reverse", x, 1), None if mask is None else sd.call("base", "reverse", mask, 1)
        sequences = [x.permute(1, 0, 2)]
        if mask is not None:
            sequences.append(sd.call("base", "expand_dims", mask.permute(1, 0), 2))

        def step(inner: SameDiff, carries: list[SDVariable], elements: list[SDVariable]) -> Any:
            new = self._step(inner, elements[0], carries, params)
            if mask is None:
                return new, [new[0]]
            seen = elements[1]
            new = [n * seen + c * (1.0 - seen) for n, c in zip(new, carries)]
            return new, [new[0] * seen if self.zero_masked else new[0]]

        last, (states,) = sd.scan(step, first or [params.state(n, x, self.n_out) for n in self.states], sequences)
        for name, state in zip(self.states, () if first else last):         # those of another layer are not kept here
            params.keep_state(name, state)
        return states.permute(1, 0, 2), list(last)

    def _step(self, sd: SameDiff, x: SDVariable, carries: list[SDVariable], params: LayerScope) -> list[SDVariable]:
        """The states behind a step."""
        assert self.activation is not None
        n, h = self.n_out, carries[0]
        w, rw = params["W"], params["RW"]
        bias = params["b"] if self.has_bias else None
        z = x.mmul(w)
        if bias is not None:
            z = z + (bias[0] if self.two_biases else bias)

        def gate(v: SDVariable, k: int) -> SDVariable:
            return v[:, k * n:(k + 1) * n]

        def opened(v: SDVariable) -> SDVariable:
            return self.recurrent_activation.define(sd, v)
        if self.cell == "simple":
            return [self.activation.define(sd, z + h.mmul(rw))]
        if self.cell == "lstm":
            z = z + h.mmul(rw)
            c = opened(gate(z, 1)) * carries[1] + opened(gate(z, 0)) * self.activation.define(sd, gate(z, 2))
            return [opened(gate(z, 3)) * self.activation.define(sd, c), c]
        if self.reset_after:
            inner = h.mmul(rw) if bias is None else h.mmul(rw) + bias[1]
            update, reset = opened(gate(z, 0) + gate(inner, 0)), opened(gate(z, 1) + gate(inner, 1))
            fresh = self.activation.define(sd, gate(z, 2) + reset * gate(inner, 2))
        else:
            inner = h.mmul(rw[:, :2 * n])
            update, reset = opened(gate(z, 0) + gate(inner, 0)), opened(gate(z, 1) + gate(inner, 1))
            fresh = self.activation.define(sd, gate(z, 2) + (reset * h).mmul(rw[:, 2 * n:]))
        return [update * h + (1.0 - update) * fresh]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return mask if self.return_sequences else None
