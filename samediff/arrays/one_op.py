"""Graphs of one op, kept by its form: for long work, and for calls that stand for several nodes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..base.bounded_cache import BoundedCache
from ..base.datatype import DataType
from ..errors import DL4PyError
from ..ir.graph_class import graph_class
from ..ir.op import Op
from ..ir.run_context import RunContext


class OneOp(NamedTuple):
    """A graph and the names of its results."""

    sd: Any
    names: tuple[str, ...]
    several: bool


_graphs: BoundedCache[Any, OneOp] = BoundedCache(256)


def planned(op: Op, given: Sequence[Any], context: RunContext) -> tuple[Any, ...]:
    """The results of an op by a compiled plan."""
    return _run(_graph(op, given), given, context)


def placed(op: Op, given: Sequence[Any], context: RunContext) -> Any:
    """The result, or a tuple of them, of an op that adds several nodes."""
    try:
        graph = _graph(op, given)
    except DL4PyError:                  # it needs the values, or the inputs do not fit
        graph = _made(op, given, values=True)
    found = _run(graph, given, context)
    return found if graph.several else found[0]


def _graph(op: Op, given: Sequence[Any]) -> OneOp:
    key = (op, *map(type, op.values()), *(None if a is None else (a.dtype, a.shape) for a in given))
    found = _graphs.get(key)
    if found is None:
        found = _graphs[key] = _made(op, given, values=False)
    return found


def _made(op: Op, given: Sequence[Any], values: bool) -> OneOp:
    sd = graph_class()()
    inputs = [None if a is None else sd.constant(f"in{i}", a) if values or 0 in a.shape else
              sd.placeholder(f"in{i}", DataType.of(a.dtype), *a.shape) for i, a in enumerate(given)]
    made = op.place(sd, inputs, None)
    several = isinstance(made, (list, tuple))
    return OneOp(sd, tuple(v.name() for v in (made if several else [made])), several)


def _run(graph: OneOp, given: Sequence[Any], context: RunContext) -> tuple[Any, ...]:
    feeds = {f"in{i}": a for i, a in enumerate(given) if a is not None and graph.sd.variable(f"in{i}").is_place_holder()}
    found = graph.sd.compute_in(context, feeds, graph.names)
    return tuple(found[n] for n in graph.names)
