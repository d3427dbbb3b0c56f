"""Vertices that users write as a graph, with DL4J's method names."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...samediff.configuration.declaring import configuration, field
from ...samediff.errors import ConfigurationError
from ...samediff.ir.variable import SDVariable
from ..base import user_methods
from ..base.user_methods import routed
from ..custom.parameter_declarations import DeclaresParameters, SDVertexParams
from ..functions.weight_noise import IWeightNoise
from ..ops.step_ops import ones_mask
from ..types.formats import MaskState
from ..types.input_type import InputType
from ..types.java_names import SameDiffLambdaVertexNames, SameDiffVertexNames, VertexInputsNames
from .attention import GraphDefinedVertex
from .base import any_of

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff

__all__ = ["SameDiffLambdaVertex", "SameDiffVertex", "VertexInputs"]


@configuration
class SameDiffVertex(DeclaresParameters, GraphDefinedVertex, SameDiffVertexNames):
    """A vertex of one's own with several inputs and parameters (DL4J's ``SameDiffVertex``).

    Write ``define_parameters_and_inputs``, ``define_vertex``, ``initialize_parameters`` and, where types or masks are
    used, ``get_output_type`` and ``feed_forward_mask_arrays``.

    Parameters
    ----------
    weight_noise : IWeightNoise, optional
        Acts on weights in each forward pass while training; that of the network where left out.

    Examples
    --------
    >>> from dl4py.layers import vertex
    >>> @vertex("example.Gate")
    ... class Gate(SameDiffVertex):
    ...     n: int = 0
    ...     def define_parameters_and_inputs(self, params):
    ...         params.define_inputs("value", "gate")
    ...         params.add_weight_param("W", self.n, self.n)
    ...     def define_vertex(self, sd, inputs, param_table, masks):
    ...         return inputs["value"] * sd.nn.sigmoid(inputs["gate"].mmul(param_table["W"]))
    >>> Gate(n=3).num_params()
    9
    """

    weight_noise: IWeightNoise | None = field(default=None, omit_none=True)
    validates_several: ClassVar[bool] = True

    def define_parameters_and_inputs(self, params: SDVertexParams) -> None:
        """Name the inputs, declare weights and biases."""
        raise NotImplementedError(f"{type(self).__name__} must implement define_parameters_and_inputs(self, params)")

    def define_vertex(self, sd: SameDiff, inputs: Any, *args: Any, **kwargs: Any) -> SDVariable:
        """Build the graph and return the activations: ``define_vertex(self, sd, inputs, param_table, masks)``.

        ``inputs`` and ``masks`` are keyed by input name, absent masks are ones; ``param_table`` is keyed by the name of the parameter.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement define_vertex(self, sd, inputs, param_table, masks)")

    def declared(self) -> SDVertexParams:
        params = SDVertexParams(self.label)
        user_methods.call(self, self.define_parameters_and_inputs, params)
        return params

    def get_vertex_params(self) -> SDVertexParams:
        """The declared parameters and inputs."""
        return self.declared()

    def get_output_type(self, layer_index: int, *input_types: InputType) -> InputType:
        """The type of the activations; override it where types of networks are used."""
        raise ConfigurationError(f"{self.label} must implement get_output_type(self, layer_index, *input_types)")

    def output_type(self, *input_types: InputType) -> InputType:
        return self.get_output_type(0, *input_types)

    def validate_input(self, xs: list[Any]) -> None:
        """Raise an exception to refuse the arrays of a batch."""

    def feed_forward_mask_arrays(self, masks: list[Any], current_mask_state: MaskState, minibatch_size: int) -> Any:
        """Mask and state for what follows; None for no mask. ``masks`` holds variables, None where there is none."""
        raise ConfigurationError(f"{self.label} got a mask and must implement "
                                 "feed_forward_mask_arrays(self, masks, current_mask_state, minibatch_size)")

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        if all(m is None for m in masks):
            return None
        found = user_methods.call(self, self.feed_forward_mask_arrays, masks, MaskState.Active, -1)
        return found[0] if isinstance(found, (tuple, list)) else found  # type: ignore[no-any-return]

    def apply_global_config_to_layer(self, given: Any) -> Any:
        """Set further values from those of the network where this vertex has none."""

    def apply_global_config(self, given: Any) -> Self:
        own = super().apply_global_config(given).replace(weight_noise=self.weight_noise or given.weight_noise)
        return own.changed(lambda copy: copy.apply_global_config_to_layer(given))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        routed(cls, "define_vertex", "_define")

    def _define(self, author: Callable[..., Any], sd: SameDiff, inputs: Any, *rest: Any) -> SDVariable:
        """The network gives lists; a subclass that calls its base gives what it got."""
        if not isinstance(inputs, list):
            return user_methods.variable(self, author, sd, inputs, *rest)
        inputs = user_methods.checked(self, sd, inputs, SameDiffVertex.validate_input)
        return user_methods.variable(self, author, sd, *self._arguments(inputs, *rest))

    def _arguments(self, inputs: list[SDVariable], params: Any, masks: list[SDVariable | None]) -> tuple[Any, ...]:
        names = self.declared().get_inputs()
        if len(names) != len(inputs):
            raise ConfigurationError(f"{self.label} names {len(names)} inputs ({', '.join(names)}) in define_inputs; "
                                     f"the graph gives it {len(inputs)}")
        full = [ones_mask(x) if m is None else m for x, m in zip(inputs, masks)]
        return dict(zip(names, inputs)), params, dict(zip(names, full))


class VertexInputs(VertexInputsNames):
    """The inputs of a lambda vertex, by number.

    Parameters
    ----------
    owner : str
        What errors call the vertex.
    inputs : list of SDVariable
        The inputs in their order.
    """

    def __init__(self, owner: str, inputs: list[SDVariable]) -> None:
        self._owner, self._inputs = owner, inputs

    def get_input(self, i: int) -> SDVariable:
        """Input ``i``, counted from 0."""
        if not 0 <= i < len(self._inputs):
            raise ConfigurationError(f"{self._owner} asks for input {i}; the graph gives it {len(self._inputs)}")
        return self._inputs[i]

    __getitem__ = get_input

    def __iter__(self) -> Iterator[SDVariable]:
        return iter(self._inputs)

    def __len__(self) -> int:
        return len(self._inputs)


@configuration
class SameDiffLambdaVertex(SameDiffVertex, SameDiffLambdaVertexNames):
    """A vertex without parameters: write ``define_vertex(self, sd, inputs)`` and take ``inputs.get_input(0)`` …

    Masks are combined as :class:`MergeVertex` does.
    """

    def define_vertex(self, sd: SameDiff, inputs: VertexInputs) -> SDVariable:  # type: ignore[override]  # DL4J's arguments
        """Build the graph and return the activations."""
        raise NotImplementedError(f"{type(self).__name__} must implement define_vertex(self, sd, inputs)")

    def define_parameters_and_inputs(self, params: SDVertexParams) -> None:
        """None."""

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return any_of(sd, masks)

    def _arguments(self, inputs: list[SDVariable], *rest: Any) -> tuple[Any, ...]:
        return (VertexInputs(self.label, inputs),)

    def parameters_document(self) -> dict[str, Any] | None:
        """None: DL4J finds the inputs by running ``define_vertex``."""
        self.need_name()
        return None
