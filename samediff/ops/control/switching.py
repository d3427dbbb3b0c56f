"""Switch and merge: a value goes one of two ways, and the ways meet again."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...codecs.flatbuffers.properties import OWN
from ...errors import DataTypeError, ShapeError
from ...families.subgraph import SubGraph
from ...ir.node import Node, needed
from ...ir.op import Op, Specs, op, require_same_type
from ...ir.variable import SDVariable, VariableType
from .control import If

if TYPE_CHECKING:
    from ...ir.core import GraphCore


@op("switch_op", api="base.switch_op", inputs="x predicate", file=FileArgs("switch", "LOGIC", properties={OWN: "s:=switch_op"}))
class Switch(Op):
    """Sends x to output 0 where the predicate (BOOL, one element) is false, to output 1 where it is true.

    The output not taken is zeros. A ``merge`` of what is made of both outputs computes only the way taken.
    """

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        x, predicate = specs
        if predicate.dtype is not DataType.BOOL:
            raise DataTypeError(f"the predicate must be BOOL; got {predicate.dtype.name}. Compare something")
        if predicate.is_static and predicate.shape not in ((), (1,)):
            raise ShapeError(f"the predicate needs one element; got shape {predicate.shape}")
        return TensorSpec(x.shape, x.dtype), TensorSpec(x.shape, x.dtype)

    def compute(self, xp: Any, x: Any, predicate: Any) -> Any:
        """x and zeros, in the order that the predicate says."""
        nothing = xp.zeros_like(x)
        return (nothing, x) if bool(predicate.reshape(-1)[0]) else (x, nothing)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient of the output that was taken."""
        sd, predicate = inputs[0].sd, inputs[1]
        no, yes = (sd.add_op(Switch(), [g, predicate])[i] for i, g in enumerate(output_grads))
        return [no + yes, None]


@op("merge_op", api="base.merge", inputs="x y", file=FileArgs("merge", "LOGIC", properties={OWN: "s:=merge_op"}))
class SwitchMerge(Op):
    """Whichever of x and y is there: the one on the way that a ``switch_op`` took; y when both are.

    Raises ShapeError, DataTypeError when they differ in shape or type.
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        require_same_type("merge", *specs)
        return TensorSpec(specs[1].shape, specs[1].dtype)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        """The second input, as both are computed here."""
        return y

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient goes to the second input."""
        return [None, output_grads[0]]

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        """The ways behind the nearest switch as the branches of a conditional; without a switch this op."""
        found = _switch(sd, inputs) if all(isinstance(v, SDVariable) for v in inputs) else None
        if found is None:
            return sd.add_op(self, inputs, names)
        switch, first = found
        no, yes = inputs if first == 0 else reversed(inputs)
        value, predicate = switch.inputs
        graphs = [_branch(sd, switch, i, way.name()) for i, way in enumerate((no, yes))]
        outside = [str(value), *dict.fromkeys(n for g in graphs for n in g.inputs if n not in switch.outputs)]
        given = [sd.variable(n) for n in outside]
        taking = [_taking(g, switch.outputs[i], outside, given) for i, g in enumerate(graphs)]
        return sd.add_op(If(taking[1], taking[0]), [sd.variable(predicate), *given], names)[0]


def _switch(sd: GraphCore, inputs: Sequence[SDVariable]) -> tuple[Node, int] | None:
    """The last switch of which x takes one way alone and y the other; and the way of x."""
    ways = []
    for v in inputs:
        made = needed(sd.nodes(), [v.name()])
        ways.append({n for node in made for n in node.inputs} | {v.name()})
    for node in reversed(sd.nodes()):
        if isinstance(node.op, Switch):
            x, y = ([i for i, n in enumerate(node.outputs) if n in read] for read in ways)
            if len(x) == len(y) == 1 and x != y:
                return node, x[0]
    return None


def _branch(sd: GraphCore, switch: Node, way: int, result: str) -> SubGraph:
    """The nodes from one output of a switch to the result, as a sub-graph of that output and values from outside."""
    start = switch.outputs[way]
    made = {start}
    nodes = []
    for node in needed(sd.nodes(), [result]):
        if made.intersection(node.inputs):
            nodes.append(node)
            made.update(node.outputs)
    sub, inputs = type(sd)(), [start]
    for name in dict.fromkeys([start, *(n for node in nodes for n in node.inputs if n is not None), result]):
        v = sd.variable(name)
        if name not in made and v.is_constant() and not v.dtype.is_floating:      # may be axes or a shape
            sub.tables.add_variable(name, VariableType.CONSTANT, v.spec, sd.stored(name))
        elif name == start or name not in made:
            sub.tables.add_input(name, v.spec)
            inputs += [] if name == start else [name]
    for node in nodes:
        sub.tables.put_node(node, [sd.variable(n).spec for n in node.outputs])
    return SubGraph(sub, inputs, [result])


def _taking(graph: SubGraph, start: str, outside: Sequence[str], given: Sequence[SDVariable]) -> SubGraph:
    """The branch with the inputs of both: the value that is switched first, then those from outside."""
    for name, v in zip(outside[1:], given[1:]):
        if not graph.sd.has_variable(name):
            graph.sd.tables.add_input(name, v.spec)
    return SubGraph(graph.sd, [start, *outside[1:]], graph.outputs)
