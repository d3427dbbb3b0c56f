"""What one worker of a parallel training does."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...samediff.base.locks import rlock
from ...samediff.base.source import SourceLine, work_for
from ...samediff.device.device_memory import to_host
from ...samediff.training.listeners.listener import Listener, Listeners
from ...samediff.training.steps.transaction import Transaction
from ..engine.batch import Batch
from ..models.fitting import Fitting
from .all_reduce import AllReduce, Alone
from .settings import TrainingMode, WrapperSettings
from .shared_gradients import SharedGradientDescent


@dataclass(frozen=True)
class Task:
    """What a worker shall do in one round: its batch (None at the end of the data), and what it has to exchange."""

    batch: Batch | None
    average: bool                   # parameters are averaged after this round
    pieces: int = 1                 # the most steps that any worker makes in this round
    etl_time: int = 0


@dataclass(frozen=True)
class Begin:
    """A training begins, at that line of the user."""

    line: SourceLine | None


class Replica:
    """A network and its place among the ranks."""

    def __init__(self, network: Fitting, ranks: AllReduce, settings: WrapperSettings) -> None:
        self.network, self._ranks, self._settings = network, ranks, settings
        if settings.devices:
            network.to(settings.places()[ranks.rank])
        self._shared = SharedGradientDescent(network, ranks) if self._shares else None
        if ranks.rank:      # dropout draws other numbers than at rank 0, whose network stays as it is
            structure = network.engine.structure
            network.engine.structure = replace(structure, seed=structure.seed + ranks.rank)

    @property
    def _shares(self) -> bool:
        return self._settings.training_mode is TrainingMode.SHARED_GRADIENTS and not isinstance(self._ranks, Alone)

    def do(self, task: Task | Begin, hear: Listeners) -> None:
        """What comes next: a round, or the first one of a training."""
        if isinstance(task, Begin):
            work_for(task.line)
            self.begin()
        else:
            self.train(task, hear)

    def begin(self) -> None:
        """Take over parameters, updater state and counters of rank 0."""
        engine = self.network.engine
        counters = np.array([engine.iteration, engine.epoch], np.int64)
        params, _, state = engine.flat.vectors
        for array in (params, state, counters):
            self._ranks.broadcast(array)
        engine.iteration, engine.epoch = counters.tolist()

    def train(self, task: Task, hear: Listeners) -> float | None:
        """One round. Gives the averaged score where parameters were averaged."""
        network, batch = self.network, task.batch
        if self._shared is None:
            if batch is not None:
                self._fit(task, batch, hear)
            return self._average(batch is not None) if task.average else None
        done = 0
        if not network.engine.slots:
            return None
        if batch is not None:
            self._fit(task, batch, hear)
            done = pieces_of(network, batch)
        for _ in range(task.pieces - done):
            self._shared.step_without_data(batch, batch is not None and _is_cut(network, batch))
        return None

    def _fit(self, task: Task, batch: Batch, hear: Listeners) -> None:
        self.network.set_last_etl_time(task.etl_time)
        self.network._fit_batch(batch, hear, self._shared)

    def _average(self, active: bool) -> float:
        """Replace parameters, updater state and score by their means over the ranks that had data."""
        engine = self.network.engine
        with engine.lock:
            sums = np.array([1.0, self.network.score()] if active else [0.0, 0.0])
            self._ranks.reduce(sums)
            count, score = sums[0], float(sums[1] / sums[0])
            params, _, state = engine.flat.vectors
            averaged = [params, *([state] if self._settings.average_updaters else [])]
            means = averaged if self._ranks.on_devices else [to_host(a).copy() for a in averaged]
            for array in means:
                if not active:
                    to_host(array)[...] = 0
                self._ranks.reduce(array, count)
            if means is not averaged:
                with engine.flat.gate, Transaction(averaged):
                    for array, mean in zip(averaged, means):
                        array[...] = mean
            self.network._score = score
        return score


def pieces_of(network: Fitting, batch: Batch) -> int:
    """Steps that a network makes of a batch: more than one with truncated back-propagation."""
    if not _is_cut(network, batch):
        return 1
    length, series = network._tbptt() or 1, next(x for x in batch.inputs if x.ndim == 3)
    return math.ceil(int(series.shape[network._time_axis()]) / length)


def _is_cut(network: Fitting, batch: Batch) -> bool:
    return network._tbptt() is not None and any(x.ndim == 3 for x in batch.inputs)


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
