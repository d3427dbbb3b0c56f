"""Result of early stopping."""
from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from ...samediff.base.java.java_enum import JavaEnum
from ..structure.java_names import EarlyStoppingListenerNames, EarlyStoppingResultNames


class TerminationReason(JavaEnum):
    """Reasons for the end of a training."""

    Error = "Error"
    IterationTerminationCondition = "IterationTerminationCondition"
    EpochTerminationCondition = "EpochTerminationCondition"


_Reason: TypeAlias = TerminationReason          # in the class this is a name of its own


class EarlyStoppingResult(EarlyStoppingResultNames):
    """Report of a training with early stopping, and its best model.

    Parameters
    ----------
    reason : TerminationReason
        Kind of what ended the training.
    details : str
        The condition or error that did.
    score_vs_epoch : dict of float by int
        Scores by epoch, from 0.
    best_model_epoch, best_model_score
        Epoch and score of the best model; -1 and NaN when there is none.
    total_epochs : int
        Number of epochs that were done to their end.
    best_model : network or None
        The best model.
    """

    TerminationReason: ClassVar[type[TerminationReason]] = TerminationReason

    def __init__(self, reason: _Reason, details: str, score_vs_epoch: dict[int, float], best_model_epoch: int,
                 best_model_score: float, total_epochs: int, best_model: Any) -> None:
        self._reason, self._details, self._scores = reason, details, dict(score_vs_epoch)
        self._best_epoch, self._best_score, self._epochs, self._best = best_model_epoch, best_model_score, total_epochs, best_model

    def get_termination_reason(self) -> _Reason:
        """Kind of the reason."""
        return self._reason

    def get_termination_details(self) -> str:
        """The condition that ended the training, or the error."""
        return self._details

    def get_score_vs_epoch(self) -> dict[int, float]:
        """Score of each epoch in which one was calculated."""
        return dict(self._scores)

    def get_best_model_epoch(self) -> int:
        """Epoch (from 0) with the best score; -1 when there was none."""
        return self._best_epoch

    def get_best_model_score(self) -> float:
        """Its score."""
        return self._best_score

    def get_total_epochs(self) -> int:
        """Number of epochs that were done to their end."""
        return self._epochs

    def get_best_model(self) -> Any:
        """The model as it was after the best epoch, None when there is none."""
        return self._best

    def __repr__(self) -> str:
        return (f"EarlyStoppingResult(terminationReason={self._reason.name},details={self._details},"
                f"bestModelEpoch={self._best_epoch},bestModelScore={self._best_score},totalEpochs={self._epochs})")


class EarlyStoppingListener(EarlyStoppingListenerNames):
    """Hears of a training with early stopping; override what you want to hear."""

    def on_start(self, configuration: Any, model: Any) -> None:
        """Before the first epoch."""

    def on_epoch(self, epoch: int, score: float, configuration: Any, model: Any) -> None:
        """After every epoch with a score."""

    def on_completion(self, result: EarlyStoppingResult) -> None:
        """At the end."""
