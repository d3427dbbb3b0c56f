"""Vertices around a preprocessor or another vertex."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ...samediff.training.updaters.updaters import NoOp
from ..preprocessors import InputPreProcessor
from ..types.input_type import InputType
from ..types.java_names import FrozenVertexNames, PreprocessorVertexNames
from ..types.parameters import LayerScope, Parameter
from .base import GraphVertex, vertex

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable
    from ...samediff.training.updaters.regularization import Regularization
    from ...samediff.training.updaters.updater import IUpdater

__all__ = ["FrozenVertex", "PreprocessorVertex"]


@vertex("PreprocessorVertex")
class PreprocessorVertex(GraphVertex, PreprocessorVertexNames):
    """A preprocessor as a vertex of its own.

    Parameters
    ----------
    pre_processor : InputPreProcessor
        Acts on the only input, and its mask.
    """

    pre_processor: InputPreProcessor

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        return self.pre_processor.output_type(input_types[0])

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return self.pre_processor.define(sd, inputs[0])

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return self.pre_processor.define_mask(sd, masks[0], inputs[0])


@vertex("FrozenVertex")
class FrozenVertex(GraphVertex, FrozenVertexNames):
    """A vertex whose parameters do not train.

    Parameters
    ----------
    underlying : GraphVertex
        The vertex, which takes the same inputs.
    """

    frozen: ClassVar[bool] = True
    underlying: GraphVertex

    def output_type(self, *input_types: InputType) -> InputType:
        return self.underlying.get_output_type(0, *input_types)

    def check_count(self, n: int) -> None:
        self.underlying.check_count(n)

    def with_input_types(self, *input_types: InputType) -> GraphVertex:
        return self.replace(underlying=self.underlying.with_input_types(*input_types))

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return self.underlying.define_vertex(sd, inputs, params, masks)

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return self.underlying.feed_forward_masks(sd, masks, inputs)

    def named_inputs(self) -> tuple[str, ...]:
        return self.underlying.named_inputs()

    def parameter_table(self) -> list[Parameter]:
        """Those of the vertex inside."""
        table = getattr(self.underlying, "parameter_table", None)
        return table() if table else []

    def updater_for(self, parameter: Parameter) -> IUpdater:
        """None that changes anything."""
        return NoOp()

    def regularization_for(self, parameter: Parameter) -> tuple[Regularization, ...]:
        """None: the parameters do not train."""
        return ()

    def initial_values(self, rng: Any, dtype: Any) -> dict[str, Any]:
        """As the vertex inside has them."""
        draw = getattr(self.underlying, "initial_values", None)
        return draw(rng, dtype) if draw else {}
