"""Listeners that evaluate outputs while a graph trains and is validated."""
from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from ...base.java_names import BaseEvaluationListenerNames, ListenerEvaluationsBuilderNames, ListenerEvaluationsNames
from ...base.lazy_property import lazy_property
from ...base.user_code.abstract_methods import unwritten
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError
from ..history import EvaluationRecord, LossCurve, name_of
from .listener import Listener
from .listener_variables import ListenerVariables
from .operation import At, ListenerResponse, Operation

__all__ = ["BaseEvaluationListener", "ListenerEvaluations"]

_Evaluations = Mapping[str, Sequence[Any]]


class ListenerEvaluations(ListenerEvaluationsNames):
    """Evaluations by variable for training and validation, and the label array that each variable is compared with.

    Parameters
    ----------
    train_evaluations, validation_evaluations : dict of str to list
        Evaluations by the variable that they are of, while training and while validating.
    train_evaluation_labels, validation_evaluation_labels : dict of str to int
        The label array that each variable is compared with.

    Examples
    --------
    >>> from dl4py.samediff import Evaluation
    >>> found = ListenerEvaluations.builder().train_evaluation("softmax", 0, Evaluation()).build()
    >>> found.required_variables().training_variables()
    frozenset({'softmax'})
    """

    Builder: ClassVar[type[ListenerEvaluationsBuilder]]

    def __init__(self, train_evaluations: _Evaluations, train_evaluation_labels: Mapping[str, int],
                 validation_evaluations: _Evaluations, validation_evaluation_labels: Mapping[str, int]) -> None:
        self._parts = {Operation.TRAINING: (train_evaluations, train_evaluation_labels),
                       Operation.TRAINING_VALIDATION: (validation_evaluations, validation_evaluation_labels)}
        for evaluations, labels in self._parts.values():
            missing = [name for name in evaluations if name not in labels]
            if missing:
                raise ConfigurationError(f"no label array is named for the evaluations of {', '.join(missing)}")

    @staticmethod
    def builder() -> ListenerEvaluationsBuilder:
        """Return a builder."""
        return ListenerEvaluationsBuilder()

    def for_operation(self, operation: Operation) -> tuple[_Evaluations, Mapping[str, int]]:
        """Return evaluations and label arrays of an operation."""
        return self._parts.get(operation, ({}, {}))

    def train_evaluations(self) -> _Evaluations:
        """Return the evaluations while training."""
        return self._parts[Operation.TRAINING][0]

    def train_evaluation_labels(self) -> Mapping[str, int]:
        """Return the number of the label array of each variable evaluated while training."""
        return self._parts[Operation.TRAINING][1]

    def validation_evaluations(self) -> _Evaluations:
        """Return the evaluations while validating."""
        return self._parts[Operation.TRAINING_VALIDATION][0]

    def validation_evaluation_labels(self) -> Mapping[str, int]:
        """Return the number of the label array of each variable evaluated while validating."""
        return self._parts[Operation.TRAINING_VALIDATION][1]

    def required_variables(self) -> ListenerVariables:
        """Return the variables that are evaluated."""
        return ListenerVariables({operation: evaluations for operation, (evaluations, _) in self._parts.items()})

    def is_empty(self) -> bool:
        """Return True without any evaluation."""
        return not any(evaluations for evaluations, _ in self._parts.values())


class ListenerEvaluationsBuilder(MethodBuilder, ListenerEvaluationsBuilderNames):
    """Builder of :class:`ListenerEvaluations`."""

    def __init__(self) -> None:
        self._evaluations: tuple[dict[str, list[Any]], dict[str, list[Any]]] = ({}, {})
        self._labels: tuple[dict[str, int], dict[str, int]] = ({}, {})

    def add_evaluations(self, validation: bool, variable: Any, label_index: int, *evaluations: Any) -> Self:
        """Evaluate a variable against a label array, while validating or while training."""
        name = name_of(variable)
        old = self._labels[validation].setdefault(name, label_index)
        if old != label_index:
            raise ConfigurationError(f"{name!r} is compared with label array {old} already; it cannot be {label_index} too")
        self._evaluations[validation].setdefault(name, []).extend(evaluations)
        return self

    def train_evaluation(self, variable: Any, label_index: int, *evaluations: Any) -> Self:
        """Evaluate a variable while training."""
        return self.add_evaluations(False, variable, label_index, *evaluations)

    def validation_evaluation(self, variable: Any, label_index: int, *evaluations: Any) -> Self:
        """Evaluate a variable while validating."""
        return self.add_evaluations(True, variable, label_index, *evaluations)

    def build(self) -> ListenerEvaluations:
        """Return the evaluations."""
        return ListenerEvaluations(self._evaluations[0], self._labels[0], self._evaluations[1], self._labels[1])


