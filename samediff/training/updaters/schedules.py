"""Schedules: values that change with the iteration or the epoch (rates, momentum, coefficients, dropout)."""
from __future__ import annotations

import math
from typing import Any, ClassVar, Self

from ...base.java.java_enum import JavaEnum
from ...base.java_names import (
    CountedScheduleNames,
    CycleScheduleNames,
    ExponentialScheduleNames,
    FixedScheduleNames,
    InverseScheduleNames,
    MapScheduleBuilderNames,
    MapScheduleNames,
    PolyScheduleNames,
    RampScheduleNames,
    ScheduleNames,
    SigmoidScheduleNames,
    StepScheduleNames,
)
from ...base.user_code.abstract_methods import unwritten
from ...base.user_code.user_methods import is_number
from ...configuration.builder import Builder, BuilderAccess
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration, field
from ...errors import ConfigurationError, NumericalError

__all__ = [
    "CycleSchedule", "ExponentialSchedule", "FixedSchedule", "ISchedule", "InverseSchedule", "MapSchedule", "PolySchedule", "RampSchedule",
    "Schedule", "ScheduleType", "SigmoidSchedule", "StepSchedule", "value_of",
]


class ScheduleType(JavaEnum):
    """Unit of a schedule: iterations or epochs, both from 0."""

    ITERATION = "ITERATION"
    EPOCH = "EPOCH"


@configuration()
class Schedule(Configuration, ScheduleNames):
    """A number as a function of iteration and epoch (DL4J's ``ISchedule``).

    Subclass with ``value_at`` (any rule) or derive from :class:`CountedSchedule` and write ``at(count)``.
    Where a schedule is expected, a number stands for a :class:`FixedSchedule`.
    """

    result_checks = {"value_at": is_number}

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and issubclass(FixedSchedule, cls):
            fixed: Any = FixedSchedule(float(value))
            return fixed  # type: ignore[no-any-return]
        return super().of(value)

    @unwritten
    def value_at(self, iteration: int, epoch: int) -> float:
        """Return the value in that iteration (from 0) of that epoch (from 0)."""
        raise NotImplementedError


#: DL4J's name of the base.
ISchedule = Schedule


def value_of(value: float | Schedule, iteration: int, epoch: int) -> float:
    """Return a plain number, or the present value of a schedule.

    Parameters
    ----------
    value : float or Schedule
        Numbers come back as they are.
    iteration, epoch : int
        Counts from 0.
    """
    return value.value_at(iteration, epoch) if isinstance(value, Schedule) else float(value)


@configuration("org.nd4j.linalg.schedule.FixedSchedule")
class FixedSchedule(Schedule, FixedScheduleNames):
    """``value`` at all times.

    Parameters
    ----------
    value : float
        Any number.

    Examples
    --------
    >>> FixedSchedule(0.1).value_at(iteration=7, epoch=2)
    0.1
    """

    value: float

    def value_at(self, iteration: int, epoch: int) -> float:
        return self.value


@configuration()
class CountedSchedule(Schedule, CountedScheduleNames):
    """Base of schedules that depend on one count ``i``: the iteration or the epoch, by ``schedule_type``.

    Parameters
    ----------
    schedule_type : ScheduleType or str
        What ``i`` counts: "ITERATION" or "EPOCH", from 0.
    """

    schedule_type: Convertible[ScheduleType]

    def value_at(self, iteration: int, epoch: int) -> float:
        count = iteration if self.schedule_type is ScheduleType.ITERATION else epoch
        try:
            return self.at(count)
        except ArithmeticError as error:
            raise NumericalError(f"{self!r} has no value at {count}: {error}") from error

    @unwritten
    def at(self, count: int) -> float:
        """Return the value at a count of iterations or epochs."""
        raise NotImplementedError


@configuration("org.nd4j.linalg.schedule.ExponentialSchedule")
class ExponentialSchedule(CountedSchedule, ExponentialScheduleNames):
    """``initial_value * gamma**i``.

    Parameters
    ----------
    initial_value : float
        The value at 0.
    gamma : float
        Factor from one count to the next: below 1 for a value that falls.

    Examples
    --------
    >>> ExponentialSchedule(ScheduleType.EPOCH, 1.0, 0.5).value_at(iteration=99, epoch=2)
    0.25
    """

    initial_value: float
    gamma: float

    def at(self, count: int) -> float:
        return float(self.initial_value * self.gamma**count)


