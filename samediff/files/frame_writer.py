"""The ops ``if`` and ``while`` as DL4J's control flow: switch, merge, enter, exit, next_iteration.

What the graphs inside such an op hold becomes part of the outer graph, under the name of the op.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..base.datatype import DataType
from ..codecs.flatbuffers.properties import PART_OF, make_property
from ..codecs.legacy_table import op_identity
from ..families.subgraph import SubGraph, graphs_of
from ..families.subgraph_args import SubGraphArgs
from ..ir.core import GraphCore
from ..ir.node import Node, needed
from ..ir.op import OPS
from ..ops.control.control import If, While
from .file_graph import FileGraph, FileNode
from .frame_reader import GIVEN
from .node_args import file_args


def has_frames(node: Node) -> bool:
    """Whether a node is a branch or loop of ops that DL4J has too, control flow within it included."""
    if not isinstance(node.op, (If, While)):
        return False
    graphs = graphs_of(node.op)
    return all(n.op.id in OPS and not n.control and (has_frames(n) or not _own_form(n)) for g in graphs for n in _nodes(g))


def add_nodes(file: FileGraph, sd: GraphCore, nodes: Iterable[Node], prefix: str = "", names: Mapping[str, str] = {},
              own_form: bool = False) -> dict[str, str]:
    """Add nodes of a graph, with ``names`` for what comes from around it; all names by those that they had."""
    known = dict(names)

    def rename(name: str) -> str:
        if name not in known:
            known[name] = file.constant(prefix + name, sd.stored(name)) if prefix else name
        return known[name]

    for node in nodes:
        for n in node.outputs:
            known[n] = file.unique(prefix + n) if prefix else n
        outputs = [known[n] for n in node.outputs]
        name = file.unique(prefix + node.name) if prefix and node.name not in node.outputs else known.get(node.name, node.name)
        if not own_form and has_frames(node):
            write = _conditional if isinstance(node.op, If) else _loop
            write(file, sd, node, name, [rename(n) for n in node.inputs if n is not None], outputs)
        else:
            file.add(sd, node, name, rename, outputs)
    return known


def _nodes(graph: SubGraph) -> list[Node]:
    return needed(graph.sd.nodes(), graph.outputs)


def _own_form(node: Node) -> bool:
    args = file_args(type(node.op))
    return isinstance(args, SubGraphArgs) or args.op_type == "UDF"


class _Control:
    """Adds the nodes of one branch or loop."""

    def __init__(self, file: FileGraph, prefix: str) -> None:
        self.file, self.prefix = file, prefix

    def node(self, op: str, inputs: list[str], dtype: DataType, output: str | None = None, **parts: Any) -> list[str]:
        """Add a node; its outputs."""
        kind, number = op_identity(op, "LOGIC")
        name = self.file.unique(f"{self.prefix}/{op}")
        first = output or name
        outputs = [first, self.file.unique(f"{first}:1")] if op == "switch" else [first]
        told = {"op_type": int(kind), "op_num": number, "op_name": op, **parts}
        self.file.nodes.append(FileNode(name, inputs, dict.fromkeys(outputs, dtype), told))
        return outputs


def _conditional(file: FileGraph, sd: GraphCore, node: Node, name: str, inputs: list[str], outputs: list[str]) -> None:
    """Values go through switches into the branches, of which a merge takes the one that ran."""
    op: Any = node.op
    control, (condition, *given) = _Control(file, name), inputs
    switched: dict[str, list[str]] = {}

    def side(outer: str, dtype: DataType) -> list[str]:
        if outer not in switched:
            switched[outer] = control.node("switch", [outer, condition], dtype)
        return switched[outer]

    results: list[list[str]] = []
    for which, (graph, label) in enumerate(((op.no, "falseBody"), (op.yes, "trueBody"))):
        used = _read(graph)
        names = {n: side(outer, graph.sd.variable(n).dtype)[which] for n, outer in zip(_inside(graph), given) if n in used}
        known = add_nodes(file, graph.sd, _nodes(graph), f"{name}/{label}/", names)
        found = [known.get(n) or file.constant(f"{name}/{label}/{n}", graph.sd.stored(n)) for n in graph.outputs]
        live = _following(file, {o for two in switched.values() for o in two})
        results.append([n if n in live else side(n, graph.sd.variable(o).dtype)[which] for n, o in zip(found, graph.outputs)])
    for output, no, yes, inner in zip(outputs, *results, op.yes.outputs):
        control.node("merge", [no, yes], op.yes.sd.variable(inner).dtype, output, properties=(make_property(PART_OF, name),))


def _loop(file: FileGraph, sd: GraphCore, node: Node, name: str, inputs: list[str], outputs: list[str]) -> None:
    """A frame: values enter, a merge joins them with those of the last iteration, a switch sends them on or out."""
    op: Any = node.op
    control, count = _Control(file, name), op.count
    body, condition = op.body, op.condition
    types = [body.sd.variable(n).dtype for n in body.inputs]
    frame = len(file.nodes) + 1

    def enter(outer: str, dtype: DataType, constant: bool) -> str:
        told: dict[str, Any] = {"extra_integer": (frame,), "extra_strings": (name,), "properties": (
            make_property("frameName", name), make_property("isConstant", constant))}
        return control.node("enter", [outer], dtype, None, **told)[0]

    used = [any(n in _read(g) for g, n in ((condition, c), (body, b))) for c, b in zip(_inside(condition), _inside(body))]
    entered = [enter(outer, dtype, False) for outer, dtype in zip(inputs[:count], types)]
    outside = [enter(n, t, True) if there else "" for n, t, there in zip(inputs[count:], types[count:], used[count:])]
    again = [file.unique(f"{name}/NextIteration_{i}") for i in range(count)]
    merged = [control.node("merge", [e, n], t)[0] for e, n, t in zip(entered, again, types)]

    def part(graph: SubGraph, label: str, state: list[str]) -> list[str]:
        names = {n: v for n, v in zip(_inside(graph), [*state, *outside]) if v}
        constants = {n: file.constant(f"{name}/{label}/{n}", graph.sd.stored(n)) for n in sorted(_constants(graph) - set(names))}
        names |= {n: enter(c, graph.sd.variable(n).dtype, True) for n, c in constants.items()}
        known = add_nodes(file, graph.sd, _nodes(graph), f"{name}/{label}/", names)
        return [known[n] for n in graph.outputs]

    (goes_on,) = part(condition, "cond", merged)
    switches = [control.node("switch", [m, goes_on], t) for m, t in zip(merged, types)]
    for (leaving, _), t, output in zip(switches, types, outputs):
        control.node("exit", [leaving], t, output, properties=(make_property(PART_OF, name),))
    after = part(body, "body", [s[1] for s in switches])
    live = _following(file, {s[1] for s in switches})
    for value, new, t in zip(after, again, types):
        inner = value if value in live else control.node("switch", [value, goes_on], t)[1]
        control.node("next_iteration", [inner], t, new)


def _read(graph: SubGraph) -> set[str]:
    return {n for node in _nodes(graph) for n in node.inputs if n is not None} | set(graph.outputs)


def _inside(graph: SubGraph) -> list[str]:
    """The inputs; in place of one that a reader copied into the graph as a constant, that constant."""
    def inside(name: str) -> str:
        copy = name.removesuffix(GIVEN)
        there = copy != name and graph.sd.has_variable(copy) and graph.sd.variable(copy).is_constant()
        return copy if there and name not in _read(graph) else name
    return [inside(n) for n in graph.inputs]


def _constants(graph: SubGraph) -> set[str]:
    made = {n for node in _nodes(graph) for n in node.outputs}
    return {n for n in _read(graph) if n not in made and n not in graph.inputs}


def _following(file: FileGraph, starts: set[str]) -> set[str]:
    """The starts and everything that depends on them, in the order of the file."""
    reached = set(starts)
    for node in file.nodes:
        if reached.intersection(node.inputs):
            reached.update(node.outputs)
    return reached
