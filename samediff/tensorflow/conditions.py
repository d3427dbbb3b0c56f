"""Branches of TensorFlow 1: which condition chooses among what a ``Merge`` is given."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..errors import LimitError
from .wire import TensorFlowNode

#: The most steps back from all of them.
MOST_STEPS = 20_000_000


def with_conditions(nodes: list[TensorFlowNode]) -> list[TensorFlowNode]:
    """The nodes, in which each ``Merge`` of two branches has their condition as a third input; ``yes`` says which it chooses."""
    known = {n.name: n for n in nodes}
    made, left = [], MOST_STEPS
    for node in nodes:
        if node.op_type == "Merge" and len(node.input) == 2 and not any(_kind(known, i).endswith("NextIteration") for i in node.input):
            ways = []
            for name in node.input:
                found, steps = _ways(known, name, left)
                ways.append(found)
                left -= steps
            both = {c for c, _ in ways[0]} & {c for c, _ in ways[1]}
            chosen = [(c, int((c, True) in ways[1])) for c in sorted(both)
                      if all(((c, True) in w) != ((c, False) in w) for w in ways) and ((c, True) in ways[0]) != ((c, True) in ways[1])]
            if len(chosen) == 1:
                condition, yes = chosen[0]
                node = replace(node, input=[*node.input, condition], attributes={**node.attributes, "yes": yes})
        made.append(node)
    return made


def _kind(known: Mapping[str, TensorFlowNode], name: str) -> str:
    node = known.get(name.partition(":")[0])
    return "" if node is None else node.op_type


def _ways(known: Mapping[str, TensorFlowNode], start: str, most: int) -> tuple[set[tuple[str, bool]], int]:
    """The conditions under which a value comes, each with its value, and how many steps it took to find them."""
    found: set[tuple[str, bool]] = set()
    done: set[str] = set()
    stack, steps = [start], 0
    while stack:
        name = stack.pop()
        base, _, port = name.partition(":")
        node = known.get(base)
        steps += 1
        if steps > most:
            raise LimitError(f"the branches of the TensorFlow graph are not told apart within {MOST_STEPS:,} steps")
        if node is None:
            continue
        switch = node.op_type in ("Switch", "RefSwitch") and len(node.input) == 2
        if switch:
            found.add((node.input[1], port == "1"))
        if base not in done:
            done.add(base)
            stack += node.input[:1] if switch else [*node.input, *node.control]
    return found, steps
