"""The op that calls a sub-graph."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec
from ...families.subgraph import SubGraph
from ...families.subgraph_args import SubGraphArgs
from ...ir.op import Op, op
from ...ir.run_context import RunContext

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("call_graph", inputs="*values", stateful=True, heeds="runs a graph of its own", file=SubGraphArgs())
class Invoke(Op):
    """Runs a graph of its own on the inputs."""

    graph: SubGraph

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Shapes and types of the results of the graph."""
        return tuple(self.graph.infer(*specs))

    def compute(self, xp: Any, *values: Any, context: RunContext) -> Any:  # type: ignore[override]  # stateful
        """The results of the graph."""
        return tuple(self.graph.run(values, context))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """A call of the gradient of the graph."""
        if not self.graph.floating:
            return [None] * len(inputs)
        upstream = [output_grads[i] for i in self.graph.floating_outputs]
        found = dict(zip(self.graph.floating, inputs[0].sd.add_op(Invoke(self.graph.gradient), [*inputs, *upstream])))
        return [found.get(i) for i in range(len(inputs))]
