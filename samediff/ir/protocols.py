"""Protocol of a graph as variables and ops use it; its class stands above them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..base.spec import TensorSpec
from .run_context import RunContext


class OpGraph(Protocol):
    """A graph that ops are added to, or what computes them at once."""

    def is_input(self, value: Any, /) -> bool:
        """Whether an argument is an input of an op (a variable or array), rather than a number or an option."""

    def place_op(self, op: Any, inputs: Sequence[Any], names: Sequence[str] | None = None) -> Any:
        """Do what the op says that a call of it does."""

    def add_op(self, op: Any, inputs: Sequence[Any], names: Sequence[str] | None = None) -> Any:
        """Add a node; its output, or a list of them."""

    def call(self, namespace: str, method: str, /, *args: Any, **kwargs: Any) -> Any:
        """Add the op behind ``sd.<namespace>.<method>(...)``."""


class Variable(Protocol):
    """A variable, for code that adds ops on it."""

    @property
    def sd(self) -> OpGraph:
        """The graph that the variable belongs to."""

    @property
    def spec(self) -> TensorSpec:
        """Shape and type."""


class Graph(OpGraph, Protocol):
    """A whole graph, such as :class:`~dl4py.samediff.SameDiff`: what its variables, and ops that hold graphs of their own, ask of it."""

    @property
    def tables(self) -> Any:
        """The :class:`~dl4py.samediff.ir.tables.GraphTables` of the graph."""

    def variable_method(self, variable: Any, name: str, /) -> Any:
        """The op that is a method of variables under that name."""

    def variable_methods(self) -> list[str]:
        """Names of the ops that are methods of variables."""

    def numpy_call(self, function: Any, args: Sequence[Any], options: Mapping[str, Any], /) -> Any:
        """Result of a NumPy function called with variables of the graph."""

    def numpy_item(self, variable: Any, index: Any, /) -> Any:
        """``variable[index]`` with arrays among the indices."""

    def array_namespace(self) -> Any:
        """The functions of the array API standard."""

    def constant(self, *args: Any) -> Any:
        """A stored value that is never trained."""

    def placeholder(self, name: str, /, *args: Any) -> Any:
        """A value that is given at each run."""

    def set_placeholder_shape(self, placeholder: Any, /, *shape: Any) -> None:
        """Declare another shape for a placeholder."""

    def stored(self, name: str, /) -> Any:
        """The array kept or set for a variable."""

    def set_array(self, name: Any, array: Any, /) -> None:
        """Store a value."""

    def variable(self, name: str, /) -> Any:
        """The variable of that name."""

    def producer(self, name: str, /) -> Any:
        """The node that computes a variable, None for variables that are given."""

    @property
    def generator(self) -> Any:
        """The random generator of weight initialization."""

    def rename_variable(self, old: Any, new: str, /) -> None:
        """Give a variable another name."""

    def add_loss_variable(self, loss: Any, /) -> None:
        """Add a variable to the losses."""

    def grad(self, name: Any, /) -> Any:
        """The gradient of a variable."""

    def has_gradient(self, name: str, /) -> bool:
        """Whether a variable has a gradient."""

    def convert_to_constant(self, *variables: Any) -> Any:
        """Make a variable a constant."""

    def convert_to_variable(self, *variables: Any) -> Any:
        """Make a constant or placeholder a trainable variable."""

    def add_control_dependency(self, variable: Any, first: Any, /) -> None:
        """Compute ``first`` before ``variable``."""

    def output_single(self, placeholders: Mapping[str, Any] | None, output: Any, /) -> Any:
        """Compute one variable."""

    @staticmethod
    def from_flat_buffers(data: bytes, load_updater_state: bool = True, /) -> Any:
        """The graph of the bytes of a graph file."""

    def output(self, placeholders: Mapping[str, Any] | None, /, *outputs: Any) -> dict[str, Any]:
        """Compute variables, by name."""

    def compute_in(self, context: RunContext, placeholders: Mapping[str, Any], names: Sequence[str], /) -> dict[str, Any]:
        """Compute variables in a given run context, by name."""

    def plan_in(self, specs: Mapping[str, TensorSpec], names: Sequence[str], /) -> Any:
        """The plan for placeholders of static specs."""
