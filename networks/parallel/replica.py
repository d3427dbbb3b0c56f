"""Replica: one worker of a parallel training."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...samediff.base.locks import rlock
from ...samediff.base.source_line import SourceLine, work_for
from ...samediff.device.device_memory import to_host
from ...samediff.training.listeners.calls import Listeners
from ...samediff.training.listeners.listener import Listener
from ..batches.batch import NetworkBatch
from ..engine.pieces import is_cut, pieces_of
from ..models.fitting import NetworkFittingMixin
from .all_reduce import AllReduce, Alone
from .replicated import ReplicatedNetwork
from .settings import TrainingMode, WrapperSettings
from .shared_gradients import SharedGradientDescent


@dataclass(frozen=True)
class Task:
    """The task of a worker in one round: its batch (None at the end of the data), and what it has to exchange."""

    batch: NetworkBatch | None
    average: bool                   # parameters are averaged after this round
    pieces: int = 1                 # the most steps that any worker makes in this round
    etl_time: int = 0


@dataclass(frozen=True)
class Begin:
    """A training begins, at that line of the user."""

    line: SourceLine | None


class Replica:
    """A network and its place among the ranks."""

    def __init__(self, network: NetworkFittingMixin, ranks: AllReduce, settings: WrapperSettings) -> None:
        self.network, self._ranks, self._settings = network, ranks, settings
        self._model = ReplicatedNetwork(network)
        if settings.devices:
            network.to(settings.places()[ranks.rank])
        self._shared = SharedGradientDescent(network, ranks) if self._shares else None
        if ranks.rank:      # dropout draws other numbers than at rank 0, whose network stays as it is
            self._model.seed += ranks.rank

    @property
    def _shares(self) -> bool:
        return self._settings.training_mode is TrainingMode.SHARED_GRADIENTS and not isinstance(self._ranks, Alone)

    def do(self, task: Task | Begin, hear: Listeners) -> None:
        """Do a round, or the first one of a training."""
        if isinstance(task, Begin):
            work_for(task.line)
            self.begin()
        else:
            self.train(task, hear)

    def begin(self) -> None:
        """Take over parameters, updater state and counters of rank 0."""
        model = self._model
        counters = np.array([model.iteration, model.epoch], np.int64)
        for array in (*model.vectors(), counters):
            self._ranks.broadcast(array)
        model.iteration, model.epoch = counters.tolist()

    def train(self, task: Task, hear: Listeners) -> float | None:
        """One round. Gives the averaged score where parameters were averaged."""
        network, batch = self.network, task.batch
        if self._shared is None:
            if batch is not None:
                self._fit(task, batch, hear)
            return self._average(batch is not None) if task.average else None
        done = 0
        if not network.engine.parameters.slots:
            return None
        if batch is not None:
            self._fit(task, batch, hear)
            done = len(pieces_of(network.structure, batch))
        for _ in range(task.pieces - done):
            self._shared.step_without_data(batch, batch is not None and is_cut(network.structure, batch))
        return None

    def _fit(self, task: Task, batch: NetworkBatch, hear: Listeners) -> None:
        self.network.set_last_etl_time(task.etl_time)
        self.network.trainer.fit_batch(batch, hear, self._shared)

    def _average(self, active: bool) -> float:
        """Replace parameters, updater state and score by their means over the ranks that had data."""
        model = self._model
        with model.lock:
            sums = np.array([1.0, model.score] if active else [0.0, 0.0])
            self._ranks.reduce(sums)
            count, score = sums[0], float(sums[1] / sums[0])
            averaged = model.vectors(self._settings.average_updaters)
            means = [self._ranks.copied(a) for a in averaged]
            for array in means:
                if not active:
                    to_host(array)[...] = 0
                self._ranks.reduce(array, count)
            with model.gate:
                self._ranks.replace(averaged, means)
            model.score = score
        return score


class SharedListeners(Listeners):
    """Listeners that several workers tell, one worker at a time."""

    def __init__(self, listeners: Sequence[Listener], lock: Any = None) -> None:
        super().__init__(listeners)
        self._lock = lock or rlock()

    def call(self, hook: str, *args: Any) -> None:
        with self._lock:
            super().call(hook, *args)

    def iteration_done(self, *args: Any, **options: Any) -> None:
        with self._lock:
            super().iteration_done(*args, **options)
