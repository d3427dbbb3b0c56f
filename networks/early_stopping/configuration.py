"""The settings of early stopping."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from ...samediff.base.javanames import in_python_spelling
from ...samediff.configuration.method_builder import MethodBuilder
from ...samediff.errors import ConfigurationError
from ...samediff.training.listeners.has_listeners import flat
from ..structure.java_names import EarlyStoppingConfigurationBuilderNames, EarlyStoppingConfigurationNames
from .savers import EarlyStoppingModelSaver, InMemoryModelSaver
from .scores import ScoreCalculator
from .termination import EpochTerminationCondition, IterationTerminationCondition


class EarlyStoppingConfiguration(EarlyStoppingConfigurationNames):
    """Conditions to stop, the score that counts, and the place where models are kept.

    Parameters
    ----------
    score_calculator : ScoreCalculator, or a function that makes one for every training
        What counts as good.
    epoch_termination_conditions, iteration_termination_conditions : sequences of conditions
        Asked after epochs with a score, and after every step; at least one condition in all.
    model_saver : EarlyStoppingModelSaver
        Where models are kept; in memory by default.
    save_last_model : bool
        Keep the model of the latest epoch with a score too; False by default.
    evaluate_every_n_epochs : int
        Epochs from one score to the next, at least 1; epoch 0 has one. Between them no epoch condition is asked.

    Raises
    ------
    ConfigurationError
        No condition, no score calculator, or things of another kind.

    Examples
    --------
    >>> from dl4py.networks import EarlyStoppingConfiguration, MaxEpochsTerminationCondition
    >>> conf = (EarlyStoppingConfiguration.Builder().epoch_termination_conditions(MaxEpochsTerminationCondition(30))
    ...         .score_calculator(lambda: DataSetLossCalculator(test_data, True)).evaluate_every_n_epochs(1).build())
    >>> conf.get_epoch_termination_conditions()
    [MaxEpochsTerminationCondition(30)]
    """

    Builder: ClassVar[type[EarlyStoppingConfigurationBuilder]]

    def __init__(self, score_calculator: ScoreCalculator | Callable[[], ScoreCalculator] | None = None,
                 epoch_termination_conditions: Sequence[EpochTerminationCondition] = (),
                 iteration_termination_conditions: Sequence[IterationTerminationCondition] = (),
                 model_saver: EarlyStoppingModelSaver | None = None, save_last_model: bool = False,
                 evaluate_every_n_epochs: int = 1) -> None:
        if evaluate_every_n_epochs < 1:
            raise ConfigurationError(f"evaluate_every_n_epochs must be at least 1, got {evaluate_every_n_epochs}")
        if not (score_calculator is None or callable(score_calculator) or isinstance(score_calculator, ScoreCalculator)):
            raise ConfigurationError(f"expected a ScoreCalculator, or a function that makes one; got {score_calculator!r:.60}")
        saver = InMemoryModelSaver() if model_saver is None else in_python_spelling(model_saver, "save_best_model")
        if saver is None:
            raise ConfigurationError(f"expected a model saver, which has save_best_model(model, score); got {type(model_saver).__name__}")
        self._score, self._saver = score_calculator, saver
        self._epoch = _all(epoch_termination_conditions, EpochTerminationCondition)
        self._iteration = _all(iteration_termination_conditions, IterationTerminationCondition)
        self._save_last, self._every = bool(save_last_model), int(evaluate_every_n_epochs)

    def validate(self) -> None:
        """ConfigurationError for settings with which no training ends or nothing is the best."""
        if not self._epoch and not self._iteration:
            raise ConfigurationError("no termination condition: training would never end; "
                                     "add epoch_termination_conditions or iteration_termination_conditions")
        if self._score is None:
            raise ConfigurationError("a score calculator must be defined, such as DataSetLossCalculator(test_data, True)")

    def get_score_calculator(self) -> ScoreCalculator | None:
        """The score calculator; a function that makes one is called."""
        if self._score is None or isinstance(self._score, ScoreCalculator):
            return self._score
        made = self._score()
        if not isinstance(made, ScoreCalculator):
            raise ConfigurationError(f"expected a ScoreCalculator from the score calculator's function; got {made!r:.60}")
        return made

    def get_epoch_termination_conditions(self) -> list[EpochTerminationCondition]:
        """Conditions asked after epochs."""
        return list(self._epoch)

    def get_iteration_termination_conditions(self) -> list[IterationTerminationCondition]:
        """Conditions asked after iterations."""
        return list(self._iteration)

    def get_model_saver(self) -> EarlyStoppingModelSaver:
        """The store of models."""
        return self._saver

    def is_save_last_model(self) -> bool:
        """Whether the latest model is kept too."""
        return self._save_last

    def get_evaluate_every_n_epochs(self) -> int:
        """Number of epochs between two calculations of a score."""
        return self._every


class EarlyStoppingConfigurationBuilder(MethodBuilder, EarlyStoppingConfigurationBuilderNames):
    """``EarlyStoppingConfiguration.Builder()…build()``, with DL4J's method names."""

    def model_saver(self, saver: EarlyStoppingModelSaver) -> Self:
        """Set the store of models."""
        return self._set(model_saver=saver)

    def score_calculator(self, calculator: ScoreCalculator | Callable[[], ScoreCalculator]) -> Self:
        """Set the calculator of scores."""
        return self._set(score_calculator=calculator)

    def epoch_termination_conditions(self, *conditions: Any) -> Self:
        """Conditions asked after epochs."""
        return self._set(epoch_termination_conditions=flat(conditions))

    def iteration_termination_conditions(self, *conditions: Any) -> Self:
        """Conditions asked after iterations."""
        return self._set(iteration_termination_conditions=flat(conditions))

    def save_last_model(self, save: bool) -> Self:
        """Whether to keep the latest model too."""
        return self._set(save_last_model=save)

    def evaluate_every_n_epochs(self, n: int) -> Self:
        """Set the number of epochs between two calculations of a score."""
        return self._set(evaluate_every_n_epochs=n)

    def build(self) -> EarlyStoppingConfiguration:
        """The configuration."""
        return EarlyStoppingConfiguration(**self._values)


def _all(conditions: Sequence[Any], kind: type[Any]) -> list[Any]:
    for condition in conditions:
        if not isinstance(condition, kind):
            raise ConfigurationError(f"expected conditions of the kind {kind.__name__}; got {condition!r:.60}")
    return list(conditions)


EarlyStoppingConfiguration.Builder = EarlyStoppingConfigurationBuilder
