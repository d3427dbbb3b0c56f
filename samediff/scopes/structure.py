"""Structure of a recording as a key: equal for recordings whose plans are the same."""
from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ..families.subgraph import SubGraph
from ..ir.node import needed
from ..ir.op import Op
from .exact import exact


def structure(sd: Any, given: Mapping[str, Any], outputs: Sequence[str]) -> Hashable:
    """The nodes that ``outputs`` take, with attributes, shapes and types; inputs are told apart by their place alone.

    Raises
    ------
    TypeError
        An attribute of an op cannot be a key.
    """
    place: dict[str | None, Any] = {None: None}
    place.update((n, i) for i, n in enumerate(given))
    key: list[Hashable] = [(a.shape, a.dtype) for a in given.values()]
    for node in needed(sd.nodes(), outputs):
        for n in node.inputs:
            if n not in place:
                place[n] = exact(sd.tables.store[n])
        key.append((_op(node.op), node.name if node.op.stateful else "", tuple([place[n] for n in node.inputs])))
        place.update((n, (len(key), i)) for i, n in enumerate(node.outputs))
    return tuple(key), tuple([place[n] if n in place else exact(sd.tables.store[n]) for n in outputs])


def _op(op: Op) -> Hashable:
    return type(op), tuple([_graph(v) if isinstance(v, SubGraph) else exact(v) for v in op.values()])


def _graph(graph: SubGraph) -> Hashable:
    return structure(graph.sd, {n: graph.sd.variable(n).spec for n in graph.inputs}, graph.outputs)
