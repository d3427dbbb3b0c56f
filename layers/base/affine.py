"""Base of layers with a weight matrix: parameters, pre-activations, activations."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...samediff.errors import ConfigurationError
from ..ops.masks import masked
from ..types.parameters import LayerScope, ParameterTable
from .base import FeedForwardLayer

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable
    from ..functions.activations import IActivation


def activated(layer: Any, sd: SameDiff, z: SDVariable) -> SDVariable:
    """The layer's activation function applied to ``z``; ConfigurationError if it has none."""
    activation: IActivation | None = layer.activation
    if activation is None:
        raise ConfigurationError(f"{layer.label} has no activation function; networks give every layer one, otherwise set activation")
    return activation.define(sd, z)


class Affine(FeedForwardLayer):
    """``activation(x @ W + b)`` for layers with ``n_in`` inputs and ``n_out`` outputs. Shapes: x (batch, n_in) -> (batch, n_out)."""

    def define_parameters(self, params: ParameterTable) -> None:
        """Declare W (n_in, n_out), then b (n_out,)."""
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out, order="f")
        if getattr(self, "has_bias", True):
            params.bias("b", (self.n_out,), init=self.bias_init)

    def pre_output(self, sd: SameDiff, x: SDVariable, params: LayerScope) -> SDVariable:
        """The pre-activations ``x @ W + b``."""
        inputs = (params["b"],) if "b" in params else ()
        return sd.call("nn", "linear", x, params["W"], *inputs)  # type: ignore[no-any-return]

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """Pre-activations and activations of masked rows are 0."""
        z = masked(self.pre_output(sd, x, params), mask)
        return masked(activated(self, sd, z), mask)
