"""The history of a fit as a listener."""
from __future__ import annotations

from typing import Any

from ..base.java_names import HistoryListenerNames
from .config import TrainingConfig
from .history import EvaluationRecord, History, LossCurve
from .listeners.evaluation_listener import BaseEvaluationListener, ListenerEvaluations
from .listeners.operation import At, ListenerResponse, Operation

__all__ = ["HistoryListener"]


class HistoryListener(BaseEvaluationListener, HistoryListenerNames):
    """Collects the :class:`History` of a fit: the evaluations of a training configuration, losses and times.

    Parameters
    ----------
    config : TrainingConfig or ListenerEvaluations
        What says which variables are evaluated, by which evaluations.
    """

    def __init__(self, config: TrainingConfig | ListenerEvaluations) -> None:
        self.config = config
        self._evaluations = config if isinstance(config, ListenerEvaluations) else ListenerEvaluations(
            config.train_evaluations, config.train_evaluation_labels, config.validation_evaluations, config.validation_evaluation_labels)
        self._training: list[EvaluationRecord] = []
        self._validation: list[EvaluationRecord] = []
        self._loss: LossCurve | None = None
        self._millis, self._times = 0, list[int]()

    def new_instance(self) -> HistoryListener:
        """Return a new listener for the same evaluations."""
        return HistoryListener(self.config)

    def evaluations(self) -> ListenerEvaluations:
        return self._evaluations

    def is_active(self, operation: Operation) -> bool:
        return operation.is_training_phase()

    def epoch_end_evaluations(self, sd: Any, at: At, loss_curve: LossCurve | None, epoch_time_millis: int,
                              evaluations: EvaluationRecord) -> ListenerResponse | None:
        self._training.append(evaluations)
        self._loss, self._millis = loss_curve, self._millis + epoch_time_millis
        return None

    def validation_done_evaluations(self, sd: Any, at: At, validation_time_millis: int,
                                    evaluations: EvaluationRecord) -> ListenerResponse | None:
        self._validation.append(evaluations)
        self._times.append(validation_time_millis)
        return None

    def get_report(self) -> History:
        """Return the history so far."""
        return History(self._training, self._validation, self._loss, self._millis, self._times)
