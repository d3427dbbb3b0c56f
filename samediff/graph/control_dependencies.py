"""Order of execution beyond data: control dependencies."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import GraphError
from ..ir.core import GraphCore
from ..ir.node import needed


class ControlDependenciesMixin(GraphCore):
    """The part of :class:`SameDiff` that orders ops."""

    def add_control_dependency(self, variable: Any, first: Any) -> None:
        """Compute ``first`` before the op that gives ``variable``.

        Raises
        ------
        GraphError
            ``variable`` is no result of an op, or the dependency closes a circle.
        """
        variable, first = self.variable(variable), self.variable(first)
        node = self.producer(variable.name())
        if node is None:
            raise GraphError(f"{variable!r} is no result of an op: only ops can wait for others")
        if node.name in {n.name for n in needed(self.nodes(), [first.name()])}:
            raise GraphError(f"{first!r} depends on {variable!r}: the control dependency would close a circle")
        if first.name() not in node.control:
            self.tables.nodes[node.name] = replace(node, control=(*node.control, first.name()))
            self.tables.changed()
