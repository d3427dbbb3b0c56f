"""Changes to a finished graph: other inputs of ops, other names, variables frozen or trained."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..base.datatype import is_floating
from ..errors import DL4PyError, GraphError
from ..ir.node import Node, needed
from ..ir.variable import SDVariable, VariableType
from .saving import SavingMixin


class GraphEditMixin(SavingMixin):
    """The part of :class:`SameDiff` that changes existing nodes and variables."""

    # Inputs of ops

    def replace_arg_for(self, i: int, new: SDVariable | str, op: str | Node) -> None:
        """Let input ``i`` of an op be another variable; shapes and types behind it are worked out anew.

        Raises
        ------
        GraphError
            There is no such input, or the variable depends on the op. ShapeError, DataTypeError: it does not fit.
        """
        node, variable = self.tables.node(op), self.variable(new)
        if not 0 <= i < len(node.inputs):
            raise GraphError(f"{node.where()} has {len(node.inputs)} inputs; there is no input {i}")
        if node.name in {n.name for n in needed(self.nodes(), [variable.name()])}:
            raise GraphError(f"{variable!r} depends on {node.where()}: as its input it would close a circle")
        self._rewire(node, (*node.inputs[:i], variable.name(), *node.inputs[i + 1:]))

    def remove_arg_from_op(self, variable: SDVariable | str, op: str | Node) -> None:
        """Take a variable from the inputs of an op; only optional inputs and members of a list of inputs can go."""
        node, name = self.tables.node(op), self.variable(variable).name()
        if name not in node.inputs:
            raise GraphError(f"{name!r} is no input of {node.where()}; its inputs: {', '.join(n or '-' for n in node.inputs)}")
        declared = node.op.inputs.split()
        left: list[str | None] = []
        for i, n in enumerate(node.inputs):
            kind = declared[min(i, len(declared) - 1)]
            if n != name or kind.endswith("?"):
                left.append(None if n == name else n)
            elif not kind.startswith("*"):
                raise GraphError(f"{node.where()} needs its input {kind!r}; use replace_arg_for")
        self._rewire(node, tuple(left))

    def _rewire(self, node: Node, inputs: tuple[str | None, ...]) -> None:
        self.tables.nodes[node.name] = replace(node, inputs=inputs)
        try:
            self.infer_again()
        except DL4PyError:
            self.tables.nodes[node.name] = node
            raise

    # Names

    def update_variable_name_and_reference(self, *args: Any) -> SDVariable:
        """Rename a variable; the active name scope is put in front: ``(variable, new_name, exact_name=False)``.

        A new name of None keeps the present one. An op may stand in front, as in Java; it keeps its name.
        """
        given = args[1:] if args and not isinstance(args[0], (SDVariable, str)) else args
        if not 2 <= len(given) <= 3:
            raise GraphError(f"update_variable_name_and_reference takes a variable and a new name; got {len(given)} arguments")
        variable, new, exact = self.variable(given[0]), given[1], len(given) == 3 and given[2]
        if new is not None:
            self.rename_variable(variable, new if exact else self.tables.names.scoped(new))
        return variable

    def update_variable_names_and_references(self, variables: Sequence[SDVariable], names: Sequence[str | None]) -> list[SDVariable]:
        """Rename several variables; one new name each."""
        if len(variables) != len(names):
            raise GraphError(f"{len(variables)} variables and {len(names)} names were given; equally many are needed")
        return [self.update_variable_name_and_reference(v, n) for v, n in zip(variables, names)]

    # Kinds

    def freeze(self, in_place: bool = False) -> Self:
        """The graph with every trainable variable made a constant: a copy, or this very graph."""
        target = self if in_place else self.dup()
        trained = [v for v in target.variables() if v.get_variable_type() is VariableType.VARIABLE]
        if trained:
            target.convert_to_constants(trained)
        return target

    def convert_constants_to_variables(self) -> None:
        """Make trainable every floating constant that an op reads; empty ones stay."""
        read = {n for node in self.tables.nodes.values() for n in node.inputs}
        chosen = [v for n, v in self.tables.variables.items()
                  if v.is_constant() and n in read and v.dtype.is_floating and self.tables.store[n].size]
        if chosen:
            self.convert_to_variables(chosen)

    # Comparison

    def equals(self, other: object) -> bool:
        """True for a graph of the same names, ops, wiring, losses and stored values (``==`` is true for the same object only)."""
        if not isinstance(other, GraphEditMixin) or self._structure() != other._structure():
            return False
        return all(np.array_equal(a, other.tables.store[n], equal_nan=is_floating(a.dtype)) for n, a in self.tables.store.items())

    def hash_code(self) -> int:
        """A number that is equal for graphs that are ``equals``."""
        kinds = frozenset((n, v.get_variable_type(), v.spec) for n, v in self.tables.variables.items())
        nodes = tuple((n.name, n.op.id, n.inputs, n.outputs) for n in self.tables.nodes.values())
        return hash((kinds, nodes, tuple(self.get_loss_variables())))

    def _structure(self) -> Any:
        variables = {n: (v.get_variable_type(), v.spec) for n, v in self.tables.variables.items()}
        return variables, [(n.name, n.op, n.inputs, n.outputs, n.control) for n in self.tables.nodes.values()], self.get_loss_variables()
