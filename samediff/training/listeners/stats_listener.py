"""Listeners that record scores, rates, norms and histograms while graphs and networks train."""
from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ...base.java.java_enum import JavaEnum
from ...base.java_names import UIListenerBuilderNames
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError
from ..history import Loss, name_of
from .listener import Listener
from .listeners import examples_in, score_of
from .operation import At, Operation
from .stats import FileStatsStorage, StatsStorage, summary_of

__all__ = ["FileMode", "StatsListener", "UIListener"]


class StatsListener(Listener):
    """Records what training does: score, learning rate, speed, and of parameters, gradients and updates norms and histograms.

    Parameters
    ----------
    storage : StatsStorage
        Where the records go, such as ``FileStatsStorage("run.jsonl")``.
    frequency : int, default 1
        Record every so many iterations.
    bins : int, default 20
        Of the histograms; 0 for none.
    arrays : bool, default True
        Whether to look at parameters, gradients (of networks) and updates at all.

    Notes
    -----
    Source: DL4J's ``StatsListener`` and ``StatsStorage``; ``plot_stats`` draws what is stored.

    Examples
    --------
    >>> from dl4py.samediff.training import InMemoryStatsStorage
    >>> StatsListener(InMemoryStatsStorage(), 10).frequency
    10
    """

    def __init__(self, storage: StatsStorage, frequency: int = 1, *, bins: int = 20, arrays: bool = True) -> None:
        if frequency < 1 or bins < 0:
            raise ConfigurationError(f"StatsListener: the frequency must be at least 1 and bins at least 0, got {frequency} and {bins}")
        self.storage, self.frequency, self.bins = storage, frequency, bins
        self._wanted = dict.fromkeys(("score", "learning_rate", "performance"), frequency)
        self._wanted |= dict.fromkeys(("norms", "histograms"), frequency if arrays else 0)
        self._gradients: dict[str, Any] = {}
        self._before: dict[str, Any] = {}
        self._updates: dict[str, Any] = {}
        self._last_time: float | None = None
        if arrays:
            self._hear_arrays()

    def _hear_arrays(self) -> None:
        self.on_gradient_calculation = self._hear_gradient  # type: ignore[method-assign]  # wanted only now
        self.pre_update = self._hear_update  # type: ignore[method-assign]

    def is_active(self, operation: Operation) -> bool:
        return operation is Operation.TRAINING

    def _due(self, what: str, iteration: int) -> bool:
        return self._wanted[what] > 0 and iteration % self._wanted[what] == 0

    def _arrays_due(self, iteration: int) -> bool:
        return self._due("norms", iteration) or self._due("histograms", iteration)

    def _hear_gradient(self, model: Any) -> None:
        if self._arrays_due(int(model.get_iteration_count())):
            self._gradients = {n: np.array(a) for n, a in model.gradient().gradient_for_variable().items()}
            self._before = {n: np.array(a) for n, a in model.param_table().items()}

    def _hear_update(self, sd: Any, at: At, variable: Any, update: Any) -> None:
        if self._arrays_due(at.iteration()):
            self._updates[name_of(variable)] = np.array(update)

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        i = at.iteration()
        record: dict[str, Any] = {"iteration": i, "epoch": at.epoch(), "time": time.time()}
        if self._due("score", i):
            record["score"] = _number(score_of(model, loss))
        if self._due("learning_rate", i) and (rate := _rate(model, at)) is not None:
            record["learning_rate"] = rate
        now = time.perf_counter()
        if self._due("performance", i) and self._last_time is not None:
            record["iteration_ms"] = 1000 * (now - self._last_time)
            record["examples"] = examples_in(model, data_set)
        self._last_time = now
        if self._arrays_due(i):
            bins = self.bins if self._due("histograms", i) else 0
            for kind, arrays in self._all_arrays(model).items():
                record[kind] = {n: summary_of(a, bins) for n, a in arrays.items()}
        self._gradients, self._before, self._updates = {}, {}, {}
        if len(record) > 3:
            self.storage.put(record)

    def _all_arrays(self, model: Any) -> dict[str, dict[str, Any]]:
        if hasattr(model, "param_table"):
            parameters = dict(model.param_table())
            updates = {n: before - parameters[n] for n, before in self._before.items() if n in parameters}
            return {"parameters": parameters, "gradients": self._gradients, "updates": updates}
        return {"parameters": {n: model.variable(n).get_arr() for n in self._updates}, "updates": self._updates}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None      # JSON has no other numbers


