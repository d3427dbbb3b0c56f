"""Listeners that record scores, rates, norms and histograms while graphs and networks train."""
from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
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
from .stats import FileStatsStorage, StatsStorageRouter, summary_of
from .stats_run import new_session, routers_of, run_of, used

__all__ = ["FileMode", "StatsListener", "UIListener"]


class StatsListener(Listener):
    """Records what training does: score, learning rate, speed, and of parameters, gradients and updates norms and histograms.

    Parameters
    ----------
    storage : StatsStorageRouter, or a sequence of them
        Where the records go, such as ``FileStatsStorage("run.jsonl")`` or ``TensorBoardRouter("runs/first")``.
    frequency : int, default 1
        Record every so many iterations.
    bins : int, default 20
        Of the histograms; 0 for none.
    arrays : bool, default True
        Whether to look at parameters, gradients (of networks) and updates at all.
    activations : int, default 25
        Look at the activations of a network at every so many records, 0 for never: they take another forward pass.
    session : str, optional
        Name of the run; by default the time and a random number.

    Notes
    -----
    Source: DL4J's ``StatsListener`` and ``StatsStorage``; ``plot_stats`` draws what is stored, :class:`UIServer` shows it live. DL4J
    records every tenth iteration by default.

    Examples
    --------
    >>> from dl4py.samediff.training import InMemoryStatsStorage
    >>> StatsListener(InMemoryStatsStorage(), 10).frequency
    10
    """

    def __init__(self, storage: StatsStorageRouter | Sequence[StatsStorageRouter], frequency: int = 1, *, bins: int = 20,
                 arrays: bool = True, activations: int = 25, session: str | None = None) -> None:
        if frequency < 1 or bins < 0:
            raise ConfigurationError(f"StatsListener: the frequency must be at least 1 and bins at least 0, got {frequency} and {bins}")
        if activations < 0:
            raise ConfigurationError(f"StatsListener: activations must be at least 0, got {activations}")
        self.storage, self.frequency, self.bins, self.activations = storage, frequency, bins, activations
        self.session = new_session() if session is None else session
        self._wanted = dict.fromkeys(("score", "learning_rate", "performance"), frequency)
        self._wanted |= dict.fromkeys(("norms", "histograms"), frequency if arrays else 0)
        self._gradients: dict[str, Any] = {}
        self._before: dict[str, Any] = {}
        self._updates: dict[str, Any] = {}
        self._layers: dict[str, Any] = {}
        self._last_time: float | None = None
        self._etl_ms, self._recording, self._began = 0, 0.0, False
        self._hears_arrays = self._stays = False
        self._kept: dict[str, Any] = {}
        if arrays:
            self._hear_arrays()

    def _hear_arrays(self) -> None:
        self._hears_arrays = True
        self.on_gradient_calculation = self._hear_gradient  # type: ignore[method-assign]  # wanted only now
        self.pre_update = self._hear_update  # type: ignore[method-assign]
        if self.activations:
            self.on_forward_pass = self._hear_activations  # type: ignore[method-assign]

    def is_active(self, operation: Operation) -> bool:
        return operation is Operation.TRAINING

    def hears(self, hook: str, iteration: int) -> bool:
        if hook == "on_forward_pass":
            return self._arrays_due(iteration) and iteration % (self.frequency * self.activations) == 0
        if hook == "on_gradient_calculation" and self._stays:
            return False
        return hook not in ("on_gradient_calculation", "pre_update") or self._arrays_due(iteration)

    def _due(self, what: str, iteration: int) -> bool:
        return self._wanted[what] > 0 and iteration % self._wanted[what] == 0

    def _arrays_due(self, iteration: int) -> bool:
        return self._due("norms", iteration) or self._due("histograms", iteration)

    def on_epoch_start(self, model: Any) -> None:
        if self._last_time is not None:         # what happens between epochs is no part of an iteration
            self._last_time = time.perf_counter()

    def iteration_start(self, sd: Any, at: At, data: Any, etl_time_ms: int) -> None:
        self._etl_ms = etl_time_ms
        if self._hears_arrays and hasattr(sd, "param_table") and self._arrays_due(at.iteration()):
            self._stays = _gradient_stays(sd)
            if self._stays:
                self._before = {n: self._copied(n, a) for n, a in sd.param_table().items()}

    def _copied(self, name: str, array: Any) -> Any:
        """A copy, in memory that is kept for it."""
        kept = self._kept.get(name)
        if kept is None or kept.shape != array.shape or kept.dtype != array.dtype:
            kept = self._kept[name] = np.empty_like(array, subok=False)
        np.copyto(kept, array)
        return kept

    def _hear_activations(self, model: Any, activations: Any) -> None:
        if self.hears("on_forward_pass", int(model.get_iteration_count())):
            named = activations.items() if isinstance(activations, dict) else zip(["input", *range(len(activations))], activations)
            self._layers = {str(n): summary_of(a, 0) for n, a in named if np.asarray(a).dtype.kind == "f"}

    def _hear_gradient(self, model: Any) -> None:
        if self._arrays_due(int(model.get_iteration_count())):
            self._gradients = {n: np.array(a) for n, a in model.gradient().gradient_for_variable().items()}
            self._before = {n: self._copied(n, a) for n, a in model.param_table().items()}

    def _hear_update(self, sd: Any, at: At, variable: Any, update: Any) -> None:
        if self._arrays_due(at.iteration()):
            self._updates[name_of(variable)] = np.array(update)

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        i, now = at.iteration(), time.perf_counter()
        record: dict[str, Any] = {}
        if self._due("score", i):
            record["score"] = _number(score_of(model, loss))
        if self._due("learning_rate", i) and (rate := _rate(model, at)) is not None:
            record["learning_rate"] = rate
        if self._due("performance", i) and self._last_time is not None:
            record |= {"iteration_ms": 1000 * (now - self._last_time), "etl_ms": self._etl_ms, "examples": examples_in(model, data_set),
                       "recording_ms": self._recording, **used()}
        if self._arrays_due(i):
            bins = self.bins if self._due("histograms", i) else 0
            for kind, arrays in self._all_arrays(model).items():
                record[kind] = {n: summary_of(a, bins) for n, a in arrays.items()}
            if self._layers:
                record["activations"] = self._layers
        self._gradients, self._before, self._updates, self._layers = {}, {}, {}, {}
        if record:
            self._put(model, {"session": self.session, "iteration": i, "epoch": at.epoch(), "time": time.time(), **record})
            self._recording = 1000 * (time.perf_counter() - now)
        self._last_time = time.perf_counter()

    def _put(self, model: Any, record: dict[str, Any]) -> None:
        if not self._began:
            record["run"] = run_of(model)
            self._began = True
        for router in routers_of(self.storage):
            router.put(record)

    def _all_arrays(self, model: Any) -> dict[str, dict[str, Any]]:
        if hasattr(model, "param_table"):
            parameters = _plain(model.param_table())
            updates = {n: np.subtract(before, parameters[n], out=before) for n, before in self._before.items() if n in parameters}
            gradients = _plain(model.gradient().gradient_for_variable()) if self._stays and not self._gradients else self._gradients
            return {"parameters": parameters, "gradients": gradients, "updates": updates}
        return {"parameters": _plain({n: model.variable(n).get_arr() for n in self._updates}), "updates": self._updates}


def _plain(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays as NumPy's, whose methods count here."""
    return {n: np.asarray(a) for n, a in arrays.items()}


def _gradient_stays(network: Any) -> bool:
    """Whether the gradient is the same after the step, which then may run in one call: nothing normalizes it, and no search moves on."""
    algorithm = network.structure.solver.algorithm if hasattr(network, "structure") else None
    return getattr(algorithm, "name", "") == "STOCHASTIC_GRADIENT_DESCENT" and not network.engine.parameters.rules.normalizes


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
        super().__init__(FileStatsStorage(path), bins=bins, arrays=False, activations=0)
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
