"""Looking at a graph: listings, shapes, summary, picture, consistency."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.spec import Shape
from ..errors import GraphError
from ..ir.core import GraphCore
from ..ir.node import Node
from ..ir.variable import SDVariable, VariableType


class Inspection(GraphCore):
    """The part of :class:`SameDiff` that describes it."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._variables)} variables, {len(self._nodes)} ops)"

    def inputs(self) -> list[str]:
        """Names of the placeholders."""
        return [n for n, v in self._variables.items() if v.is_place_holder()]

    def placeholders(self) -> list[SDVariable]:
        """The placeholders."""
        return [v for v in self._variables.values() if v.is_place_holder()]

    def outputs(self) -> list[str]:
        """Names set with :meth:`set_outputs`, else the results that nothing consumes."""
        stored: list[str] = getattr(self, "_outputs", [])
        if stored:
            return list(stored)
        read = {n for node in self._nodes.values() for n in node.inputs}
        return [n for n in self._producers if n not in read]

    def set_outputs(self, *names: Any) -> None:
        """Declare the outputs of the graph."""
        self._outputs = [self.variable(n).name() for n in self._names_in(names)]

    def ops(self) -> list[Node]:
        """All nodes, in the order of creation."""
        return self.nodes()

    def get_op_by_id(self, name: str | Node) -> Node:
        """The node of that name."""
        name = name.name if isinstance(name, Node) else name
        if name not in self._nodes:
            from ..errors import UnknownNameError, did_you_mean
            raise UnknownNameError(f"no op named {name!r} in this graph{did_you_mean(name, self._nodes)}")
        return self._nodes[name]

    def get_variable_output_op(self, name: str) -> Node | None:
        """The node that computes a variable, None for given ones."""
        return self.producer(self.variable(name).name())

    def get_inputs_for_op(self, name: str | Node) -> list[str]:
        """Names of a node's inputs."""
        return [n for n in self.get_op_by_id(name).inputs if n is not None]

    def get_outputs_for_op(self, name: str | Node) -> list[str]:
        """Names of a node's outputs."""
        return list(self.get_op_by_id(name).outputs)

    def get_shape_for_var_name(self, name: str) -> Shape | None:
        """Static shape: -1 marks unknown sizes, None an unknown rank."""
        return self.variable(name).get_shape()

    def summary(self) -> str:
        """A table of variables and ops, as text."""
        kinds = [v.get_variable_type() for v in self._variables.values()]
        counts = ", ".join(f"{kinds.count(k)} {k.name}" for k in VariableType if k in kinds)
        losses = ", ".join(self._losses) or "none set"
        rows = [("Variable", "Kind", "Type", "Shape", "Producer", "Consumers")]
        for name, v in self._variables.items():
            node = self.producer(name)
            consumers = ", ".join(n.name for n in self.consumers(name))
            shape = "?" if v.get_shape() is None else str(list(v.get_shape() or ()))
            rows.append((name, v.get_variable_type().name, v.dtype.name, shape, node.name if node else "-", consumers or "-"))
        ops = [("", "Op", "Kind", "Inputs", "Outputs")]
        for i, node in enumerate(self._nodes.values()):
            given = ", ".join(n or "-" for n in node.inputs)
            ops.append((str(i), node.name, node.op.id, given or "-", ", ".join(node.outputs)))
        head = f"--- Summary ---\n{len(self._variables)} variables ({counts or 'none'}), {len(self._nodes)} ops, loss: {losses}"
        return f"{head}\n\n{_table(rows)}\n\n{_table(ops)}\n"

    def validate(self) -> None:
        """GraphError when the tables of the graph contradict each other, or shapes do."""
        for node in self._nodes.values():
            for name in (*node.inputs, *node.outputs):
                if name is not None and name not in self._variables:
                    raise GraphError(f"{node.where()} uses {name!r}, which is no variable of the graph")
            for name in node.outputs:
                if self._producers.get(name) != node.name:
                    raise GraphError(f"{name!r} is an output of {node.where()} but is recorded under {self._producers.get(name)!r}")
            specs = [None if n is None else self._visible(self._variables[n]) for n in node.inputs]
            node.op.infer(*specs)  # type: ignore[arg-type]
        for name, v in self._variables.items():
            kind = v.get_variable_type()
            if kind in (VariableType.VARIABLE, VariableType.CONSTANT) and name not in self._store:
                raise GraphError(f"{v!r} has no stored value")
            if kind is VariableType.ARRAY and name not in self._producers:
                raise GraphError(f"{v!r} is computed by no op")
        for name in self._losses:
            self.variable(name)

    def to_dot(self) -> str:
        """The graph as DOT text, for Graphviz and everything that reads it."""
        lines = ["digraph samediff {", "  rankdir=TB; node [fontname=Helvetica];"]
        look = {VariableType.PLACEHOLDER: "box, style=dashed", VariableType.VARIABLE: "box, style=filled, fillcolor=lightblue",
                VariableType.CONSTANT: "box, style=filled, fillcolor=lightgray"}
        for name, v in self._variables.items():
            if v.get_variable_type() in look:
                lines.append(f"  {_quoted(name)} [shape={look[v.get_variable_type()]}, label={_quoted(f'{name}{_BREAK}{v.spec}')}];")
        for node in self._nodes.values():
            own, made = _quoted(f"op {node.name}"), ", ".join(node.outputs)
            lines.append(f"  {own} [shape=ellipse, label={_quoted(f'{node.op.id}{_BREAK}{made}')}];")
            for given in node.inputs:
                if given is not None:
                    source = f"op {self._producers[given]}" if given in self._producers else given
                    lines.append(f"  {_quoted(source)} -> {own} [label={_quoted(str(self._variables[given].spec))}];")
        return "\n".join([*lines, "}"]) + "\n"


_BREAK = "\n"


def _quoted(text: str) -> str:
    """A DOT string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace(_BREAK, "\\n")
    return f'"{escaped}"'


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