ListenerEvaluations.Builder = ListenerEvaluationsBuilder


class BaseEvaluationListener(Listener, BaseEvaluationListenerNames):
    """Base of listeners that want outputs evaluated: define `evaluations`, and what to do with the results.

    Instead of ``epoch_start``, ``epoch_end``, ``validation_done`` and ``activation_available``, override the methods of the
    same names followed by ``_evaluations``.

    Examples
    --------
    >>> class Accuracy(BaseEvaluationListener):
    ...     def evaluations(self):
    ...         from dl4py.samediff import Evaluation
    ...         return ListenerEvaluations.builder().train_evaluation("softmax", 0, Evaluation()).build()
    ...     def epoch_end_evaluations(self, sd, at, loss_curve, epoch_time_millis, evaluations):
    ...         print(evaluations.evaluation("softmax").accuracy())
    >>> Accuracy().required_variables(None).training_variables()
    frozenset({'softmax'})
    """

    @unwritten(when_called=True)
    def evaluations(self) -> ListenerEvaluations:
        """Return the evaluations that the listener fills."""
        raise NotImplementedError

    def other_required_variables(self, sd: Any) -> ListenerVariables | None:
        """Return variables to compute besides those that are evaluated: none; override it (``sd`` has no effect here)."""
        return None

    def epoch_start_evaluations(self, sd: Any, at: At) -> None:
        """Called at the start of an epoch."""

    def epoch_end_evaluations(self, sd: Any, at: At, loss_curve: LossCurve | None, epoch_time_millis: int,
                              evaluations: EvaluationRecord) -> ListenerResponse | None:
        """Hear that an epoch has ended, with its evaluations; STOP ends the training."""
        return None

    def validation_done_evaluations(self, sd: Any, at: At, validation_time_millis: int,
                                    evaluations: EvaluationRecord) -> ListenerResponse | None:
        """Hear that a validation has ended, with its evaluations; STOP ends the training."""
        return None

    def activation_available_evaluations(self, sd: Any, at: At, batch: Any, op: Any, var_name: str, activation: Any) -> None:
        """Hear the value of an op's output."""

    def hears_every_value(self) -> bool:
        """Return whether values are wanted that nobody evaluates."""
        return type(self).activation_available_evaluations is not BaseEvaluationListener.activation_available_evaluations

    def required_variables(self, sd: Any) -> ListenerVariables | None:
        other = self.other_required_variables(sd)
        own = self.evaluations().required_variables()
        return own if other is None else own.merge(other)

    @lazy_property
    def _open(self) -> dict[Operation, dict[str, list[Any]]]:
        return {}               # made at its first use: sub-classes need not call __init__

    def _begin(self, operation: Operation) -> None:
        self._open[operation] = {name: fresh(es) for name, es in self.evaluations().for_operation(operation)[0].items()}

    def epoch_start(self, sd: Any, at: At) -> None:
        self._begin(Operation.TRAINING)
        self.epoch_start_evaluations(sd, at)

    def operation_start(self, sd: Any, operation: Operation) -> None:
        if operation.is_validation():
            self._begin(operation)

    def activation_available(self, sd: Any, at: At, batch: Any, op: Any, var_name: str, activation: Any) -> None:
        found = self._open.get(at.operation(), {}).get(var_name)
        if found:
            index = self.evaluations().for_operation(at.operation())[1][var_name]
            labels, mask = batch.get_labels(index), batch.get_labels_mask_array(index)
            for evaluation in found:
                evaluation.eval(labels, activation, mask)
        if self.hears_every_value():
            self.activation_available_evaluations(sd, at, batch, op, var_name, activation)

    def epoch_end(self, sd: Any, at: At, loss_curve: LossCurve | None, epoch_time_millis: int) -> ListenerResponse | None:
        record = EvaluationRecord(self._open.pop(Operation.TRAINING, {}))
        return self.epoch_end_evaluations(sd, at, loss_curve, epoch_time_millis, record)

    def validation_done(self, sd: Any, at: At, validation_time_millis: int) -> ListenerResponse | None:
        record = EvaluationRecord(self._open.pop(Operation.TRAINING_VALIDATION, {}))
        return self.validation_done_evaluations(sd, at, validation_time_millis, record)


def fresh(evaluations: Any) -> list[Any]:
    """Return empty evaluations with the same settings."""
    copies = [copy.deepcopy(evaluation) for evaluation in evaluations]
    for evaluation in copies:
        evaluation.reset()
    return copies
