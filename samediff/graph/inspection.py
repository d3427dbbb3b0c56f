"""Looking at a graph: listings, shapes, summary, picture, consistency."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..base.spec import Shape
from ..drawing.graphs import DrawnNode, GraphDrawing, quoted
from ..errors import GraphError
from ..ir.core import GraphCore
from ..ir.node import Node
from ..ir.variable import SDVariable, VariableType
from ..text.html import html_text
from .differential_function import DifferentialFunction, DifferentialFunctionFactory


class InspectionMixin(GraphCore):
    """The part of :class:`SameDiff` that describes it."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.tables.variables)} variables, {len(self.tables.nodes)} ops)"

    def _repr_html_(self) -> str:
        return html_text(repr(self), self.summary())

    def inputs(self) -> list[str]:
        """Names of the placeholders."""
        return [n for n, v in self.tables.variables.items() if v.is_place_holder()]

    def placeholders(self) -> list[SDVariable]:
        """The placeholders."""
        return [v for v in self.tables.variables.values() if v.is_place_holder()]

    def outputs(self) -> list[str]:
        """Names set with :meth:`set_outputs`, else the results that nothing consumes."""
        if self.tables.outputs:
            return list(self.tables.outputs)
        read = {n for node in self.tables.nodes.values() for n in node.inputs}
        return [n for n in self.tables.producers if n not in read]

    def set_outputs(self, *names: Any) -> None:
        """Declare the outputs of the graph."""
        self.tables.outputs = [self.variable(n).name() for n in self.tables.names_in(names)]

    def ops(self) -> list[DifferentialFunction]:
        """All ops, in the order of creation."""
        return [DifferentialFunction(self, n) for n in self.nodes()]

    def get_op_by_id(self, name: str | Node) -> DifferentialFunction:
        """The op whose node has that name."""
        return DifferentialFunction(self, self.tables.node(name))

    def get_variable_output_op(self, name: str) -> DifferentialFunction | None:
        """The op that computes a variable, None for given ones."""
        maker = self.producer(self.variable(name).name())
        return None if maker is None else DifferentialFunction(self, maker)

    def f(self) -> DifferentialFunctionFactory:
        """All ops under one roof: ``sd.f().sum(x, 0)``."""
        return DifferentialFunctionFactory(self)

    def properties_for_function(self, op: str | Node) -> dict[str, Any]:
        """The properties of an op, as its ``properties_for_function()``."""
        return self.get_op_by_id(op).properties_for_function()

    def properties_to_resolve(self, op: str | Node) -> list[str]:
        """The properties of an op that are resolved before an execution, as its ``properties_to_resolve()``: none."""
        return self.get_op_by_id(op).properties_to_resolve()

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
        kinds = [v.get_variable_type() for v in self.tables.variables.values()]
        counts = ", ".join(f"{kinds.count(k)} {k.name}" for k in VariableType if k in kinds)
        losses = ", ".join(self.get_loss_variables()) or "none set"
        readers: dict[str, list[str]] = {}
        for node in self.tables.nodes.values():
            for given in dict.fromkeys(node.inputs):
                if given is not None:
                    readers.setdefault(given, []).append(node.name)
        rows = [("Variable", "Kind", "Type", "Shape", "Producer", "Consumers")]
        for name, v in self.tables.variables.items():
            maker = self.producer(name)
            consumers = ", ".join(readers.get(name, ()))
            shape = "?" if v.get_shape() is None else str(list(v.get_shape() or ()))
            rows.append((name, v.get_variable_type().name, v.dtype.name, shape, maker.name if maker else "-", consumers or "-"))
        ops = [("", "Op", "Kind", "Inputs", "Outputs")]
        for i, node in enumerate(self.tables.nodes.values()):
            read = ", ".join(n or "-" for n in node.inputs)
            ops.append((str(i), node.name, node.op.id, read or "-", ", ".join(node.outputs)))
        head = f"--- Summary ---\n{len(self.tables.variables)} variables ({counts or 'none'}), {len(self.tables.nodes)} ops, loss: {losses}"
        return f"{head}\n\n{_table(rows)}\n\n{_table(ops)}\n"

    def validate(self) -> None:
        """GraphError when the tables of the graph contradict each other, shapes do, or something is connected with nothing.

        Placeholders and variables that no op reads are connected with nothing, unless they are among ``outputs()`` or the graph has no
        ops yet.
        """
        for node in self.tables.nodes.values():
            for name in (*node.inputs, *node.outputs):
                if name is not None and name not in self.tables.variables:
                    raise GraphError(f"{node.where()} uses {name!r}, which is no variable of the graph")
            for name in node.outputs:
                if self.tables.producers.get(name) != node.name:
                    raise GraphError(f"{name!r} is an output of {node.where()} but is recorded under {self.tables.producers.get(name)!r}")
            specs = [None if n is None else self.tables.visible(self.tables.variables[n]) for n in node.inputs]
            node.op.infer(*specs)  # type: ignore[arg-type]
        for name, v in self.tables.variables.items():
            kind = v.get_variable_type()
            if kind in (VariableType.VARIABLE, VariableType.CONSTANT) and name not in self.tables.store:
                raise GraphError(f"{v!r} has no stored value")
            if kind is VariableType.ARRAY and name not in self.tables.producers:
                raise GraphError(f"{v!r} is computed by no op")
        for name in self.tables.losses:
            self.variable(name)
        self._check_connected()

    def _check_connected(self) -> None:
        read = {n for node in self.tables.nodes.values() for n in (*node.inputs, *node.control)} | {*self.tables.outputs}
        lonely = [v for n, v in self.tables.variables.items() if n not in read
                  and v.get_variable_type() in (VariableType.PLACEHOLDER, VariableType.VARIABLE)]
        if lonely and self.tables.nodes:
            raise GraphError(f"{', '.join(map(repr, lonely))}: no op reads {'it' if len(lonely) == 1 else 'them'}; connect, or remove with "
                             "a new graph, or declare as outputs with set_outputs")

    def drawing(self) -> GraphDrawing:
        """The ops and variables as a drawing; name scopes are its scopes."""
        def drawn(variable: str) -> str:
            """The name of the node that gives a variable; an op may be called like a variable that it does not make."""
            maker = self.producer(variable)
            return maker.name if maker is not None else f"{variable}:0" if variable in self.tables.nodes else variable

        nodes = [DrawnNode(drawn(name), v.get_variable_type().name.lower(), (), str(v.spec))
                 for name, v in self.tables.variables.items() if self.producer(name) is None]
        for node in self.tables.nodes.values():
            given = dict.fromkeys(drawn(n) for n in node.inputs if n is not None)
            shape = ", ".join(str(self.tables.variables[n].spec) for n in node.outputs)
            details = {"outputs": ", ".join(node.outputs), **({"made at": str(node.source)} if node.source else {})}
            nodes.append(DrawnNode(node.name, node.op.id, tuple(given), shape, details))
        return GraphDrawing(repr(self), tuple(nodes))

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A page that shows the graph with its shapes, folded by scope and searchable, and needs no network.

        Parameters
        ----------
        path : path, optional
            Write the page to this file.
        """
        return self.drawing().to_html(path)

    def to_dot(self) -> str:
        """The graph as DOT text, for Graphviz and everything that reads it."""
        lines = ["digraph samediff {", "  rankdir=TB; node [fontname=Helvetica];"]
        look = {VariableType.PLACEHOLDER: "box, style=dashed", VariableType.VARIABLE: "box, style=filled, fillcolor=lightblue",
                VariableType.CONSTANT: "box, style=filled, fillcolor=lightgray"}
        for name, v in self.tables.variables.items():
            if v.get_variable_type() in look:
                lines.append(f"  {quoted(name)} [shape={look[v.get_variable_type()]}, label={quoted(f'{name}{_BREAK}{v.spec}')}];")
        for node in self.tables.nodes.values():
            own, made = quoted(f"op {node.name}"), ", ".join(node.outputs)
            lines.append(f"  {own} [shape=ellipse, label={quoted(f'{node.op.id}{_BREAK}{made}')}];")
            for given in node.inputs:
                if given is not None:
                    source = f"op {self.tables.producers[given]}" if given in self.tables.producers else given
                    lines.append(f"  {quoted(source)} -> {own} [label={quoted(str(self.tables.variables[given].spec))}];")
        return "\n".join([*lines, "}"]) + "\n"


_BREAK = "\n"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
