"""Conditions that end training, asked after every epoch or after every iteration."""
from __future__ import annotations

import math
import time

from ...samediff.base.java.time_unit import TimeUnit as TimeUnit
from ...samediff.base.javanames import JavaSpelling
from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.errors import ConfigurationError


class EpochTerminationCondition(JavaSpelling):
    """Asked after every epoch with a score. Derive from it for a condition of your own."""

    def initialize(self) -> None:
        """Forget what an earlier training left."""

    @unwritten(when_called=True)
    def terminate(self, epoch: int, score: float, minimize: bool) -> bool:
        """Whether to stop after this epoch (from 0); ``minimize`` says whether small scores are good."""
        raise NotImplementedError


class IterationTerminationCondition(JavaSpelling):
    """Asked after every iteration. Derive from it for a condition of your own."""

    def initialize(self) -> None:
        """Forget what an earlier training left."""

    @unwritten(when_called=True)
    def terminate(self, score: float) -> bool:
        """Whether to stop now, given the score of the last batch."""
        raise NotImplementedError


class MaxEpochsTerminationCondition(EpochTerminationCondition):
    """Stops after a number of epochs.

    Parameters
    ----------
    max_epochs : int
        At least 1. Epochs without a score are counted, but training can only end after one with a score.

    Examples
    --------
    >>> MaxEpochsTerminationCondition(5).terminate(4, 0.1, True)
    True
    """

    def __init__(self, max_epochs: int) -> None:
        if max_epochs < 1:
            raise ConfigurationError(f"max_epochs must be at least 1, got {max_epochs}")
        self.max_epochs = int(max_epochs)

    def terminate(self, epoch: int, score: float, minimize: bool) -> bool:
        """After the last of them."""
        return epoch + 1 >= self.max_epochs

    def __repr__(self) -> str:
        return f"MaxEpochsTerminationCondition({self.max_epochs})"


class ScoreImprovementEpochTerminationCondition(EpochTerminationCondition):
    """Stops when the score has not got better for a number of epochs.

    Parameters
    ----------
    max_epochs_with_no_improvement : int
        Training ends so many epochs after the one with the best score.
    min_improvement : float
        A score counts as better when it gains more than this; 0 by default.

    Examples
    --------
    >>> condition = ScoreImprovementEpochTerminationCondition(2)
    >>> [condition.terminate(epoch, score, True) for epoch, score in enumerate([0.5, 0.4, 0.4, 0.45])]
    [False, False, False, True]
    """

    def __init__(self, max_epochs_with_no_improvement: int, min_improvement: float = 0.0) -> None:
        self.max_epochs_with_no_improvement = int(max_epochs_with_no_improvement)
        self.min_improvement = float(min_improvement)
        self.initialize()

    def initialize(self) -> None:
        """No best score yet."""
        self.best_epoch, self.best_score = -1, math.nan

    def terminate(self, epoch: int, score: float, minimize: bool) -> bool:
        """Remembers the best score."""
        gain = self.best_score - score if minimize else score - self.best_score
        if self.best_epoch == -1 or gain > self.min_improvement:
            self.best_epoch, self.best_score = epoch, score
            return False
        return epoch >= self.best_epoch + self.max_epochs_with_no_improvement

    def __repr__(self) -> str:
        return (f"ScoreImprovementEpochTerminationCondition(maxEpochsWithNoImprovement={self.max_epochs_with_no_improvement}, "
                f"minImprovement={self.min_improvement})")


class BestScoreEpochTerminationCondition(EpochTerminationCondition):
    """Stops when the score is better than expected.

    Parameters
    ----------
    best_expected_score : float
        Training ends below it where small scores are good, else above it.
    lesser_better : bool
        Has no effect, as in DL4J: the score calculator says what is good.
    """

    def __init__(self, best_expected_score: float, lesser_better: bool = True) -> None:
        self.best_expected_score = float(best_expected_score)

    def terminate(self, epoch: int, score: float, minimize: bool) -> bool:
        """Below it where small scores are good, else above it."""
        return score < self.best_expected_score if minimize else score > self.best_expected_score

    def __repr__(self) -> str:
        return f"BestScoreEpochTerminationCondition({self.best_expected_score})"


class MaxTimeIterationTerminationCondition(IterationTerminationCondition):
    """Stops after a time, counted from the start of the training.

    Parameters
    ----------
    max_time_amount : float
        Above 0.
    max_time_unit : TimeUnit or str
        Seconds by default.
    """

    def __init__(self, max_time_amount: float, max_time_unit: TimeUnit | str = TimeUnit.SECONDS) -> None:
        if max_time_amount <= 0:
            raise ConfigurationError(f"the time must be positive, got {max_time_amount}")
        self.max_time_amount = max_time_amount
        self.max_time_unit = max_time_unit if isinstance(max_time_unit, TimeUnit) else TimeUnit[max_time_unit]
        self.initialize()

    def initialize(self) -> None:
        self._end = time.monotonic() + self.max_time_amount * self.max_time_unit.value

    def terminate(self, score: float) -> bool:
        """Once the time is over."""
        return time.monotonic() >= self._end

    def __repr__(self) -> str:
        return f"MaxTimeIterationTerminationCondition({self.max_time_amount},unit={self.max_time_unit.name})"


class MaxScoreIterationTerminationCondition(IterationTerminationCondition):
    """Stops when the score exceeds a bound, or is no number.

    Parameters
    ----------
    max_score : float
        The bound, of the score of a batch.
    """

    def __init__(self, max_score: float) -> None:
        self.max_score = float(max_score)

    def terminate(self, score: float) -> bool:
        return score > self.max_score or math.isnan(score)

    def __repr__(self) -> str:
        return f"MaxScoreIterationTerminationCondition({self.max_score})"


class InvalidScoreIterationTerminationCondition(IterationTerminationCondition):
    """Stops when the score is NaN or infinite."""

    def terminate(self, score: float) -> bool:
        """Training that has failed."""
        return not math.isfinite(score)

    def __repr__(self) -> str:
        return "InvalidScoreIterationTerminationCondition()"