@configuration("org.nd4j.linalg.schedule.InverseSchedule")
class InverseSchedule(CountedSchedule, InverseScheduleNames):
    """``initial_value / (1 + gamma * i)**power``.

    Parameters
    ----------
    initial_value : float
        The value at 0.
    gamma, power : float
        How fast the value falls, and with which power.
    """

    initial_value: float
    gamma: float
    power: float

    def at(self, count: int) -> float:
        return float(self.initial_value / (1 + self.gamma * count) ** self.power)


@configuration("org.nd4j.linalg.schedule.PolySchedule")
class PolySchedule(CountedSchedule, PolyScheduleNames):
    """``initial_value * (1 + i / max_iter)**power`` while ``i < max_iter``, then 0: as in DL4J it grows, then drops.

    Parameters
    ----------
    initial_value : float
        The value at 0.
    power : float
        Exponent; 0 keeps the value.
    max_iter : int
        The count from which on the value is 0.
    """

    initial_value: float
    power: float
    max_iter: int

    def at(self, count: int) -> float:
        return self.initial_value * (1 + count / self.max_iter) ** self.power if count < self.max_iter else 0.0


@configuration("org.nd4j.linalg.schedule.SigmoidSchedule")
class SigmoidSchedule(CountedSchedule, SigmoidScheduleNames):
    """``initial_value / (1 + exp(-gamma * (i - step_size)))``: grows for positive gamma.

    Parameters
    ----------
    initial_value : float
        The value that is approached for positive ``gamma``.
    gamma : float
        Steepness; a negative one makes the value fall from ``initial_value`` to 0.
    step_size : int
        The count at which half of it is reached.
    """

    initial_value: float
    gamma: float
    step_size: int

    def at(self, count: int) -> float:
        return self.initial_value / (1 + math.exp(-self.gamma * (count - self.step_size)))


@configuration("org.nd4j.linalg.schedule.StepSchedule")
class StepSchedule(CountedSchedule, StepScheduleNames):
    """``initial_value * decay_rate**floor(i / step)``.

    Parameters
    ----------
    initial_value : float
        The value at 0.
    decay_rate : float
        Factor of each stretch.
    step : float
        Length of a stretch, as a count.
    """

    initial_value: float
    decay_rate: float
    step: float

    def at(self, count: int) -> float:
        return self.initial_value * self.decay_rate ** math.floor(count / self.step)


class MapScheduleBuilder(Builder["MapSchedule"], MapScheduleBuilderNames):
    """Builder: ``MapSchedule.Builder(ScheduleType.EPOCH).add(0, 0.1).add(10, 0.01).build()``."""

    def add(self, position: int, value: float) -> Self:
        """Set the value from that position on."""
        self._values.setdefault("values", {})[position] = value
        return self


@configuration("org.nd4j.linalg.schedule.MapSchedule")
class MapSchedule(CountedSchedule, MapScheduleNames):
    """The value of the largest key that is not above ``i``; key 0 is required.

    Parameters
    ----------
    values : dict of int to float
        Values by the count from which on they hold.

    Examples
    --------
    >>> MapSchedule(ScheduleType.ITERATION, {0: 0.1, 100: 0.01}).value_at(99, 0)
    0.1
    """

    Builder: ClassVar[type[MapScheduleBuilder]] = BuilderAccess(MapScheduleBuilder)  # type: ignore[assignment]  # one for each class
    values: dict[int, float]

    def validate(self) -> None:
        try:
            values = {int(k): float(v) for k, v in sorted(self.values.items(), key=lambda item: int(item[0]))}
        except (TypeError, ValueError, OverflowError) as error:
            raise ConfigurationError(f"MapSchedule takes numbers by whole numbers, {{0: 0.1, 9: 0.01}}; got {self.values!r:.80}") from error
        if 0 not in values:
            raise ConfigurationError(f"MapSchedule needs a value for position 0; got positions {list(values)}")
        self._put(values=values)

    def at(self, count: int) -> float:
        return self.values[max(k for k in self.values if k <= max(count, 0))]


