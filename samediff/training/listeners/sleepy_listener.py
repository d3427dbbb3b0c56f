"""A listener that slows training down."""
from __future__ import annotations

import time
from typing import Any, Self

from ...base.java.java_enum import JavaEnum
from ...base.java_names import SleepyTrainingListenerBuilderNames
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError
from .listener import Listener
from .operation import Operation

__all__ = ["SleepMode", "SleepyTrainingListener", "TimeMode"]


class SleepMode(JavaEnum):
    """Ways to wait: the first two release the processor, the last keeps it busy."""

    PARK = "PARK"
    SLEEP = "SLEEP"
    BUSY = "BUSY"


class TimeMode(JavaEnum):
    """SIMPLE waits the given time; ADDITIVE waits the part of it that has not passed since the last such event."""

    SIMPLE = "SIMPLE"
    ADDITIVE = "ADDITIVE"


class SleepyTrainingListener(Listener):
    """Waits at chosen moments of the training of a network, to leave the machine to others.

    Parameters
    ----------
    timer_es, timer_ee, timer_ff, timer_bp, timer_iteration : int, default 0
        Milliseconds at the start and end of an epoch, after a forward pass, a backward pass, an iteration.
    sleep_mode : SleepMode, default PARK
        Whether the thread gives the processor away while it waits.
    time_mode : TimeMode, default SIMPLE
        Whether it waits the whole time, or what is left of it since the last such moment.

    Notes
    -----
    Source: DL4J's ``SleepyTrainingListener``. A timer of the forward pass makes every step compute its activations twice.

    Examples
    --------
    >>> listener = SleepyTrainingListener.builder().timerIteration(5).timeMode(TimeMode.ADDITIVE).build()
    >>> listener.timers["timer_iteration"]
    5
    """

    TIMERS = ("timer_es", "timer_ee", "timer_ff", "timer_bp", "timer_iteration")

    def __init__(self, *, timer_es: int = 0, timer_ee: int = 0, timer_ff: int = 0, timer_bp: int = 0, timer_iteration: int = 0,
                 sleep_mode: SleepMode = SleepMode.PARK, time_mode: TimeMode = TimeMode.SIMPLE) -> None:
        self.timers = dict(zip(self.TIMERS, (timer_es, timer_ee, timer_ff, timer_bp, timer_iteration)))
        if min(self.timers.values()) < 0:
            raise ConfigurationError(f"SleepyTrainingListener: times are milliseconds of at least 0, got {self.timers}")
        self.sleep_mode, self.time_mode = SleepMode(sleep_mode), TimeMode(time_mode)
        self._last: dict[str, float] = {}
        if timer_ff:        # only a listener that wants activations pays for them
            self.on_forward_pass = lambda model, activations: self._wait("timer_ff")  # type: ignore[method-assign]

    @staticmethod
    def builder() -> SleepyTrainingListenerBuilder:
        """Return a builder."""
        return SleepyTrainingListenerBuilder()

    def is_active(self, operation: Operation) -> bool:
        return operation is Operation.TRAINING

    def on_epoch_start(self, model: Any) -> None:
        self._wait("timer_es")

    def on_epoch_end(self, model: Any) -> None:
        self._wait("timer_ee")

    def on_backward_pass(self, model: Any) -> None:
        self._wait("timer_bp")

    def iteration_done(self, model: Any, iteration: int, epoch: int) -> None:
        self._wait("timer_iteration")

    def _wait(self, timer: str) -> None:
        seconds = self.timers[timer] / 1000
        now = time.perf_counter()
        if seconds and self.time_mode is TimeMode.ADDITIVE:
            seconds -= now - self._last.get(timer, now - seconds)
        if seconds > 0:
            if self.sleep_mode is SleepMode.BUSY:
                while time.perf_counter() - now < seconds:
                    pass
            else:
                time.sleep(seconds)
        self._last[timer] = time.perf_counter()


class SleepyTrainingListenerBuilder(MethodBuilder, SleepyTrainingListenerBuilderNames):
    """Builder: ``SleepyTrainingListener.builder().timer_iteration(100).build()``; times are milliseconds."""

    def timer_es(self, milliseconds: int) -> Self:
        """Wait so long at the start of each epoch."""
        return self._set(timer_es=milliseconds)

    def timer_ee(self, milliseconds: int) -> Self:
        """Wait so long at the end of each epoch."""
        return self._set(timer_ee=milliseconds)

    def timer_ff(self, milliseconds: int) -> Self:
        """Wait so long after each forward pass."""
        return self._set(timer_ff=milliseconds)

    def timer_bp(self, milliseconds: int) -> Self:
        """Wait so long after each backward pass."""
        return self._set(timer_bp=milliseconds)

    def timer_iteration(self, milliseconds: int) -> Self:
        """Wait so long after each iteration."""
        return self._set(timer_iteration=milliseconds)

    def sleep_mode(self, sleep_mode: SleepMode) -> Self:
        """Set the way of waiting; PARK by default."""
        return self._set(sleep_mode=sleep_mode)

    def time_mode(self, time_mode: TimeMode) -> Self:
        """Set whether the time since the last wait counts; SIMPLE (it does not) by default."""
        return self._set(time_mode=time_mode)

    def build(self) -> SleepyTrainingListener:
        """Return the listener."""
        return SleepyTrainingListener(**self._values)
