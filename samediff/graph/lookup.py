"""DL4J's look-ups by name: what exists, what belongs to an op or a scope, which array a variable holds."""
from __future__ import annotations

import re
import threading
from typing import Any

from ..base.names import NameScope
from ..base.spec import size
from ..errors import GradientError, GraphError
from ..ir.core import GraphCore
from ..ir.node import Node
from ..ir.variable import SDVariable, VariableType


class Lookup(GraphCore):
    """The part of :class:`SameDiff` that finds ops, variables and names; ops are given by name or as nodes."""

    # Ops

    def _node(self, op: str | Node) -> Node:
        return self.get_op_by_id(op)  # type: ignore[attr-defined, no-any-return]  # of the whole graph

    def op_exists(self, name: str) -> bool:
        """True when the graph has an op of that name."""
        return name in self._nodes

    def has_args(self, op: str | Node) -> bool:
        """True when the op has inputs."""
        return any(n is not None for n in self._node(op).inputs)

    def get_input_variables_for_op(self, op: str | Node) -> list[SDVariable]:
        """The inputs of an op, without optional ones left out."""
        return [self._variables[n] for n in self._node(op).inputs if n is not None]

    def get_output_variables_for_op(self, op: str | Node) -> list[SDVariable]:
        """The results of an op."""
        return [self._variables[n] for n in self._node(op).outputs]

    def get_ops_in_scope(self, scope: str | NameScope) -> list[Node]:
        """The ops made inside a name scope and the scopes in it."""
        return [node for n, node in self._nodes.items() if n.startswith(_prefix(scope))]

    def get_variables_in_scope(self, scope: str | NameScope) -> list[SDVariable]:
        """The variables made inside a name scope and the scopes in it."""
        return [v for n, v in self._variables.items() if n.startswith(_prefix(scope))]

    # Variables

    def constants(self) -> list[SDVariable]:
        """The constants."""
        return [v for v in self._variables.values() if v.is_constant()]

    def is_constant(self, name: str) -> bool:
        """True when that variable is a constant."""
        return self.variable(name).is_constant()

    def is_place_holder(self, name: str) -> bool:
        """True when that variable is a placeholder."""
        return self.variable(name).is_place_holder()

    def num_elements(self) -> int:
        """Elements of all variables whose shape is known."""
        return sum(max(size(v.get_shape()), 0) for v in self._variables.values())

    # Arrays

    def get_arr_for_var_name(self, name: str) -> Any:
        """The array stored for a variable or constant, or set for a placeholder; None when there is none."""
        return self.stored(name)

    def array_already_exists_for_var_name(self, name: str) -> bool:
        """True when an array is stored or set for that variable."""
        return self.stored(name) is not None

    def set_array_for_variable(self, name: str, array: Any) -> None:
        """As :meth:`set_array`."""
        self.set_array(name, array)

    def associate_array_with_variable(self, array: Any, variable: str | SDVariable) -> None:
        """As :meth:`set_array`, in Java's order."""
        self.set_array(variable, array)

    def assign_array(self, array: Any, variable: str | SDVariable) -> None:
        """Copy values into the array of a variable or constant."""
        v = self.variable(variable)
        if v.get_variable_type() not in (VariableType.VARIABLE, VariableType.CONSTANT):
            raise GraphError(f"{v!r} holds no array of its own; only variables and constants do")
        self.set_array(v, array)

    def clear_placeholders(self, all_threads: bool = False) -> None:
        """Forget the values set for placeholders, on this thread or on all."""
        if all_threads:
            self._fed = threading.local()
        else:
            self._placeholder_values().clear()

    def clear_op_inputs(self) -> None:
        """Nothing to do: ops hold no arrays."""

    # Gradients

    def has_gradient_function(self) -> bool:
        """True when the gradient graph of the present structure exists."""
        known = getattr(self, "_grad_graph", None)
        return known is not None and known[0] == self.version

    def variable_has_gradient(self, name: str) -> bool:
        """True when the gradient graph exists and has a gradient for that variable; builds nothing."""
        return self.get_grad_for_variable(name) is not None if self.variable(name).dtype.is_floating else False

    def get_grad_for_variable(self, name: str) -> SDVariable | None:
        """The gradient of a variable in the gradient graph; None when that is not built or the loss does not depend on it."""
        v = self.variable(name)
        if not v.dtype.is_floating:
            raise GradientError(f"{v!r} has no gradient: only floating variables do")
        if not self.has_gradient_function():
            return None
        found: dict[str, SDVariable | None] = self._grad_graph[3]  # type: ignore[attr-defined]
        return found.get(v.name())

    # Names

    @staticmethod
    def parse_variable(name: str) -> tuple[str, int]:
        """The op and the number of the output that ``op:1`` stands for; ``op`` is its output 0.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff
        >>> SameDiff.parse_variable("split:2")
        ('split', 2)
        """
        found = re.fullmatch(r"(.*):(\d+)", name)
        return (found[1], int(found[2])) if found else (name, 0)

    def generate_distinct_custom_variable_name(self, base: str) -> str:
        """The first name of ``base``, ``base_1``, ``base_2`` … that is free."""
        return _first_free(base, self._is_taken)

    def get_op_name(self, base: str, force: bool = False) -> str:
        """A free name for an op in the current scope; with ``force`` exactly ``base``, which must be free."""
        if force and self._is_taken(base):
            raise GraphError(f"the name {base!r} is taken already")
        return base if force else self._names.unique(base)

    def generate_new_var_name(self, base: str, arg_index: int = 0, existing_op: bool = True) -> str:
        """A free name for output ``arg_index`` of an op; ``existing_op=False`` demands the name itself."""
        name = base if arg_index == 0 else f"{base}:{arg_index}"
        if not existing_op and name in self._variables:
            raise GraphError(f"variable name {name!r} is taken already by {self._variables[name]!r}")
        if name not in self._variables:
            return name
        return _first_free(base, lambda n: (n if arg_index == 0 else f"{n}:{arg_index}") in self._variables,
                           "" if arg_index == 0 else f":{arg_index}")

    def new_block_name(self, base: str) -> str:
        """A name for a branch or loop that was not given before: ``base``, ``base_1`` …"""
        given: set[str] = self.__dict__.setdefault("_block_names", set())
        name = _first_free(base, given.__contains__)
        given.add(name)
        return name


def _prefix(scope: str | NameScope) -> str:
    return scope.prefix if isinstance(scope, NameScope) else scope.rstrip("/") + "/"


def _first_free(base: str, taken: Any, ending: str = "") -> str:
    name, i = base, 0
    while taken(name):
        i += 1
        name = f"{base}_{i}"
    return name + ending