@configuration("org.nd4j.linalg.schedule.CycleSchedule")
class CycleSchedule(CountedSchedule, CycleScheduleNames):
    """The 1cycle policy: up to ``max_learning_rate``, down again, then exponential annealing.

    With ``p = i mod cycle_length``, ``s = (cycle_length - annealing_length) // 2`` and
    ``increment = (max - initial) / s``: ``initial + increment * p`` for ``p < s``, ``max - increment * (p - s)`` for
    ``p < 2 s``, then ``initial * annealing_decay**(annealing_length - (cycle_length - p))``.

    The short form ``CycleSchedule(schedule_type, max_learning_rate, cycle_length)`` takes 0.1 times the maximum as the
    initial rate and 10 % of the cycle for annealing. Source: Smith, "A disciplined approach to neural network
    hyper-parameters", 2018; DL4J's ``CycleSchedule``.

    Parameters
    ----------
    initial_learning_rate, max_learning_rate : float
        Where a cycle begins, and its top.
    cycle_length, annealing_length : int
        Counts in a cycle, and those of the annealing at its end.
    annealing_decay : float
        Factor of each count of the annealing; default 0.1.
    step_size, increment : int, float, optional
        As in DL4J's files: the length of the way up, and its slope; they follow from the others where left out.
    """

    json_first: ClassVar[tuple[str, ...]] = (
        "annealingDecay", "annealingLength", "cycleLength", "initialLearningRate", "maxLearningRate", "scheduleType")
    initial_learning_rate: float | None = None
    max_learning_rate: float | None = None
    cycle_length: int | None = None
    annealing_length: int | None = None
    annealing_decay: float = 0.1
    step_size: int | None = None
    increment: float | None = None

    def validate(self) -> None:
        initial, peak, length = self.initial_learning_rate, self.max_learning_rate, self.cycle_length
        if length is None and initial is not None and peak is not None:  # the short form by position
            length, peak = round(peak), initial
            initial = None
        if peak is None or length is None:
            raise ConfigurationError("CycleSchedule needs max_learning_rate and cycle_length")
        annealing = self.annealing_length
        if annealing is None:
            annealing = math.floor(0.1 * length + 0.5)
        initial = 0.1 * peak if initial is None else initial
        step = (length - annealing) // 2
        if step < 1:
            raise ConfigurationError(f"CycleSchedule: cycle_length={length} leaves no room to go up and down beside "
                                     f"annealing_length={annealing}; make the cycle longer")
        increment = (peak - initial) / step
        for name, value in (("initial_learning_rate", initial), ("max_learning_rate", peak), ("cycle_length", length),
                            ("annealing_length", annealing), ("step_size", step), ("increment", increment)):
            self._put(**{name: value})

    def at(self, count: int) -> float:
        v: Any = self  # __post_init__ has filled every field
        p = count % v.cycle_length
        if p < v.step_size:
            return float(v.initial_learning_rate + v.increment * p)
        if p < 2 * v.step_size:
            return float(v.max_learning_rate - v.increment * (p - v.step_size))
        return float(v.initial_learning_rate * v.annealing_decay ** (v.annealing_length - (v.cycle_length - p)))


@configuration("org.nd4j.linalg.schedule.RampSchedule")
class RampSchedule(Schedule, RampScheduleNames):
    """Warm-up: ``base * (iteration + 1) / num_iter`` while ``iteration < num_iter - 1``, then ``base``.

    Parameters
    ----------
    base_schedule : Schedule
        What holds after the warm-up, and is scaled during it.
    num_iter : int
        Iterations of the warm-up.
    """

    base_schedule: Convertible[Schedule | None] = field(default=None, omit_none=True)  # DL4J's own files leave out both
    num_iter: int | None = field(default=None, omit_none=True)

    def value_at(self, iteration: int, epoch: int) -> float:
        if self.base_schedule is None or self.num_iter is None:
            raise ConfigurationError("RampSchedule needs base_schedule and num_iter; DL4J's files do not store them")
        base = self.base_schedule.value_at(iteration, epoch)
        return base if iteration >= self.num_iter - 1 else base * (iteration + 1) / self.num_iter
