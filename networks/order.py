"""The order in which the vertices of a graph run."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..samediff.errors import ConfigurationError


def topological_order(inputs: Sequence[str], vertex_inputs: Mapping[str, Sequence[str]]) -> list[str]:
    """Kahn's algorithm with a queue, successors in ascending index: network inputs first, then vertices as they
    were added.

    Examples
    --------
    >>> topological_order(["in"], {"b": ["a"], "a": ["in"]})
    ['in', 'a', 'b']
    """
    names = [*inputs, *(v for v in vertex_inputs if v not in inputs)]
    index = {name: i for i, name in enumerate(names)}
    waiting = {name: set(vertex_inputs.get(name, ())) for name in names}
    successors: dict[str, list[str]] = {name: [] for name in names}
    for name, sources in waiting.items():
        for source in sources:
            if source not in successors:
                raise ConfigurationError(f"vertex {name!r} has the input {source!r}, which does not exist")
            successors[source].append(name)
    queue = [name for name in names if not waiting[name]]
    order: list[str] = []
    while queue:
        current = queue.pop(0)
        order.append(current)
        for name in sorted(successors[current], key=index.__getitem__):
            waiting[name].discard(current)
            if not waiting[name]:
                queue.append(name)
    if len(order) < len(names):
        left = [name for name in names if name not in order]
        raise ConfigurationError(f"the graph has a cycle among {', '.join(left)}")
    return order
