"""The order of nodes."""
from __future__ import annotations

from collections.abc import Collection

from ..errors import FileFormatError
from .wire import TensorFlowNode


def in_order(nodes: list[TensorFlowNode], given: Collection[str] = ()) -> list[TensorFlowNode]:
    """The nodes, each behind those that it reads; ``given`` are names from outside."""
    known, done, made = {n.name: n for n in nodes}, set(), []
    for first in nodes:
        stack = [(first, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                made.append(node)
                continue
            if node.name in done:
                continue
            done.add(node.name)
            stack.append((node, True))
            for name in reversed([*node.input, *node.control]):
                other = known.get(name.partition(":")[0])
                if other is None and (name in node.control or name in given):
                    continue
                if other is None:
                    raise FileFormatError(f"node {node.name!r} of the frozen TensorFlow graph reads {name!r}, which nothing gives")
                if other.name not in done:
                    stack.append((other, False))
    return made
