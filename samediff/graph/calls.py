"""Calls of functions that a file names, bound when the function is there."""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import DL4PyError, GraphError

if TYPE_CHECKING:
    from ..ir.node import Node
    from .graph import SameDiff


def bind_calls(sd: SameDiff, name: str) -> None:
    """Make every call of a function that was missing until now a node that runs it."""
    from ..files.missing_function import MissingFunction
    for node in sd.nodes():
        if isinstance(node.op, MissingFunction) and node.op.function == name:
            try:
                bind(sd, node)
            except DL4PyError as error:
                raise type(error)(f"node {node.name!r} of the file calls function {name!r}: {error}") from error


def bind(sd: SameDiff, node: Node) -> None:
    """Put the function in place of one call; GraphError when inputs or outputs do not fit."""
    from ..ops.control.invoking import Invoke
    from .functions import cut_function
    call: Any = node.op
    function = sd.get_function(call.function)
    inside = list(call.names("inputs") or function.inputs())
    results = list(call.names("outputs") or function.outputs())
    if len(inside) != len(node.inputs) or len(results) < len(node.outputs):
        raise GraphError(f"it takes {len(inside)} inputs ({', '.join(inside)}) and gives {len(results)} results; the call has "
                         f"{len(node.inputs)} and {len(node.outputs)}")
    graph, trained = cut_function(function, call.function, inside, results[:len(node.outputs)])
    with sd._all_or_nothing():
        own = [sd._shared(f"{call.function}/{n}", function.stored(n)).name() for n in trained]
        sd._nodes[node.name] = replace(node, op=Invoke(graph), inputs=(*node.inputs, *own))
        try:
            sd.infer_again()
        except DL4PyError:
            sd._nodes[node.name] = node
            raise
