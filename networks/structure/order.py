"""The order in which the vertices of a graph run, which is also that of their parameters in the flat vector."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...samediff.errors import ConfigurationError


def topological_order(inputs: Sequence[str], vertex_inputs: Mapping[str, Sequence[str]]) -> list[str]:
    """Kahn's algorithm with a queue: network inputs first, then vertices as they were added.

    What a vertex feeds is visited in the order of a Java ``HashSet`` of vertex numbers, as in DL4J: ascending up to 16 vertices.

    Examples
    --------
    >>> topological_order(["in"], {"b": ["a"], "a": ["in"]})
    ['in', 'a', 'b']
    """
    names = [*inputs, *(v for v in vertex_inputs if v not in inputs)]
    index = {name: i for i, name in enumerate(names)}
    waiting = {name: set(vertex_inputs.get(name, ())) for name in names}
    successors: dict[str, list[int]] = {name: [] for name in names}
    for name, sources in waiting.items():
        for source in sources:
            if source not in successors:
                raise ConfigurationError(f"vertex {name!r} has the input {source!r}, which does not exist")
            successors[source].append(index[name])
    queue = [name for name in names if not waiting[name]]
    order: list[str] = []
    while queue:
        current = queue.pop(0)
        order.append(current)
        for name in (names[i] for i in hash_order(successors[current])):
            waiting[name].discard(current)
            if not waiting[name]:
                queue.append(name)
    if len(order) < len(names):
        left = [name for name in names if name not in order]
        raise ConfigurationError(f"the graph has a cycle among {', '.join(left)}")
    return order


def is_topological(order: Sequence[str], inputs: Sequence[str], vertex_inputs: Mapping[str, Sequence[str]]) -> bool:
    """Whether ``order`` has every input and vertex once, each after its inputs."""
    place = {name: i for i, name in enumerate(order)}
    if len(place) != len(order) or place.keys() != {*inputs, *vertex_inputs}:
        return False
    return all(place[source] < place[name] for name, sources in vertex_inputs.items() for source in sources)


def hash_order(numbers: Iterable[int]) -> list[int]:
    """Distinct small numbers in the order in which a Java ``HashSet`` to which they were added one by one lists them.

    Examples
    --------
    >>> hash_order([2, 17, 33])
    [17, 33, 2]
    """
    size = 16
    entries: list[int] = []

    def bucket(number: int) -> int:
        return (number ^ number >> 16) & size - 1

    for number in numbers:
        entries.append(number)
        if size < 64 and sum(bucket(e) == bucket(number) for e in entries) > 8:
            size *= 2
        if len(entries) > size * 3 // 4:
            size *= 2
    return sorted(entries, key=bucket)      # stable: in a bucket as they came