def _rate(model: Any, at: At) -> float | None:
    """The learning rate: of the configuration of a graph, or of the first parameter of a network that has one."""
    if hasattr(model, "get_training_config"):
        updater = model.get_training_config().updater
        rate = getattr(updater, "get_learning_rate", lambda *_: None)(at.iteration(), at.epoch())
        return None if rate is None else _number(float(rate))
    for slot in model.engine.parameters.slots if hasattr(model, "engine") else ():      # a layer that is pretrained has none
        if slot.updater.has_learning_rate():
            return _number(float(slot.updater.get_learning_rate(at.iteration(), at.epoch())))
    return None


class FileMode(JavaEnum):
    """Treatment of an existing file by `UIListener`."""

    CREATE = "fail"
    APPEND = "add to it; fail when it is not there"
    CREATE_OR_APPEND = "add to it"
    CREATE_APPEND_NOCHECK = "add to it without asking which graph it was"


class UIListener(StatsListener):
    """Records the training of a graph in a file; `StatsListener` by the name and with the builder that SameDiff has.

    The file is that of `FileStatsStorage`: ``plot_stats(path)`` draws it. DL4J's user interface cannot read it.

    Parameters
    ----------
    path : path
        The file of the records.
    wanted : dict of str to int
        Iterations between two records of each kind; the builder fills it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> listener = UIListener.builder(pathlib.Path(folder.name) / "run.jsonl").plot_losses(1).update_ratios(10).build()
    >>> folder.cleanup()
    """

    FileMode = FileMode
    Builder: ClassVar[type[UIListenerBuilder]]

    def __init__(self, path: str | os.PathLike[str], wanted: dict[str, int], bins: int = 20) -> None:
        super().__init__(FileStatsStorage(path), bins=bins, arrays=False)
        self._wanted = dict.fromkeys(self._wanted, 0) | wanted
        if self._wanted["norms"] or self._wanted["histograms"]:
            self._hear_arrays()

    @staticmethod
    def builder(log_file: str | os.PathLike[str]) -> UIListenerBuilder:
        """Return a builder for a file."""
        return UIListenerBuilder(log_file)


class UIListenerBuilder(MethodBuilder, UIListenerBuilderNames):
    """Builder of :class:`UIListener`; every option says how many iterations lie between two records, 0 for none."""

    def __init__(self, log_file: str | os.PathLike[str]) -> None:
        self._path, self._mode, self._wanted = Path(log_file), FileMode.CREATE_OR_APPEND, dict[str, int]()

    def _every(self, what: str, frequency: int) -> Self:
        if frequency < 0:
            raise ConfigurationError(f"UIListener: a frequency must be at least 0, got {frequency}")
        self._wanted[what] = frequency
        return self

    def file_mode(self, file_mode: FileMode) -> Self:
        """Say what happens with a file that is there already."""
        self._mode = FileMode(file_mode)
        return self

    def plot_losses(self, frequency: int) -> Self:
        """Record the loss every ``frequency`` iterations."""
        return self._every("score", frequency)

    def learning_rate(self, frequency: int) -> Self:
        """Record the learning rate every ``frequency`` iterations."""
        return self._every("learning_rate", frequency)

    def performance_stats(self, frequency: int) -> Self:
        """Record the time of an iteration and the number of its examples."""
        return self._every("performance", frequency)

    def update_ratios(self, frequency: int) -> Self:
        """Record norms and mean magnitudes of parameters and updates, whose ratio tells whether the learning rate fits."""
        return self._every("norms", frequency)

    def histograms(self, frequency: int) -> Self:
        """Record histograms of parameters and updates every ``frequency`` iterations."""
        return self._every("histograms", frequency)

    def build(self) -> UIListener:
        """Return the listener.

        Raises
        ------
        ConfigurationError
            The file is there with ``CREATE``, or is not with ``APPEND``.
        """
        exists = self._path.exists()
        if (self._mode is FileMode.CREATE and exists) or (self._mode is FileMode.APPEND and not exists):
            raise ConfigurationError(f"UIListener: {self._path} {'is there already' if exists else 'is not there'}; "
                                     f"the file mode is {self._mode.name}")
        return UIListener(self._path, self._wanted or {"score": 1})


UIListener.Builder = UIListenerBuilder
