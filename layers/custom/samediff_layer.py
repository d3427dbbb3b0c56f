"""Hidden layers that users write as a graph, with DL4J's method names."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...samediff.configuration.declaring import field
from ...samediff.errors import ConfigurationError
from ...samediff.ir.variable import SDVariable
from ..base import user_methods
from ..base.base import layer
from ..base.defaults import LayerDefaults
from ..base.user_methods import DefaultMask, routed
from ..functions.activations import Activation, IActivation
from ..functions.constraints import ALL, BIASES, WEIGHTS, LayerConstraint
from ..functions.weight_noise import IWeightNoise
from ..ops.step_ops import mask_shape
from ..types.formats import MaskState
from ..types.input_type import InputType
from ..types.java_names import AbstractSameDiffLayerNames, SameDiffLambdaLayerNames, SameDiffLayerNames
from ..types.parameters import LayerScope
from .parameter_declarations import DeclaresParameters, SDLayerParams
from .samediff_base import GraphDefinedHiddenLayer, GraphDefinedLayer

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff

__all__ = ["AbstractSameDiffLayer", "SameDiffLambdaLayer", "SameDiffLayer", "SameDiffLayerUtils"]


@layer()
class AbstractSameDiffLayer(DeclaresParameters, GraphDefinedLayer, AbstractSameDiffLayerNames):
    """Base of hidden and output layers of this kind: parameters, types, values of the network.

    Parameters
    ----------
    weight_noise : IWeightNoise, optional
        Acts on weights in each forward pass while training; that of the network where left out.
    """

    takes_dropout: ClassVar[bool] = True
    validates_several: ClassVar[bool] = False
    weight_noise: IWeightNoise | None = field(default=None, omit_none=True)

    def define_parameters(self, params: SDLayerParams) -> None:  # type: ignore[override]  # DL4J's way of declaring
        """Declare names and shapes; sizes such as ``n_in`` are known by now."""
        raise NotImplementedError(f"{type(self).__name__} must implement define_parameters(self, params)")

    def declared(self) -> SDLayerParams:
        params = SDLayerParams(self.label)
        user_methods.call(self, self.define_parameters, params)
        return params

    def get_layer_params(self) -> SDLayerParams:
        """The declared parameters."""
        return self.declared()

    def get_output_type(self, layer_index: int, input_type: InputType) -> InputType:
        """The type of the activations; every layer behind which types matter must override it."""
        raise ConfigurationError(f"{self.label} must implement get_output_type(self, layer_index, input_type): the type of its "
                                 f"activations for {input_type!r} decides what the next layer gets")

    def output_type(self, input_type: InputType) -> InputType:
        return self.get_output_type(0, input_type)

    def validate_input(self, x: Any) -> None:
        """Raise an exception to refuse the array of a batch."""

    def apply_global_config_to_layer(self, given: LayerDefaults) -> Any:
        """Set further values from those of the network where this layer has none: ``self.activation = given.activation``."""

    def apply_global_config(self, given: LayerDefaults) -> Self:
        return super().apply_global_config(given).changed(lambda copy: copy.apply_global_config_to_layer(given))

    def _resolved(self, constraint: LayerConstraint) -> LayerConstraint:
        first = constraint.params[0] if constraint.params else ""
        if first not in (ALL, WEIGHTS, BIASES):
            return constraint
        params = self.declared()
        names = {ALL: params.get_parameter_keys(), WEIGHTS: params.get_weight_parameter_keys(), BIASES: params.get_bias_parameter_keys()}
        return constraint.replace(params=tuple(names[first]))


@layer()
class SameDiffLayer(AbstractSameDiffLayer, GraphDefinedHiddenLayer, SameDiffLayerNames):
    """A hidden layer of one's own (DL4J's ``SameDiffLayer``): annotated fields are its options.

    Write ``define_parameters``, ``initialize_parameters``, ``get_output_type`` and ``define_layer``; gradients, masks,
    regularization with its score, dropout, constraints, files and any batch size follow. DL4J's camelCase names work too.

    Examples
    --------
    >>> from dl4py.layers import InputType, layer
    >>> @layer("example.Shifted")
    ... class Shifted(SameDiffLayer):
    ...     n: int = 0
    ...     def define_parameters(self, params):
    ...         params.clear()
    ...         params.add_bias_param("b", 1, self.n)
    ...     def get_output_type(self, layer_index, input_type):
    ...         return InputType.feed_forward(self.n)
    ...     def define_layer(self, sd, layer_input, param_table, mask):
    ...         return sd.nn.tanh(layer_input + param_table["b"])
    >>> [p.name for p in Shifted(n=3).parameter_table()]
    ['b']
    """

    def define_layer(self, sd: SameDiff, layer_input: SDVariable, param_table: LayerScope, mask: SDVariable | None) -> SDVariable:  # type: ignore[override]  # DL4J's names of the arguments
        """Build the graph and return the variable of the activations; the mask is one of ones where none was given."""
        raise NotImplementedError(f"{type(self).__name__} must implement define_layer(self, sd, layer_input, param_table, mask)")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        routed(cls, "define_layer", "_define")

    def _define(self, author: Callable[..., Any], sd: SameDiff, x: SDVariable, *rest: Any) -> SDVariable:
        (x,) = user_methods.checked(self, sd, [x], AbstractSameDiffLayer.validate_input)
        return user_methods.variable(self, author, sd, x, *self._arguments(sd, x, *rest))

    def _arguments(self, sd: SameDiff, x: SDVariable, params: Any, mask: SDVariable | None = None) -> tuple[Any, ...]:
        return params, sd.add_op(DefaultMask(self), [x]) if mask is None else mask

    def usual_mask(self, x: Any) -> Any:
        """Ones: (batch, 1) for rows, (batch, time) for series, (batch, 1, 1, 1) for images."""
        return np.ones(mask_shape(x.shape), np.float32)

    ones_mask_for_input = usual_mask

    def feed_forward_mask_array(self, mask: Any, current_mask_state: MaskState, minibatch_size: int) -> Any:
        """Mask and state for the next layer; override it to return ``(None, state)`` and drop the mask.

        ``mask`` is a variable; ``minibatch_size`` is not known yet (-1) and has no effect here.
        """
        return mask, current_mask_state

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        if mask is None:
            return None
        found = user_methods.call(self, self.feed_forward_mask_array, mask, MaskState.Active, -1)
        return found[0] if isinstance(found, (tuple, list)) else found  # type: ignore[no-any-return]


@layer()
class SameDiffLambdaLayer(SameDiffLayer, SameDiffLambdaLayerNames):
    """A hidden layer without parameters: write ``define_layer(self, sd, layer_input)`` (DL4J's ``SameDiffLambdaLayer``).

    Examples
    --------
    >>> from dl4py.layers import layer
    >>> @layer("example.Doubled")
    ... class Doubled(SameDiffLambdaLayer):
    ...     def define_layer(self, sd, layer_input):
    ...         return layer_input * 2
    >>> Doubled().num_params()
    0
    """

    def define_layer(self, sd: SameDiff, layer_input: SDVariable) -> SDVariable:  # type: ignore[override]  # DL4J's arguments
        """Build the graph and return the variable of the activations."""
        raise NotImplementedError(f"{type(self).__name__} must implement define_layer(self, sd, layer_input)")

    def define_parameters(self, params: SDLayerParams) -> None:  # type: ignore[override]
        """None."""

    def _arguments(self, sd: SameDiff, x: SDVariable, *rest: Any) -> tuple[Any, ...]:
        return ()


class SameDiffLayerUtils:
    """DL4J's helper for writers of SameDiff layers."""

    @staticmethod
    def from_i_activation(function: IActivation) -> Activation | None:
        """Return the name of an activation function, None for one that :class:`Activation` does not list."""
        return next((a for a in Activation if a.value == type(function).__name__), None)

    fromIActivation = from_i_activation  # DL4J's spelling
