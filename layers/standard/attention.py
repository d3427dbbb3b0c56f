"""Attention layers (Vaswani et al., 2017) over time series (batch, size, time)."""
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from ...samediff.errors import ConfigurationError
from ..base import automatic
from ..base.base import Rule, layer
from ..custom.samediff_base import GraphDefinedHiddenLayer
from ..functions.activations import Activation
from ..ops.recurrent_attention_op import RecurrentAttention
from ..types.input_type import InputType, InputTypeRecurrent
from ..types.parameters import LayerScope, ParameterTable
from .recurrent import elementwise_op
from .recurrent_steps import attending_steps

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable


@layer()
class AttentionLayer(GraphDefinedHiddenLayer):
    """What attention layers share; ``head_size`` is ``n_out // n_heads`` unless given."""

    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    n_in: int = 0
    n_out: int = 0
    n_heads: int = 0
    head_size: int = 0
    project_input: bool = False

    def validate(self) -> None:
        if not self.project_input and self.n_heads > 1:
            raise ConfigurationError(f"{self.label}: several heads need project_input")
        if not self.project_input and self.n_in and self.n_out and self.n_in != self.n_out:
            raise ConfigurationError(f"{self.label}: without project_input n_in and n_out must be equal; "
                                     f"got {self.n_in} and {self.n_out}")
        if self.project_input and not self.head_size and self.n_heads:
            if self.n_out % self.n_heads:
                raise ConfigurationError(f"{self.label}: n_out {self.n_out} is no multiple of n_heads {self.n_heads}")
            self.__dict__["head_size"] = self.n_out // self.n_heads

    def define_projections(self, params: ParameterTable, queries: int) -> None:
        """Wq, Wk, Wv (heads, head size, features) and Wo (heads * head size, n_out), with the fans of DL4J."""
        joined = self.n_heads * self.head_size
        for name, size in (("Wq", queries), ("Wk", self.n_in), ("Wv", self.n_in)):
            params.weight(name, (self.n_heads, self.head_size, size), fan_in=joined, fan_out=self.n_out)
        params.weight("Wo", (joined, self.n_out), fan_in=self.n_in, fan_out=self.head_size)

    def define_parameters(self, params: ParameterTable) -> None:
        """Projections, when the input is projected."""
        if self.project_input:
            self.define_projections(params, self.n_in)

    def attend(self, sd: SameDiff, queries: SDVariable, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """Dot-product attention of the queries over the steps of ``x``."""
        if not self.project_input:
            return sd.call("nn", "dot_product_attention", queries, x, x, mask, True)  # type: ignore[no-any-return]
        weights = [params[n] for n in ("Wq", "Wk", "Wv", "Wo")]
        return sd.call("nn", "multi_head_dot_product_attention", queries, x, x, *weights, mask, True)  # type: ignore[no-any-return]

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return self.attend(sd, x, x, params, mask)

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.recurrent(self.n_out if self.project_input else self.n_in, self.length(input_type))

    def length(self, input_type: InputTypeRecurrent) -> int:
        """Return the number of steps of the result."""
        return input_type.time_series_length

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        if self.n_in > 0 and not override:
            return self
        size = input_type.size
        return self.replace(n_in=size) if self.project_input else self.replace(n_in=size, n_out=size)


@layer("SelfAttentionLayer")
class SelfAttentionLayer(AttentionLayer):
    """Every step attends over all steps. Shapes: x (batch, n_in, time) -> (batch, n_out, time)."""


@layer("LearnedSelfAttentionLayer")
class LearnedSelfAttentionLayer(AttentionLayer):
    """Learned queries attend over all steps. Shapes: x (batch, n_in, time) -> (batch, n_out, n_queries)."""

    n_queries: int = 0

    def define_parameters(self, params: ParameterTable) -> None:
        params.weight("Q", (1, self.n_in, self.n_queries), fan_in=self.n_in, fan_out=self.n_queries)
        super().define_parameters(params)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The same queries for every example."""
        zeros = sd.call("base", "expand_dims", sd.call("nn", "zero_state", x, 1), 2)
        return self.attend(sd, params["Q"] + zeros, x, params, mask)

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return None

    def length(self, input_type: InputTypeRecurrent) -> int:
        return self.n_queries


@layer("RecurrentAttentionLayer")
class RecurrentAttentionLayer(AttentionLayer):
    """A simple recurrent layer whose previous output attends over all steps."""

    project_input: bool = True
    has_bias: bool = True
    activation: Activation | None = Activation.TANH
    time_steps: int = 0

    def define_parameters(self, params: ParameterTable) -> None:
        """W, RW, the projections, then b."""
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)
        params.weight("RW", (self.n_out, self.n_out), fan_in=self.n_out, fan_out=self.n_out)
        if self.project_input:
            self.define_projections(params, self.n_out)
        if self.has_bias:
            params.bias("b", (self.n_out,))

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        activation = (self.activation or Activation.TANH).get_activation_function()
        function = elementwise_op(activation)
        if function is None:
            return attending_steps(sd, x, params, mask, activation, self.n_out)
        given = [params.get(n) for n in ("W", "RW", "b", "Wq", "Wk", "Wv", "Wo")]
        return sd.add_op(RecurrentAttention(function), [x, *given, mask])  # type: ignore[no-any-return]

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.recurrent(self.n_out, input_type.time_series_length)
