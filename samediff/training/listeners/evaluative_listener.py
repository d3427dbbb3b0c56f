"""Listeners that evaluate: on other data from time to time, and the history of a fit."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...base.java.java_enum import JavaEnum
from ...base.java_names import EvaluationCallbackNames, EvaluativeListenerNames
from ...base.javanames import method_of
from ...errors import ConfigurationError
from ...evaluation import Evaluation
from .evaluation_listener import fresh
from .listener import Listener
from .listeners import report
from .operation import At, Operation

__all__ = ["EvaluationCallback", "EvaluativeListener", "InvocationType", "ModelSavingCallback"]


class InvocationType(JavaEnum):
    """Moments at which an :class:`EvaluativeListener` evaluates."""

    EPOCH_START = "EPOCH_START"
    EPOCH_END = "EPOCH_END"
    ITERATION_END = "ITERATION_END"


Callback = Callable[["EvaluativeListener", Any, int, list[Any]], None]


class EvaluationCallback(EvaluationCallbackNames):
    """Base of what an :class:`EvaluativeListener` calls after each run; a sub-class defines `call`, a function does as well."""

    def call(self, listener: EvaluativeListener, model: Any, invocations: int, evaluations: list[Any]) -> None:
        """Hear of a run: which listener and model, how many runs were before it, the evaluations."""
        raise NotImplementedError(f"{type(self).__name__} must implement call(self, listener, model, invocations, evaluations)")


class ModelSavingCallback(EvaluationCallback):
    """Saves the model after each run of an :class:`EvaluativeListener`.

    Parameters
    ----------
    *place : path, str
        A folder, and a pattern for the name of the file; or the pattern alone. ``%d`` in it is the number of the run, and ``%s`` the number
        of the model's steps.
    """

    def __init__(self, *place: Any) -> None:
        *folder, self.pattern = place
        if not isinstance(self.pattern, str) or len(folder) > 1:
            raise ConfigurationError(f"ModelSavingCallback takes a folder, and a pattern such as \"model_%d.zip\"; got {place}")
        self.folder = Path(*folder)

    def call(self, listener: EvaluativeListener, model: Any, invocations: int, evaluations: list[Any]) -> None:
        """Save the model."""
        name = self.pattern.replace("%d", str(invocations)).replace("%s", str(model.get_iteration_count()))
        model.save(self.folder / name)


class EvaluativeListener(Listener, EvaluativeListenerNames):
    """Evaluates a network on an iterator or a data set at every ``frequency``-th iteration or epoch.

    Parameters
    ----------
    data
        An iterator (reset before each evaluation), a data set or a list of batches.
    frequency
        How many iterations or epochs lie between two evaluations; the first one counts.
    invocation_type
        EPOCH_START, EPOCH_END or ITERATION_END.
    *evaluations
        The evaluations; by default one ``Evaluation``. They are new for each run; ``evaluations`` keeps the latest.
    callback
        ``callback(listener, model, number, evaluations)`` instead of reporting the statistics.
    """

    def __init__(self, data: Any, frequency: int, invocation_type: Any = InvocationType.ITERATION_END,
                 *evaluations: Any, callback: Callback | None = None) -> None:
        if frequency <= 0:
            raise ConfigurationError(f"EvaluativeListener: the frequency must be above 0, got {frequency}")
        if not isinstance(invocation_type, (InvocationType, str)):  # an evaluation: the type was left out
            invocation_type, evaluations = InvocationType.ITERATION_END, (invocation_type, *evaluations)
        self.data, self.frequency, self.callback = data, frequency, callback
        try:
            self.invocation_type = InvocationType(invocation_type)
        except ValueError:
            raise ConfigurationError(f"EvaluativeListener: {invocation_type!r} is no InvocationType; "
                                     f"one of {', '.join(t.name for t in InvocationType)}") from None
        self._patterns = evaluations
        self.evaluations: list[Any] = []
        self._heard = self._runs = 0

    def is_active(self, operation: Operation) -> bool:
        return operation is Operation.TRAINING

    def get_evaluations(self) -> list[Any]:
        """Return the evaluations of the latest run."""
        return self.evaluations

    def set_callback(self, callback: Callback) -> None:
        """Call that function, or the ``call`` of an :class:`EvaluationCallback`, after each run instead of reporting."""
        self.callback = callback

    def on_epoch_start(self, model: Any) -> None:
        self._invoke(InvocationType.EPOCH_START, model)

    def on_epoch_end(self, model: Any) -> None:
        self._invoke(InvocationType.EPOCH_END, model)

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Any = None) -> None:
        self._invoke(InvocationType.ITERATION_END, model)

    def _invoke(self, what: InvocationType, model: Any) -> None:
        if what is not self.invocation_type or not hasattr(model, "do_evaluation"):       # a layer that is pretrained
            return
        self._heard += 1
        if (self._heard - 1) % self.frequency:
            return
        if hasattr(self.data, "reset"):
            self.data.reset()
        self.evaluations = fresh(self._patterns) if self._patterns else _default()
        model.do_evaluation(self.data, *self.evaluations)
        self._runs += 1
        if self.callback is not None:
            call = method_of(self.callback, "call") or self.callback
            call(self, model, self._runs - 1, self.evaluations)
            return
        unit = "iteration" if what is InvocationType.ITERATION_END else "epoch"
        report(f"Reporting evaluation after {self._heard} {unit}(s)")
        for evaluation in self.evaluations:
            report(f"{type(evaluation).__name__}:\n{evaluation.stats()}")


def _default() -> list[Any]:
    return [Evaluation()]
