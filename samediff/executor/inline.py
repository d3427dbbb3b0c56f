"""Ops without a kernel as the nodes that they stand for: these have kernels, are fused, and are shared with the backward pass."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..base.spec import TensorSpec, may_equal
from ..errors import GraphError
from ..expressions.tracing import TraceError
from ..families.decomposed import composition
from ..families.families import Elementwise
from ..families.followed import array_code
from ..families.subgraph import graphs_of
from ..ir.kernel_table import KernelTable
from ..ir.node import Node
from ..ir.op import Expandable, Op

Given = Sequence[TensorSpec | None]


@dataclass(frozen=True)
class Inlined:
    """The replacement of a node: nodes in order, constants that they read, and the names of its results."""

    nodes: tuple[Node, ...]
    constants: dict[str, Any]
    results: tuple[str, ...]


def inlined(node: Node, given: Given, promised: Sequence[TensorSpec], kernels: KernelTable[Any]) -> Inlined | None:
    """The replacement of a node; None where it has a kernel, depends on values of a run, or is faster by its own code.

    Parameters
    ----------
    node : of the graph
    given : what is known of its inputs, values of constants among it
    promised : what its shape rule says of its results
    kernels : of the back end
    """
    op = node.op.plan_rewrite(node.name)
    known = all(s is None or (s.is_static and 0 not in (s.shape or ())) for s in given)
    if not known or (op is None and not _is_code(node.op)) or kernels.kernel(op or node.op, *given) is not None:
        return None
    found = _of_code(node.op, given, promised, kernels) if op is None else _checked_composition(op, given, promised, kernels)
    return None if found is None else _renamed(node, *found)


def _checked_composition(op: Expandable, given: Given, promised: Sequence[TensorSpec],
                         kernels: KernelTable[Any]) -> tuple[Any, Sequence[Any]] | None:
    """The graph and results of an op's composition, checked against its shape rule; None where a user's code has no nodes."""
    try:
        sd, outputs = composition(op, tuple(None if s is None else TensorSpec(s.shape, s.dtype) for s in given))
    except TraceError:      # the code of a user has no nodes
        return None
    if len(outputs) != len(promised) or not all(may_equal(o.spec.shape, s.shape) for o, s in zip(outputs, promised)):
        raise GraphError(f"expand of op {op.id!r} gives {[o.spec for o in outputs]}, its shape rule says {promised}")
    for inner in sd.nodes():
        if graphs_of(inner.op) and not kernels.has(type(inner.op)):         # from Python, step by step
            return None
        if inner.op.stateful and not inner.op.is_shared:                    # its random numbers follow from the name of its node
            return None
    return sd, outputs


def _is_code(op: Op) -> bool:
    """Whether an op is known only by its ``compute``."""
    return not (op.stateful or op.is_view or graphs_of(op) or isinstance(op, Elementwise))


def _of_code(op: Op, given: Given, promised: Sequence[TensorSpec], kernels: KernelTable[Any],
             within: frozenset[type[Op]] = frozenset()) -> tuple[Any, Sequence[Any]] | None:
    """The nodes of ``compute``, where none of them would run Python; not those of an op of a class ``within`` again."""
    if type(op) in within or not _is_code(op):
        return None
    try:
        sd, outputs = array_code(op, given)
    except TraceError:      # code for arrays of NumPy alone; what is wrong with its inputs it says when it runs
        return None
    if [(o.spec.shape, o.spec.dtype) for o in outputs] != [(s.shape, s.dtype) for s in promised]:
        return None
    return (sd, outputs) if all(_runs(n, sd, kernels, within | {type(op)}) for n in sd.nodes()) else None


def _runs(node: Node, sd: Any, kernels: KernelTable[Any], within: frozenset[type[Op]]) -> bool:
    """Whether a node of array code runs as a kernel, a part of a loop, a view, a constant, or as nodes of which this holds."""
    specs = [None if n is None else sd.get_variable(n).spec for n in node.inputs]
    promised = [sd.get_variable(n).spec for n in node.outputs]
    if not all(s is None or (s.is_static and s.dtype.is_numeric) for s in (*specs, *promised)):
        return False
    is_constant = not node.op.stateful and set(range(len(specs))) <= set(node.op.shape_inputs)
    return isinstance(node.op, Elementwise) or node.op.is_view or is_constant or kernels.kernel(node.op, *specs) is not None \
        or _of_code(node.op, specs, promised, kernels, within) is not None


def _renamed(node: Node, sd: Any, outputs: Sequence[Any]) -> Inlined:
    """The nodes of a composition with names of their own in the graph of the node that they take the place of."""
    names: dict[str, str] = {f"in{i}": n for i, n in enumerate(node.inputs) if n is not None}

    def renamed(name: str) -> str:
        return names.get(name, f"{node.name}>{name}")
    constants = {renamed(name): sd.stored(name) for name, variable in sd.variable_map().items() if variable.is_constant()}
    nodes = [Node(renamed(n.name), n.op, tuple(None if i is None else renamed(i) for i in n.inputs), tuple(map(renamed, n.outputs)),
                  node.source, node.control, node.gradient_of) for n in sd.nodes()]
    return Inlined(tuple(nodes), constants, tuple(renamed(o.name()) for o in outputs))
