"""DL4J's look-ups by name: what exists, what belongs to an op or a scope, which array a variable holds."""
from __future__ import annotations

import re
from typing import Any

from ..base.names import NameScope, first_free
from ..base.spec import size
from ..base.user_code.users_arrays import users_array
from ..errors import GradientError, GraphError
from ..ir.core import GraphCore
from ..ir.node import Node
from ..ir.variable import SDVariable, VariableType
from .differential_function import DifferentialFunction


class LookupMixin(GraphCore):
    """The part of :class:`SameDiff` that finds ops, variables and names; ops are given by name or as nodes."""

    # Ops

    def op_exists(self, name: str) -> bool:
        """True when the graph has an op of that name."""
        return name in self.tables.nodes

    def has_args(self, op: str | Node) -> bool:
        """True when the op has inputs."""
        return any(n is not None for n in self.tables.node(op).inputs)

    def get_input_variables_for_op(self, op: str | Node) -> list[SDVariable]:
        """The inputs of an op, without optional ones left out."""
        return [self.tables.variables[n] for n in self.tables.node(op).inputs if n is not None]

    def get_output_variables_for_op(self, op: str | Node) -> list[SDVariable]:
        """The results of an op."""
        return [self.tables.variables[n] for n in self.tables.node(op).outputs]

    def get_ops_in_scope(self, scope: str | NameScope) -> list[DifferentialFunction]:
        """The ops made inside a name scope and the scopes in it."""
        return [DifferentialFunction(self, node) for n, node in self.tables.nodes.items() if n.startswith(_prefix(scope))]

    def get_variables_in_scope(self, scope: str | NameScope) -> list[SDVariable]:
        """The variables made inside a name scope and the scopes in it."""
        return [v for n, v in self.tables.variables.items() if n.startswith(_prefix(scope))]

    # Variables

    def constants(self) -> list[SDVariable]:
        """The constants."""
        return [v for v in self.tables.variables.values() if v.is_constant()]

    def is_constant(self, name: str) -> bool:
        """True when that variable is a constant."""
        return self.variable(name).is_constant()

    def is_place_holder(self, name: str) -> bool:
        """True when that variable is a placeholder."""
        return self.variable(name).is_place_holder()

    def num_elements(self) -> int:
        """Elements of all variables whose shape is known."""
        return sum(max(size(v.get_shape()), 0) for v in self.tables.variables.values())

    # Arrays

    def get_arr_for_var_name(self, name: str) -> Any:
        """The array stored for a variable or constant, or set for a placeholder; None when there is none."""
        return users_array(self.stored(name))

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
            self.tables.forget_given()
        else:
            self.tables.given().clear()
            self.tables.keep_results({n: a for n, a in self.tables.results().items() if n not in self.tables.known_feeds()})

    def clear_op_inputs(self) -> None:
        """Nothing to do: ops hold no arrays."""

    # Gradients

    def has_gradient_function(self) -> bool:
        """True when the gradient graph of the present structure exists."""
        return self.tables.known_gradients() is not None

    def variable_has_gradient(self, name: str) -> bool:
        """True when the gradient graph exists and has a gradient for that variable; builds nothing."""
        return self.get_grad_for_variable(name) is not None if self.variable(name).dtype.is_floating else False

    def get_grad_for_variable(self, name: str) -> SDVariable | None:
        """The gradient of a variable in the gradient graph; None when that is not built or the loss does not depend on it."""
        v = self.variable(name)
        if not v.dtype.is_floating:
            raise GradientError(f"{v!r} has no gradient: only floating variables do")
        known = self.tables.known_gradients()
        return None if known is None else known.found.get(v.name())

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
        return first_free(base, self.tables.is_taken)

    def get_op_name(self, base: str, force: bool = False) -> str:
        """A free name for an op in the current scope; with ``force`` exactly ``base``, which must be free."""
        if force and self.tables.is_taken(base):
            raise GraphError(f"the name {base!r} is taken already")
        return base if force else self.tables.names.unique(base)

    def generate_new_var_name(self, base: str, arg_index: int = 0, existing_op: bool = True) -> str:
        """A free name for output ``arg_index`` of an op; ``existing_op=False`` demands the name itself."""
        name = base if arg_index == 0 else f"{base}:{arg_index}"
        if not existing_op and name in self.tables.variables:
            raise GraphError(f"variable name {name!r} is taken already by {self.tables.variables[name]!r}")
        if name not in self.tables.variables:
            return name
        return first_free(base, lambda n: (n if arg_index == 0 else f"{n}:{arg_index}") in self.tables.variables,
                           "" if arg_index == 0 else f":{arg_index}")

    def new_block_name(self, base: str) -> str:
        """A name for a branch or loop that was not given before: ``base``, ``base_1`` …"""
        name = first_free(base, self.tables.blocks.__contains__)
        self.tables.blocks.add(name)
        return name


def _prefix(scope: str | NameScope) -> str:
    return scope.prefix if isinstance(scope, NameScope) else scope.rstrip("/") + "/"
