"""A graph as the parts of :class:`SameDiff` share it: names, variables, stored values, ops."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar

from ..base.javanames import JavaSpelling
from ..base.lazy_property import lazy_property
from ..base.locks import LockRank, rlock
from ..base.names import NameScope
from ..base.user_code.users_arrays import is_given
from ..device.device_memory import to_host
from ..errors import GraphError, ShapeError
from ..expressions.arrays import as_array, converted
from . import namespaces
from .node import Node
from .op import Op
from .tables import GraphTables
from .variable import SDVariable, VariableType

Method = TypeVar("Method", bound=Callable[..., Any])


def between_steps(method: Method) -> Method:
    """A method of a graph that changes what steps of training look at: it waits while one changes parameters, and that for it."""
    @functools.wraps(method)
    def changing(self: GraphCore, *args: Any, **kwargs: Any) -> Any:
        with self.gate:
            return method(self, *args, **kwargs)
    return changing  # type: ignore[return-value]


class GraphCore(JavaSpelling):
    """The part of :class:`SameDiff` on which all others build.

    Attributes
    ----------
    tables : what the graph consists of
    """

    def __init__(self) -> None:
        self.tables = GraphTables(self)
        self.seed = 0

    @property
    def version(self) -> int:
        """A number that rises with every change of the structure."""
        return self.tables.version

    @property
    def seed(self) -> int:
        """Seed of the random ops; setting it restarts their random numbers."""
        return self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed, self._draws = int(seed), itertools.count()

    # Names

    def with_name_scope(self, name: str) -> NameScope:
        """Open a name scope: ``with sd.with_name_scope("block"): …``; scopes nest."""
        return NameScope(self.tables.names, name)

    def current_name_scope(self) -> str | None:
        """The active scopes joined by ``/``, None outside scopes."""
        return self.tables.names.prefix.rstrip("/") or None

    # Variables

    def variable(self, name: str | SDVariable) -> SDVariable:
        """The variable of that name; UnknownNameError suggests near ones."""
        return self.tables.variable(name)

    get_variable = variable

    def has_variable(self, name: str) -> bool:
        """True when a variable of that name exists."""
        return isinstance(name, str) and name in self.tables.variables

    def variables(self) -> list[SDVariable]:
        """All variables, in the order of creation."""
        return list(self.tables.variables.values())

    def variable_map(self) -> dict[str, SDVariable]:
        """All variables by name."""
        return dict(self.tables.variables)

    def variable_names(self) -> list[str]:
        """Names of all variables."""
        return list(self.tables.variables)

    @lazy_property
    def gate(self) -> Any:
        """The lock that is held while a step changes parameters and state, by who reads or replaces all of them, or changes the graph."""
        return rlock(LockRank.STEPS)

    # Stored values

    def stored(self, name: str) -> Any:
        """The array kept or set for a variable, None when there is none."""
        table = self.tables.given() if self.variable(name).is_place_holder() else self.tables.store
        found = to_host(table.get(name))
        return to_host(self.tables.results().get(name)) if found is None else found

    def set_array(self, name: str | SDVariable, array: Any) -> None:
        """Store the value of a variable or constant, or set that of a placeholder for this thread."""
        variable = self.variable(name)
        kind = variable.get_variable_type()
        if kind is VariableType.ARRAY:
            maker = self.tables.nodes[self.tables.producers[variable.name()]]
            raise GraphError(f"{variable!r} is computed by {maker.where()}; it cannot be set")
        self.tables.users_arrays |= is_given(array)
        value = as_array(array)
        if value.dtype != variable.dtype.numpy:
            value = converted(value, variable.dtype.numpy, f"{variable!r} is {variable.dtype.name}")
        if not variable.spec.accepts(value.shape):
            raise ShapeError(f"{variable!r} declares shape {variable.get_shape()}, the array has {value.shape}")
        if kind is VariableType.PLACEHOLDER:
            self.tables.given()[variable.name()] = value
            return
        with self.gate:
            old = to_host(self.tables.store.get(variable.name()))
            if old is not None and old.shape == value.shape and kind is VariableType.VARIABLE:
                old[...] = value          # compiled plans and flat parameter vectors look at this very array
            else:
                self.tables.store[variable.name()] = value.copy()
                self.tables.changed()

    # Ops

    def nodes(self) -> list[Node]:
        """All nodes, in the order of creation."""
        return list(self.tables.nodes.values())

    def producer(self, name: str) -> Node | None:
        """The node that computes a variable, None for variables that are given."""
        return self.tables.producer(name)

    def consumers(self, name: str) -> list[Node]:
        """The nodes that read a variable."""
        return [n for n in self.tables.nodes.values() if name in n.inputs]

    def call(self, namespace: str, method: str, /, *args: Any, **kwargs: Any) -> Any:
        """Add the op behind ``sd.<namespace>.<method>(...)``."""
        return namespaces.call(self, namespace, method, args, kwargs)

    def variable_method(self, variable: SDVariable, name: str) -> Any:
        """The op that is a method of variables under that name: ``x.<name>(...)``."""
        return namespaces.variable_method(variable, name)

    def variable_methods(self) -> list[str]:
        """The names of the ops that are methods of variables."""
        return namespaces.method_names("var")

    def add_op(self, op: Op, inputs: Sequence[Any], names: Sequence[str] | None = None) -> Any:
        """Add a node: the only way an op enters a graph.

        Parameters
        ----------
        op : Op
            With its attributes.
        inputs : sequence of SDVariable, array, number or None
            Numbers take the type of the first variable; None leaves out an optional input.
        names : sequence of str, optional
            Names for the outputs; all of them, or the first only.

        Returns
        -------
        SDVariable, or a list of them when the op has several outputs.

        Raises
        ------
        ShapeError, DataTypeError, GraphError
            The inputs do not fit; the text names op, inputs and the calling line. The graph stays as it was.
        """
        with self.tables.all_or_nothing():
            return self.tables.add_node(op.at_inference() if self.tables.inference_only else op, inputs, names)

    def is_input(self, value: Any) -> bool:
        """Whether a value is a variable, rather than a number or an option of an op."""
        return isinstance(value, SDVariable)

    def place_op(self, op: Op, inputs: Sequence[Any], names: Sequence[str] | None = None) -> Any:
        """Add an op as calls do: all nodes of its composition, or none of them when one does not fit."""
        with self.tables.all_or_nothing():
            return op.place(self, inputs, names)

    @contextmanager
    def at_inference(self) -> Iterator[None]:
        """Ops that are added in this block behave as outside of training in every run (no dropout, no batch statistics)."""
        tables = self.tables
        before, tables.inference_only = tables.inference_only, True
        try:
            yield
        finally:
            tables.inference_only = before

    def get_loss_variables(self) -> list[str]:
        """Names of the loss variables.

        They are those given to ``set_loss_variables`` or marked with ``mark_as_loss``, or that the graph's file has; else those that
        the training configuration names; else the results of ops of ``sd.loss``.
        """
        return list(self.tables.losses)

    def fork(self) -> Self:
        """A graph with the same variables and nodes that can be extended; stored arrays are shared, not copied."""
        other = type(self)()
        other.tables.copy_of(self.tables)
        other.seed = self.seed
        return other
