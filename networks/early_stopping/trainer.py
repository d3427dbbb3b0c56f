"""The training loop of early stopping."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...samediff.base.javanames import JavaSpelling
from ...samediff.data.given.forms import is_whole
from ...samediff.data.given.sources import source_of
from ...samediff.errors import ConfigurationError, DL4PyError
from ...samediff.training.listeners.calls import Listeners
from ..batches.given_data import batch_in
from ..models.computation_graph import ComputationGraph
from ..models.multilayer import MultiLayerNetwork
from ..structure.configuration import MultiLayerConfiguration
from ..structure.java_names import EarlyStoppingGraphTrainerNames, EarlyStoppingTrainerNames
from .configuration import EarlyStoppingConfiguration
from .result import EarlyStoppingListener, EarlyStoppingResult, TerminationReason
from .scores import ScoreCalculator


class EarlyStoppingTrainerBase(JavaSpelling):
    """Base of the trainers of both kinds of network.

    Parameters
    ----------
    configuration : EarlyStoppingConfiguration
        When to stop, what counts as good, where to keep models.
    network : network, or its configuration
        It goes on from where it is, with its counters; epochs of the result, of scores and of conditions are counted from 0.
    train : iterator of data sets, or a list of them
        Gone through once for every epoch.
    listener : EarlyStoppingListener, optional
        Hears of start, epochs with a score, and end.
    """

    kind: type[Any]

    def __init__(self, configuration: EarlyStoppingConfiguration, network: Any, train: Any,
                 listener: EarlyStoppingListener | None = None) -> None:
        if not isinstance(network, self.kind):
            raise ConfigurationError(f"{type(self).__name__} trains a {self.kind.__name__}; got a {type(network).__name__}")
        self._conf, self._network, self._train, self._listener = configuration, network, train, listener

    def set_listener(self, listener: EarlyStoppingListener | None) -> None:
        """Replace the listener."""
        self._listener = listener

    def fit(self) -> EarlyStoppingResult:
        """Train until a condition says stop.

        After every epoch (or every n-th) the score is calculated, the best model kept, the epoch conditions asked; the
        iteration conditions are asked after every step. An error that training raises ends it with the reason ``Error``.

        Raises
        ------
        ConfigurationError
            Settings with which no training ends or nothing is the best.
        """
        self._conf.validate()
        calculator = self._conf.get_score_calculator()
        assert calculator is not None          # validate has looked
        for ends_at_epoch in self._conf.get_epoch_termination_conditions():
            ends_at_epoch.initialize()
        for ends_at_iteration in self._conf.get_iteration_termination_conditions():
            ends_at_iteration.initialize()
        self._tell(lambda heard: heard.on_start(self._conf, self._network))
        result = self._run(calculator).fit()
        self._tell(lambda heard: heard.on_completion(result))
        return result

    def _run(self, calculator: ScoreCalculator) -> EarlyStoppingRun:
        data = [self._train] if is_whole(self._train) else source_of(self._train)
        return EarlyStoppingRun(self._conf, self._network, data, calculator, self._tell)

    def pretrain(self) -> None:
        """Layer-wise training without labels, once through the data."""
        self._network.pretrain(self._train)

    def _tell(self, message: Callable[[EarlyStoppingListener], None]) -> None:
        if self._listener is not None:
            message(self._listener)


class EarlyStoppingRun:
    """One training with early stopping."""

    def __init__(self, conf: EarlyStoppingConfiguration, network: Any, train: Any, calculator: ScoreCalculator,
                 tell: Callable[[Callable[[EarlyStoppingListener], None]], None]) -> None:
        self.conf, self.network, self.calculator, self.tell = conf, network, calculator, tell
        self.train = train
        self.start, self.scores = network.get_epoch_count(), dict[int, float]()
        self.best_epoch, self.best_score = -1, math.nan

    def fit(self) -> EarlyStoppingResult:
        """Epoch after epoch."""
        epoch = 0
        while True:
            self.network.set_epoch_count(self.start + epoch)
            try:
                stopped = self.epoch()
            except DL4PyError as error:
                return self._result(TerminationReason.Error, f"{type(error).__name__}: {error}", epoch)
            if stopped is not None:
                if self.conf.is_save_last_model():
                    self.conf.get_model_saver().save_latest_model(self.network, 0.0)
                return self._result(TerminationReason.IterationTerminationCondition, repr(stopped), epoch)
            self.network.set_epoch_count(self.start + epoch + 1)        # done, for who goes on from a model that is kept
            if epoch % self.conf.get_evaluate_every_n_epochs() == 0:
                score = self._evaluate(epoch)
                for condition in self.conf.get_epoch_termination_conditions():
                    if condition.terminate(epoch, score, self.calculator.minimize_score()):
                        return self._result(TerminationReason.EpochTerminationCondition, repr(condition), epoch + 1)
            epoch += 1

    def epoch(self) -> Any:
        """Once through the data; the iteration condition that says stop, or None."""
        network, steps = self.network, 0
        hear = Listeners(network.get_listeners())
        hear.epoch_start(network, network.engine.progress.at)
        for data in self.train:
            network.fit(batch_in(network.structure, data, "fit"))
            steps += 1
            if (condition := self.met(network.score())) is not None:
                return condition
        if not steps:
            raise ConfigurationError("the training data is empty, or an iterator that can be read only once")
        hear.epoch_end(network, network.engine.progress.at)
        return None

    def met(self, score: float) -> Any:
        """The iteration condition that says stop at this score, or None."""
        return next((c for c in self.conf.get_iteration_termination_conditions() if c.terminate(score)), None)

    def _evaluate(self, epoch: int) -> float:
        """Score the network; keep it where it is the best so far."""
        score = self.scores[epoch] = self.calculator.calculate_score(self.network)
        gain = self.best_score - score if self.calculator.minimize_score() else score - self.best_score
        if self.best_epoch == -1 or gain > 0 or (math.isnan(self.best_score) and not math.isnan(score)):
            self.best_epoch, self.best_score = epoch, score
            self.conf.get_model_saver().save_best_model(self.network, score)
        if self.conf.is_save_last_model():
            self.conf.get_model_saver().save_latest_model(self.network, score)
        self.tell(lambda heard: heard.on_epoch(epoch, score, self.conf, self.network))
        return score

    def _result(self, reason: TerminationReason, details: str, epochs: int) -> EarlyStoppingResult:
        best = self.conf.get_model_saver().get_best_model() if self.best_epoch >= 0 else None
        return EarlyStoppingResult(reason, details, self.scores, self.best_epoch, self.best_score, epochs, best)


class EarlyStoppingTrainer(EarlyStoppingTrainerBase, EarlyStoppingTrainerNames):
    """Trains a :class:`~dl4py.networks.MultiLayerNetwork` with early stopping.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.layers import OutputLayer
    >>> from dl4py.networks import DataSetLossCalculator, MaxEpochsTerminationCondition, NeuralNetConfiguration
    >>> from dl4py.samediff import DataSet
    >>> data = [DataSet(np.eye(2), np.eye(2))]
    >>> stop = EarlyStoppingConfiguration(DataSetLossCalculator(data), [MaxEpochsTerminationCondition(3)])
    >>> conf = NeuralNetConfiguration.Builder().seed(1).list(OutputLayer(n_in=2, n_out=2)).build()
    >>> result = EarlyStoppingTrainer(stop, conf, data).fit()
    >>> result.get_total_epochs(), result.get_best_model_epoch()
    (3, 2)
    """

    kind = MultiLayerNetwork

    def __init__(self, configuration: EarlyStoppingConfiguration, network: Any, train: Any,
                 listener: EarlyStoppingListener | None = None) -> None:
        if isinstance(network, MultiLayerConfiguration):
            network = MultiLayerNetwork(network).init()
        super().__init__(configuration, network, train, listener)


class EarlyStoppingGraphTrainer(EarlyStoppingTrainerBase, EarlyStoppingGraphTrainerNames):
    """Trains a :class:`~dl4py.networks.ComputationGraph`, which is given itself, with early stopping."""

    kind = ComputationGraph
