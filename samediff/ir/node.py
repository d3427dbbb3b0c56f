"""One operation in a graph: which op, on which variables."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..base.java.old_names import instead
from ..base.source_line import SourceLine
from .op import Op


@dataclass(frozen=True)
class Node:
    """An op with the names of its inputs and outputs (None: an optional input left out).

    ``gradient_of`` names the node whose gradient it is a part of. ``differentiate`` stands for the op's ``grad``, where the class that
    added the node has a gradient of its own; files do not keep it.
    """

    name: str
    op: Op
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    source: SourceLine | None = None
    control: tuple[str, ...] = ()
    gradient_of: str | None = None
    differentiate: Callable[..., Any] | None = field(default=None, compare=False, repr=False)

    def grad(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        """Add the gradient of each input to the graph."""
        return (self.differentiate or self.op.grad)(inputs, outputs, output_grads)

    def renamed(self, old: str, new: str) -> Node:
        """A copy of the node in which variable ``old`` is called ``new``."""
        def swap(names: tuple[str | None, ...]) -> tuple[str | None, ...]:
            return tuple(new if n == old else n for n in names)
        return replace(self, inputs=swap(self.inputs), outputs=tuple(n for n in swap(self.outputs) if n is not None),
                       control=tuple(n for n in swap(self.control) if n is not None))

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            hint = "" if name.startswith("_") else instead("node", name)
            raise AttributeError(f"a node of a graph has no {name!r}{hint}", name=name, obj=self)

    def where(self) -> str:
        """Text for errors: the op, the node and the user's line."""
        line = f", made at {self.source}" if self.source else ""
        return f"op {self.op.id!r} (node {self.name!r}{line})"


def needed(nodes: Iterable[Node], outputs: Iterable[str]) -> list[Node]:
    """The nodes that ``outputs`` depend on, in an order in which they can run."""
    producer = {out: node for node in nodes for out in node.outputs}
    order: dict[str, Node] = {}
    stack = [(n, False) for n in reversed(list(outputs))]
    while stack:
        name, ready = stack.pop()
        node = producer.get(name)
        if node is None or node.name in order:
            continue
        if ready:
            order[node.name] = node
            continue
        stack.append((name, True))
        stack.extend((i, False) for i in reversed((*node.inputs, *node.control)) if i is not None)
    return list(order.values())
