"""Attention layers (Vaswani et al., 2017) over time series (batch, size, time)."""
from __future__ import annotations

from typing import ClassVar, Self

from ..samediff.errors import ConfigurationError
from . import automatic
from .activations import Activation
from .base import Rule, layer
from .input_type import InputType, InputTypeRecurrent
from .samediff_base import GraphDefinedHiddenLayer


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

    def length(self, input_type: InputTypeRecurrent) -> int:
        return self.n_queries


@layer("RecurrentAttentionLayer")
class RecurrentAttentionLayer(AttentionLayer):
    """A simple recurrent layer whose previous output attends over all steps."""

    project_input: bool = True
    has_bias: bool = True
    activation: Activation | None = Activation.TANH
    time_steps: int = 0

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.recurrent(self.n_out, input_type.time_series_length)
