"""A listener that writes what training spends its time on, for chrome://tracing."""
from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ...base.java_names import ProfilingListenerBuilderNames
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError
from ...executor.stepwise import profiled
from ...executor.trace import TraceFile, event, track_names
from ...ir.run_context import RunContext
from ..history import LossCurve
from .listener import Listener
from .operation import At, Operation

__all__ = ["ProfilingListener", "ProfilingListenerBuilder"]

_FIT, _OPS = 1, 2


class ProfilingListener(Listener):
    """Writes a trace of Chrome's format while graphs and networks train: epochs, iterations, and of networks what these consist of.

    After the first iteration that is recorded, the ops of a step follow in a track of their own, each timed by itself: in the step
    they run in native calls, which cannot be looked into. The file is valid JSON after every iteration.

    Parameters
    ----------
    output_file : path
        Replaced when recording begins.
    warmup : int, default 0
        Iterations that are not recorded.
    max_iterations, max_milliseconds : int, optional
        When to stop recording.
    operations : sequence of Operation, optional
        What to record; by default training.

    Notes
    -----
    Source: ND4J's ``ProfilingListener``, which times the ops of graphs one by one.

    Examples
    --------
    >>> listener = ProfilingListener.builder("trace.json").warmup(5).max_profile_iterations(10).build()
    >>> listener.warmup, listener.max_iterations
    (5, 10)
    """

    Builder: ClassVar[type[ProfilingListenerBuilder]]

    def __init__(self, output_file: str | os.PathLike[str], *, warmup: int = 0, max_iterations: int | None = None,
                 max_milliseconds: int | None = None, operations: Any = (Operation.TRAINING,)) -> None:
        for name, value, least in (("warmup", warmup, 0), ("max_iterations", max_iterations, 1), ("max_milliseconds", max_milliseconds, 1)):
            if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__") or value < least):
                raise ConfigurationError(f"ProfilingListener: {name} must be a whole number of at least {least}, got {value!r}")
        self.output_file, self.warmup = Path(output_file), warmup
        self.max_iterations, self.max_milliseconds = max_iterations, max_milliseconds
        self.operations = frozenset(Operation(o) for o in operations)
        self._file: TraceFile | None = None
        self._heard = self._recorded = 0
        self._zero = self._began = 0.0
        self._gradient_at: float | None = None

    @staticmethod
    def builder(output_file: str | os.PathLike[str]) -> ProfilingListenerBuilder:
        """Return a builder for a file."""
        return ProfilingListenerBuilder(output_file)

    def is_active(self, operation: Operation) -> bool:
        return operation in self.operations

    def _records(self) -> bool:
        """Whether the current iteration is recorded."""
        if self._heard < self.warmup or (self.max_iterations is not None and self._recorded >= self.max_iterations):
            return False
        late = self.max_milliseconds is not None and self._file is not None and 1000 * (self._now() - self._zero) > self.max_milliseconds
        return not late

    @staticmethod
    def _now() -> float:
        return time.perf_counter()

    def epoch_end(self, sd: Any, at: At, loss_curve: LossCurve | None, epoch_time_millis: int) -> None:
        if self._file is not None and self._records():
            self._file.append([{**event(f"end of epoch {at.epoch()}", "epoch", self._now() - self._zero, 0.0, _FIT), "ph": "i", "s": "p"}])

    def iteration_start(self, sd: Any, at: At, data: Any, etl_time_ms: int) -> None:
        self._began, self._gradient_at = self._now(), None

    def on_gradient_calculation(self, model: Any) -> None:
        self._gradient_at = self._now()

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Any = None) -> None:
        ended = self._now()
        records, self._heard = self._records(), self._heard + 1
        if not records:
            return
        if self._file is None:
            self._zero = self._began
            self._file = TraceFile(self.output_file, track_names(["fit", "ops of one step, each by itself"], "dl4py"))
        start = self._began - self._zero
        events = [event(f"iteration {at.iteration()}", at.operation().name, start, ended - self._began, _FIT, epoch=at.epoch())]
        if self._gradient_at is not None:
            events += [event("forward and backward", "gradient", start, self._gradient_at - self._began, _FIT),
                       event("update", "update", self._gradient_at - self._zero, ended - self._gradient_at, _FIT)]
        self._recorded += 1
        self._file.append(events)
        if self._recorded == 1:
            self._file.append(_ops(model, at, self._now() - self._zero))


def _ops(model: Any, at: At, start: float) -> list[dict[str, Any]]:
    """The steps of the plan that the model has just run; nothing without one."""
    step = model.last_training_step() if hasattr(model, "last_training_step") else None
    if step is None or step.last_plan is None:
        return []
    plan = step.last_plan
    feeds = {n: np.zeros(plan.specs[n].shape, plan.specs[n].dtype.numpy) for n in plan.feeds}       # the time does not depend on values
    found = profiled(plan, feeds, RunContext(True, 0, at.iteration()), 1)
    shown = [e for e in found.trace_events() if e["ph"] == "X"]
    return [{**e, "ts": round(e["ts"] + 1e6 * start, 3), "tid": _OPS} for e in shown]


class ProfilingListenerBuilder(MethodBuilder, ProfilingListenerBuilderNames):
    """Builder of :class:`ProfilingListener`; every option returns the builder.

    Parameters
    ----------
    output_file : path
        The trace that is written.
    """

    def __init__(self, output_file: str | os.PathLike[str]) -> None:
        super().__init__()
        self._file = output_file

    def record_all(self) -> Self:
        """Record all iterations of all operations."""
        return self._set(operations=tuple(Operation), warmup=0, max_iterations=None, max_milliseconds=None)

    def warmup(self, iterations: int) -> Self:
        """Leave out the first iterations."""
        return self._set(warmup=iterations)

    def max_profile_iterations(self, iterations: int) -> Self:
        """Stop after so many recorded iterations."""
        return self._set(max_iterations=iterations)

    def max_profiler_milliseconds(self, ms: int) -> Self:
        """Stop after so many milliseconds."""
        return self._set(max_milliseconds=ms)

    def operations(self, *operations: Operation) -> Self:
        """Record these operations."""
        return self._set(operations=operations)

    def build(self) -> ProfilingListener:
        """Make the listener."""
        return ProfilingListener(self._file, **self._values)


ProfilingListener.Builder = ProfilingListenerBuilder
