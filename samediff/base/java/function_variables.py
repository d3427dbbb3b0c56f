"""The variables of a function of a graph: what ops, user-defined ops and variables have in common."""
from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ...errors import GraphError


class FunctionVariables:
    """Parts of inputs and results, and the factory of ops, of what has ``args`` and ``output_variables``."""

    __slots__ = ()

    @abstractmethod
    def args(self) -> list[Any]:
        """All input variables."""

    @abstractmethod
    def output_variables(self) -> list[Any]:
        """All results."""

    def arg(self, i: int = 0) -> Any:
        """One of the inputs, by default the first."""
        return _at(self.args(), i, f"{self.described()} has {{}} inputs")

    def larg(self) -> Any:
        """The first, left input."""
        return self.arg(0)

    def rarg(self) -> Any:
        """The second, right input."""
        return self.arg(1)

    def arg_names(self) -> list[str]:
        """Names of the inputs."""
        return [v.name() for v in self.args()]

    def output_variable(self) -> Any:
        """The first result."""
        return _at(self.output_variables(), 0, f"{self.described()} has {{}} results")

    def output_variables_names(self) -> list[str]:
        """Names of the results."""
        return [v.name() for v in self.output_variables()]

    def f(self) -> Any:
        """The factory of the graph's ops, as ``sd.f()``; GraphError where it is in no graph."""
        graph = getattr(self, "same_diff", None) or next((v.sd for v in self.args()), None)
        if graph is None:
            raise GraphError(f"{self.described()} is in no graph, whose ops f() has: give it a graph, or variables as inputs")
        return graph.f()

    def described(self: Any) -> str:
        """What it is, for messages."""
        return f"op {self.op_name()!r}"


def _at(values: list[Any], i: Any, what: str) -> Any:
    if isinstance(i, bool) or not isinstance(i, int) or not -len(values) <= i < len(values):
        none = "" if values else ", there are none"
        raise GraphError(f"{what.format(len(values))}{none}; number {i!r:.40} was asked for")
    return values[i]
