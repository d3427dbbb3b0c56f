"""Functions of a graph: their nodes take the place of calls; branches and loops keep theirs as graphs."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import FileFormatError, LimitError, MissingOpError
from .conditions import with_conditions
from .loops import with_loops
from .ordering import in_order
from .wire import TensorFlowFunction, TensorFlowNode

MOST_NODES, MOST_DEPTH = 200_000, 50
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
#: Operators that run functions, and the attributes that name these.
_GRAPHS = {**dict.fromkeys(("If", "StatelessIf"), ("then_branch", "else_branch")),
           **dict.fromkeys(("While", "StatelessWhile"), ("cond", "body")), **dict.fromkeys(("Case", "StatelessCase"), ("branches",))}
#: Nodes of branches, for which others wait.
_PIVOTS = ("Identity", "Switch", "RefSwitch")
#: Results of operators that have several of different names, in their order; others have one, which may be a list.
_RESULTS = {
    "TopKV2": ("values", "indices"), "Unique": ("y", "idx"), "UniqueWithCounts": ("y", "idx", "count"),
    "MaxPoolWithArgmax": ("output", "argmax"), "Svd": ("s", "u", "v"), "Lu": ("lu", "p"),
    "LogMatrixDeterminant": ("sign", "log_abs_determinant"), "SoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "SparseSoftmaxCrossEntropyWithLogits": ("loss", "backprop"), "Merge": ("output", "value_index"),
    "TensorListPopBack": ("output_handle", "tensor"), "TensorArrayV3": ("handle", "flow"), "GRUBlockCell": ("r", "u", "c", "h"),
    "StatelessRandomGetKeyCounter": ("key", "counter"), "TopK": ("values", "indices"), "UniqueV2": ("y", "idx"),
    "UniqueWithCountsV2": ("y", "idx", "count"),
    **dict.fromkeys(("TensorListConcat", "TensorListConcatV2"), ("tensor", "lengths")), "TensorArrayConcatV3": ("value", "lengths"),
    **dict.fromkeys(("LSTMBlockCell", "BlockLSTM", "BlockLSTMV2"), ("i", "cs", "f", "o", "ci", "co", "h")),
    "Switch": ("output_false", "output_true"), "Qr": ("q", "r"), "SelfAdjointEigV2": ("e", "v"), "ListDiff": ("out", "idx"),
    "NonMaxSuppressionV4": ("selected_indices", "valid_outputs"),
    "NonMaxSuppressionV5": ("selected_indices", "selected_scores", "valid_outputs"),
    "FusedBatchNormV3": ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"),
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2"), ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"))}


@dataclass(frozen=True)
class TensorFlowGraph:
    """A function as the graph of a branch or loop.

    Parameters
    ----------
    input, output : tuple of str
        Names of its arguments, and of what it gives.
    node : tuple of TensorFlowNode
        What it does, in order.
    """

    input: tuple[str, ...]
    output: tuple[str, ...]
    node: tuple[TensorFlowNode, ...]


def spread(nodes: list[TensorFlowNode], functions: dict[str, TensorFlowFunction],
           wanted: list[str] | None = None) -> list[TensorFlowNode]:
    """The nodes of a graph that are wanted, by default all, without calls of functions.

    Raises
    ------
    MissingOpError
        A function is not there.
    LimitError
        Functions call each other without an end.
    """
    if wanted is None and not any(n.op_type in _CALLS or n.op_type in _GRAPHS for n in nodes):
        return nodes
    known = {n.name: n for n in nodes}
    spreading = _Spreading(functions)
    spreading.run(known, list(known) if wanted is None else wanted, "", {}, 0)
    return list(spreading.made.values())


def with_inner(nodes: Iterable[TensorFlowNode]) -> list[TensorFlowNode]:
    """The nodes and those of the graphs that they run, each graph once."""
    found, graphs = list(nodes), dict[int, TensorFlowGraph]()
    for node in found:                                  # grows while it is read
        for value in node.attributes.values():
            for graph in value if isinstance(value, list) else [value]:
                if isinstance(graph, TensorFlowGraph) and id(graph) not in graphs:
                    graphs[id(graph)] = graph
                    found += graph.node
    return found


def structured(nodes: list[TensorFlowNode], given: Collection[str] = ()) -> list[TensorFlowNode]:
    """The nodes in order, with one in the place of each loop, and branches with their conditions; ``given`` are names from outside."""
    return in_order(with_loops(with_conditions(nodes)), given)


class _Spreading:
    """Puts the nodes of functions in the place of calls of these."""

    def __init__(self, functions: dict[str, TensorFlowFunction]) -> None:
        self.functions = functions
        self.made: dict[str, TensorFlowNode] = {}
        self.graphs: dict[str, TensorFlowGraph] = {}

    def run(self, known: Mapping[str, TensorFlowNode], wanted: list[str], prefix: str, given: Mapping[str, str], depth: int) -> None:
        """Add the nodes of one graph or function that are wanted; ``given`` are its arguments."""
        if depth > MOST_DEPTH:
            raise LimitError(f"functions of the TensorFlow graph call each other more than {MOST_DEPTH} deep")
        done: set[str] = set()
        stack = wanted[::-1]
        while stack:
            name = stack.pop()
            if name in done or name in given:
                continue
            done.add(name)
            node = known.get(name)
            if node is None:
                raise FileFormatError(f"the TensorFlow graph reads {prefix + name!r}, which nothing gives")
            stack += [i.partition(":")[0] for i in node.input]
            stack += [c for c in node.control if c in known and known[c].op_type in _PIVOTS]
            self.add(replace(node, name=prefix + name, control=[prefix + c for c in node.control if c in known],
                             input=[_reference(i, known, prefix, given) for i in node.input]), depth)

    def add(self, node: TensorFlowNode, depth: int) -> None:
        """Add a node, or those of the function that it calls."""
        if len(self.made) > MOST_NODES:
            raise LimitError(f"the TensorFlow graph has more than {MOST_NODES:,} nodes")
        if node.op_type in _GRAPHS:
            graphs = {name: self.named(node, node.attributes.get(name), depth) for name in _GRAPHS[node.op_type]}
            self.made[node.name] = replace(node, attributes={**node.attributes, **graphs})
        elif node.op_type in _CALLS:
            function = self.function(node, node.attributes.get("f"), len(node.input))
            prefix = f"{node.name}/"
            sources = self.body(function, prefix, dict(zip(function.inputs, node.input)), depth + 1)
            kind = "IdentityN" if sources else "NoOp"
            self.made[node.name] = TensorFlowNode(node.name, kind, sources, node.control)
        else:
            self.made[node.name] = node

    def body(self, function: TensorFlowFunction, prefix: str, given: Mapping[str, str], depth: int) -> list[str]:
        """Add the nodes of a function, and name its results."""
        inner = {n.name: n for n in function.nodes}
        results = [function.results.get(o, o) for o in function.outputs]
        self.run(inner, [r.partition(":")[0] for r in results], prefix, given, depth)
        return [_reference(r, inner, prefix, given) for r in results]

    def named(self, node: TensorFlowNode, name: Any, depth: int) -> Any:
        """The graph of a function, or the graphs of a list of functions."""
        if isinstance(name, list):
            return [self.named(node, n, depth) for n in name]
        function = self.function(node, name, len(node.input) - (node.op_type not in ("While", "StatelessWhile")))
        if name not in self.graphs:
            inner = _Spreading(self.functions)
            inner.graphs = self.graphs
            output = inner.body(function, "", {n: n for n in function.inputs}, depth + 1)
            nodes = structured(list(inner.made.values()), function.inputs)
            self.graphs[name] = TensorFlowGraph(tuple(function.inputs), tuple(output), tuple(nodes))
        return self.graphs[name]

    def function(self, node: TensorFlowNode, name: Any, count: int) -> TensorFlowFunction:
        """A function that takes so many arguments."""
        found = self.functions.get(str(name))
        if found is None:
            raise MissingOpError(f"the TensorFlow graph calls the function {name!r} in node {node.name!r}, which it does not have")
        if len(found.inputs) != count:
            raise FileFormatError(f"the function {name!r} of the TensorFlow graph takes {len(found.inputs)} arguments; node {node.name!r} "
                                  f"gives {count}")
        return found


def _reference(name: str, known: Mapping[str, TensorFlowNode], prefix: str, given: Mapping[str, str]) -> str:
    """What a name in a graph or function means outside of it; inside of functions results have names, ``node:values:0``."""
    base, *rest = name.split(":")
    if base in given:
        return given[base]
    place = 0
    if rest:
        place = int(rest[-1]) if rest[-1].isdigit() else 0
        if len(rest) == 2 and base in known:
            names = _RESULTS.get(known[base].op_type, ())
            place += names.index(rest[0]) if rest[0] in names else 0
    return f"{prefix}{base}:{place}" if place else prefix + base
