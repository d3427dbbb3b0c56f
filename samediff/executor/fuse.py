"""Grouping neighbouring elementwise nodes into one loop."""
from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..base.spec import Shape, TensorSpec
from ..families.families import Elementwise
from ..ir.node import Node

#: More arrays than this in one kernel run out of registers.
MAX_ARRAYS = 12

#: Nodes are not fused where more groups than this must be looked at to know that no cycle arises.
MAX_SEARCHED = 1000


@dataclass(eq=False)
class Group:
    """Nodes that run as one unit: one node of any kind, or elementwise ones of one shape."""

    nodes: list[Node]
    shape: Shape | None = None          # shape of the loop; None: not elementwise
    depth: int = 0                      # greater than that of all groups that it depends on
    inputs: list[str] = field(default_factory=list)
    readers: list[Group] = field(default_factory=list)

    @property
    def fused(self) -> bool:
        """True for groups of elementwise nodes, which become one loop."""
        return self.shape is not None


def group(nodes: Sequence[Node], specs: Mapping[str, TensorSpec], fusible: Collection[str]) -> list[Group]:
    """Fuse elementwise nodes of equal output shape where no cycle arises; units come in an order in which they can run.

    Parameters
    ----------
    nodes : in an order in which they can run
    specs : static specs of all variables
    fusible : names of the nodes that may be fused
    """
    owner: dict[str, Group] = {}
    groups: dict[Group, None] = {}
    for node in nodes:
        shape = specs[node.outputs[0]].shape if node.name in fusible else None
        made = Group([node], shape, inputs=[n for n in node.inputs if n is not None])
        groups[made] = None
        for n in node.outputs:
            owner[n] = made
        for before in _before(made, owner):
            before.readers.append(made)
            made.depth = max(made.depth, before.depth + 1)
        if shape is None:
            continue
        for n in list(made.inputs):
            other = owner.get(n)
            current = owner[node.outputs[0]]
            if other is None or other is current or other.shape != shape or not _fits(current, other):
                continue
            if _reaches(current, other, owner) or _reaches(other, current, owner):
                continue
            _merge(other, current, owner)
            del groups[current]
    position = {node.name: i for i, node in enumerate(nodes)}
    for g in groups:
        g.nodes.sort(key=lambda n: position[n.name])
    return _ordered(list(groups), owner)


def _before(group: Group, owner: Mapping[str, Group]) -> list[Group]:
    """The groups whose values a group reads."""
    return [g for g in dict.fromkeys(owner.get(n) for n in group.inputs) if g is not None and g is not group]


def _fits(a: Group, b: Group) -> bool:
    made = {n for g in (a, b) for node in g.nodes for n in node.outputs}
    outside = {n for g in (a, b) for n in g.inputs} - made
    return len(outside) <= MAX_ARRAYS - 2 and len(a.nodes) + len(b.nodes) <= 64


def _reaches(start: Group, target: Group, owner: Mapping[str, Group]) -> bool:
    """True when ``start`` depends on ``target`` by way of a third group, or would have to be searched for too long.

    Groups near ``target`` come first, and none that is not deeper than it.
    """
    seen: set[Group] = {target}
    ahead: list[tuple[int, int, Group]] = []

    def look_before(g: Group) -> None:
        for before in _before(g, owner):
            if before not in seen and before.depth > target.depth:
                seen.add(before)
                heapq.heappush(ahead, (before.depth, len(seen), before))
    look_before(start)
    while ahead:
        if len(seen) > MAX_SEARCHED:
            return True
        _, _, g = heapq.heappop(ahead)
        if target in _before(g, owner):
            return True
        look_before(g)
    return False


def _merge(into: Group, other: Group, owner: dict[str, Group]) -> None:
    into.nodes = [*into.nodes, *other.nodes]
    made = {n for node in into.nodes for n in node.outputs}
    into.inputs = [n for n in dict.fromkeys([*into.inputs, *other.inputs]) if n not in made]
    for node in other.nodes:
        for n in node.outputs:
            owner[n] = into
    into.readers = [g for g in dict.fromkeys((*into.readers, *other.readers)) if g is not into and g is not other]
    for before in _before(into, owner):
        before.readers.append(into)
        into.depth = max(into.depth, before.depth + 1)
    _deepen(into)


def _deepen(group: Group) -> None:
    """Make what reads a group deeper than it."""
    ahead = [group]
    while ahead:
        g = ahead.pop()
        for reader in g.readers:
            if reader.depth <= g.depth:
                reader.depth = g.depth + 1
                ahead.append(reader)


def _ordered(groups: list[Group], owner: Mapping[str, Group]) -> list[Group]:
    done: dict[int, Group] = {}
    stack = [(g, False) for g in reversed(groups)]
    while stack:
        g, ready = stack.pop()
        if id(g) in done:
            continue
        if ready:
            done[id(g)] = g
            continue
        stack.append((g, True))
        stack.extend((b, False) for n in reversed(g.inputs) if (b := owner.get(n)) is not None and b is not g)
    return _ends_early(list(done.values()))


def _ends_early(groups: list[Group]) -> list[Group]:
    """Move groups that nobody reads, such as gradients of parameters, as early as possible, so that their inputs are freed sooner."""
    read = {n for g in groups for n in g.inputs}
    made = {n: i for i, g in enumerate(groups) for node in g.nodes for n in node.outputs}
    order: list[tuple[int, int]] = []
    for i, g in enumerate(groups):
        end = not any(n in read or node.control for node in g.nodes for n in node.outputs)
        order.append((max((made[n] for n in g.inputs if n in made), default=i), 1) if end else (i, 0))
    return [groups[i] for i in sorted(range(len(groups)), key=order.__getitem__)]


def is_fusible(node: Node, specs: Mapping[str, TensorSpec], takes: Callable[[TensorSpec], bool]) -> bool:
    """True for an elementwise node whose sizes are all known, of types that loops take."""
    if not isinstance(node.op, Elementwise) or len(node.outputs) != 1:
        return False
    names = [n for n in (*node.inputs, *node.outputs) if n is not None]
    return all(specs[n].is_static and takes(specs[n]) for n in names)
