"""The variables that listeners want to see."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ...base.java_names import ListenerVariablesBuilderNames, ListenerVariablesNames
from ...configuration.method_builder import MethodBuilder
from ..history import name_of
from .operation import Operation

__all__ = ["ListenerVariables"]


class ListenerVariables(ListenerVariablesNames):
    """Names of variables that a listener wants computed, by operation.

    Parameters
    ----------
    variables : dict of Operation to names, optional
        Variables or their names, by the operation during which they are wanted.
    """

    Builder: ClassVar[type[ListenerVariablesBuilder]]

    def __init__(self, variables: Mapping[Operation, Iterable[Any]] | None = None) -> None:
        self._names = {op: frozenset(name_of(v) for v in found) for op, found in (variables or {}).items()}

    @staticmethod
    def empty() -> ListenerVariables:
        """Return an instance without variables."""
        return ListenerVariables()

    @staticmethod
    def of(*variables: Any) -> ListenerVariables:
        """Return the same variables for every operation."""
        return ListenerVariables(dict.fromkeys(Operation, variables))

    @staticmethod
    def builder() -> ListenerVariablesBuilder:
        """Return a builder."""
        return ListenerVariablesBuilder()

    def training_variables(self) -> frozenset[str]:
        """Return the names of variables for training."""
        return self.required_variables(Operation.TRAINING)

    def validation_variables(self) -> frozenset[str]:
        """Return the names for validation during training."""
        return self.required_variables(Operation.TRAINING_VALIDATION)

    def evaluation_variables(self) -> frozenset[str]:
        """Return the names of variables for evaluation."""
        return self.required_variables(Operation.EVALUATION)

    def inference_variables(self) -> frozenset[str]:
        """Return the names of variables for inference."""
        return self.required_variables(Operation.INFERENCE)

    def required_variables(self, operation: Operation) -> frozenset[str]:
        """Return the names of variables for an operation."""
        return self._names.get(operation, frozenset())

    def merge(self, other: ListenerVariables) -> ListenerVariables:
        """Return the variables of both instances."""
        return ListenerVariables({op: self.required_variables(op) | other.required_variables(op) for op in Operation})


class ListenerVariablesBuilder(MethodBuilder, ListenerVariablesBuilderNames):
    """Builder of :class:`ListenerVariables`: ``ListenerVariables.builder().training_variables("a", "b").build()``."""

    def __init__(self) -> None:
        self._names: dict[Operation, list[Any]] = {}

    def require_variables(self, operation: Operation, *variables: Any) -> ListenerVariablesBuilder:
        """Request variables for an operation."""
        self._names.setdefault(Operation(operation), []).extend(variables)
        return self

    def training_variables(self, *variables: Any) -> ListenerVariablesBuilder:
        """Request variables for training."""
        return self.require_variables(Operation.TRAINING, *variables)

    def validation_variables(self, *variables: Any) -> ListenerVariablesBuilder:
        """Request variables for validation."""
        return self.require_variables(Operation.TRAINING_VALIDATION, *variables)

    def evaluation_variables(self, *variables: Any) -> ListenerVariablesBuilder:
        """Request variables for evaluation."""
        return self.require_variables(Operation.EVALUATION, *variables)

    def inference_variables(self, *variables: Any) -> ListenerVariablesBuilder:
        """Request variables for inference."""
        return self.require_variables(Operation.INFERENCE, *variables)

    def build(self) -> ListenerVariables:
        """Return the finished :class:`ListenerVariables`."""
        return ListenerVariables(self._names)


ListenerVariables.Builder = ListenerVariablesBuilder
