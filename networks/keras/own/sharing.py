"""Layers that are called several times: one member has the parameters, the others use them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ....layers.base.base import Layer
from ....layers.standard.inside import inside
from ....layers.types.input_type import InputType
from ....layers.types.parameters import Parameter
from ....layers.vertices.base import GraphVertex, vertex
from ....samediff.configuration.configuration import Configuration

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable


@vertex("dl4py.keras.Shared")
class SharedVertex(GraphVertex):
    """A layer or vertex with the parameters of another member of the graph, which is of the same kind.

    Parameters
    ----------
    underlying : Layer or GraphVertex
        What is computed.
    parameters_of : str
        The name of the member whose parameters it is computed with.
    """

    max_inputs: ClassVar[int | None] = None
    underlying: Configuration
    parameters_of: str

    @property
    def _inner(self) -> Any:
        return self.underlying

    def shared_parameters(self) -> list[Parameter]:
        """The parameters that the other member has to have."""
        return self._inner.parameter_table()  # type: ignore[no-any-return]

    def apply_global_config(self, given: Any) -> Self:
        """Return a copy with the network's values where what is inside has none of its own."""
        return self.replace(underlying=self._inner.apply_global_config(given)) if hasattr(self._inner, "apply_global_config") else self

    def output_type(self, *input_types: InputType) -> InputType:
        return self._inner.get_output_type(0, *input_types)  # type: ignore[no-any-return]

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        if isinstance(self.underlying, Layer):
            return inside(self.underlying, sd, inputs[0], params, masks[0])
        return self._inner.define_vertex(sd, inputs, params, masks)  # type: ignore[no-any-return]

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        if isinstance(self.underlying, Layer):
            return self.underlying.feed_forward_mask(sd, masks[0], inputs[0])
        return self._inner.feed_forward_masks(sd, masks, inputs)  # type: ignore[no-any-return]
