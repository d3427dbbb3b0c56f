"""Attention layers (Vaswani et al., 2017) over time series (batch, size, time)."""
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from ...samediff.configuration.declaring import Convertible
from ...samediff.errors import ConfigurationError
from ..base import automatic
from ..base.base import Rule, layer
from ..custom.samediff_base import GraphDefinedHiddenLayer
from ..functions.activations import Activation
from ..ops.recurrent_attention_op import RecurrentAttention
from ..types.input_type import InputType, InputTypeRecurrent
from ..types.java_names import AttentionLayerNames, LearnedSelfAttentionLayerNames, RecurrentAttentionLayerNames, SelfAttentionLayerNames
from ..types.parameters import LayerScope, ParameterTable
from .recurrent import elementwise_op
from .recurrent_steps import attending_steps

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["AttentionLayer", "LearnedSelfAttentionLayer", "RecurrentAttentionLayer", "SelfAttentionLayer"]


@layer()
class AttentionLayer(GraphDefinedHiddenLayer, AttentionLayerNames):
    """Base of attention layers: steps of ``x`` are weighted by softmax(query · key / sqrt(size)) and added up, for each head.

    With ``project_input`` queries, keys and values are products of the steps with Wq, Wk and Wv (n_heads, head_size, features), and the
    joined heads one with Wo (n_heads * head_size, n_out); without, the steps themselves. Masked steps get no weight.

    Parameters
    ----------
    n_in : int
        Size of one step; 0 where the input type says it.
    n_out : int
        Size of one step of the result. Without ``project_input`` it must be ``n_in``.
    n_heads : int
        Number of heads, which attend side by side; above 1 only with ``project_input``.
    head_size : int
        Size of queries, keys and values of one head; 0 for ``n_out // n_heads``, which must divide.
    project_input : bool
        Whether there are weights. Default False, for `RecurrentAttentionLayer` True.
    """

    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    reads_channels_first: ClassVar[bool] = True
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
            self._put(head_size=self.n_out // self.n_heads)

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
class SelfAttentionLayer(AttentionLayer, SelfAttentionLayerNames):
    """Every step attends over all steps. Shapes: x (batch, n_in, time) -> (batch, n_out, time).

    Examples
    --------
    >>> from dl4py.layers import InputType
    >>> layer = SelfAttentionLayer(n_in=6, n_out=4, n_heads=2, project_input=True)
    >>> layer.head_size, layer.output_type(InputType.recurrent(6, 10))
    (2, InputTypeRecurrent(size=4, time_series_length=10))
    """


@layer("LearnedSelfAttentionLayer")
class LearnedSelfAttentionLayer(AttentionLayer, LearnedSelfAttentionLayerNames):
    """Learned queries attend over all steps. Shapes: x (batch, n_in, time) -> (batch, n_out, n_queries).

    Parameters
    ----------
    n_queries : int
        Number of learned queries, the parameter Q (1, n_in, n_queries), and so the length of the result.
    """

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
class RecurrentAttentionLayer(AttentionLayer, RecurrentAttentionLayerNames):
    """``h[t] = activation(x[t] @ W + attention(h[t-1], x) @ RW + b)``: the previous output attends over all steps of x.

    At the first step nothing does. Shapes: x (batch, n_in, time) -> (batch, n_out, time).

    Parameters
    ----------
    has_bias : bool
        Whether there is ``b`` (n_out,); True by default.
    activation : Activation or str
        Tanh by default; that of the network is not taken.
    time_steps : int
        DL4J's length of the series, kept in files; here series of any length are taken.
    """

    project_input: bool = True
    has_bias: bool = True
    activation: Convertible[Activation | None] = Activation.TANH
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
