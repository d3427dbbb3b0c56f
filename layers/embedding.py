"""Layers that look up a row of weights for each index."""
from __future__ import annotations

from typing import ClassVar, Self

from ..samediff.configuration import field
from . import automatic
from .activations import ActivationIdentity, IActivation
from .base import FeedForwardLayer, Rule, layer
from .formats import RNNFormat
from .input_type import (
    InputType,
    InputTypeFeedForward,
    InputTypeRecurrent,
)


@layer("EmbeddingLayer")
class EmbeddingLayer(FeedForwardLayer):
    """``activation(W[index] + b)`` for one index per example. Shapes: x (batch, 1) -> (batch, n_out)."""

    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    activation: IActivation | None = field(default=ActivationIdentity(), json="activationFn")
    has_bias: bool = False


@layer("EmbeddingSequenceLayer")
class EmbeddingSequenceLayer(FeedForwardLayer):
    """One vector per step of a series of indices.

    Shapes: x (batch, time) or (batch, 1, time) -> (batch, n_out, time).
    """

    preprocessor_rule: ClassVar[Rule] = automatic.flattened
    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    activation: IActivation | None = field(default=ActivationIdentity(), json="activationFn")
    has_bias: bool = False
    input_length: int = 1
    infer_input_length: bool = True
    output_format: RNNFormat = field(default=RNNFormat.NCW, aliases=("output_data_format",))

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeFeedForward, InputTypeRecurrent)
        return InputType.recurrent(self.n_out, self.input_length, self.output_format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        if isinstance(input_type, InputTypeRecurrent):
            return self.with_n_in(input_type.size, override)
        return self.with_n_in(input_type.array_elements_per_example(), override)
