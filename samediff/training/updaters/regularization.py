"""Regularization: terms that pull parameters towards zero, beside the updater."""
from __future__ import annotations

from typing import Any, ClassVar, Self

from ...base.java.java_enum import JavaEnum
from ...base.java_names import L1RegularizationNames, L2RegularizationNames, RegularizationNames, WeightDecayNames
from ...base.user_code.abstract_methods import unwritten
from ...configuration.configuration import Configuration
from ...configuration.declaring import configuration
from ...errors import ConfigurationError
from .schedules import FixedSchedule, Schedule

__all__ = ["ApplyStep", "L1Regularization", "L2Regularization", "Regularization", "WeightDecay", "with_regularization"]


class ApplyStep(JavaEnum):
    """Point at which a regularization acts: the gradient before the updater, or the update after it."""

    BEFORE_UPDATER = "BEFORE_UPDATER"
    POST_UPDATER = "POST_UPDATER"


@configuration()
class Regularization(Configuration, RegularizationNames):
    """A term added to the gradient (or update) of a parameter, and its share of the score.

    ``apply`` and ``score`` are array code for NumPy, CuPy and the tracer; ``coefficient`` gives the present strength.
    """

    apply_step: ClassVar[ApplyStep] = ApplyStep.BEFORE_UPDATER
    coefficient_name: ClassVar[str]

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, bool):
            raise ConfigurationError("regularization takes L1Regularization(...), L2Regularization(...) or WeightDecay(...); it was "
                                     "a switch before DL4J 1.0.0: leave it out, l1(...), l2(...) and weight_decay(...) are enough")
        return super().of(value)

    def validate(self) -> None:
        name = self.coefficient_name
        self._put(**{name: Schedule.of(getattr(self, name))})

    def coefficient(self, iteration: int, epoch: int) -> float:
        """Return the coefficient at an iteration."""
        schedule: Schedule = getattr(self, self.coefficient_name)
        return schedule.value_at(iteration, epoch)

    @unwritten(when_called=True)
    def apply(self, xp: Any, param: Any, gradient: Any, coefficient: float, lr: float = 1.0) -> Any:
        """Return the new gradient (BEFORE_UPDATER) or update (POST_UPDATER); elementwise."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def penalty(self, xp: Any, param: Any) -> Any:
        """Return what each entry costs at strength 1; elementwise, so that it is traced into one kernel with its sum."""
        raise NotImplementedError

    def score(self, xp: Any, param: Any, coefficient: float) -> Any:
        """Return the term that the score grows by."""
        return coefficient * xp.sum(self.penalty(xp, param))

    def is_zero(self) -> bool:
        """Return whether the strength is the constant 0."""
        schedule = getattr(self, self.coefficient_name)
        return isinstance(schedule, FixedSchedule) and schedule.value == 0


@configuration("org.nd4j.linalg.learning.regularization.L1Regularization")
class L1Regularization(Regularization, L1RegularizationNames):
    """``gradient + l1 * sign(w)``; score ``l1 * sum(|w|)``. ``l1`` is a number or a schedule.

    Parameters
    ----------
    l1 : float or Schedule
        Strength, from 0 on: what is added to the gradient, with the sign of the weight.

    Examples
    --------
    >>> import numpy as np
    >>> L1Regularization(0.5).apply(np, np.array([-2.0, 3.0]), np.zeros(2), 0.5)
    array([-0.5,  0.5])
    """

    coefficient_name: ClassVar[str] = "l1"
    l1: float | Schedule

    def apply(self, xp: Any, param: Any, gradient: Any, coefficient: float, lr: float = 1.0) -> Any:
        return gradient + coefficient * xp.sign(param)

    def penalty(self, xp: Any, param: Any) -> Any:
        return xp.abs(param)


@configuration("org.nd4j.linalg.learning.regularization.L2Regularization")
class L2Regularization(Regularization, L2RegularizationNames):
    """``gradient + l2 * w``; score ``l2 / 2 * sum(w²)``. ``l2`` is a number or a schedule.

    Parameters
    ----------
    l2 : float or Schedule
        Strength, from 0 on: the share of a weight that is added to its gradient.
    """

    coefficient_name: ClassVar[str] = "l2"
    l2: float | Schedule

    def apply(self, xp: Any, param: Any, gradient: Any, coefficient: float, lr: float = 1.0) -> Any:
        return gradient + coefficient * param

    def penalty(self, xp: Any, param: Any) -> Any:
        return 0.5 * (param * param)


@configuration("org.nd4j.linalg.learning.regularization.WeightDecay")
class WeightDecay(Regularization, WeightDecayNames):
    """``update + coeff * w``, times the learning rate with ``apply_lr``; score ``coeff / 2 * sum(w²)``.

    Acts after the updater, so an adaptive rule does not scale it ("decoupled": Loshchilov and Hutter, 2019).
    An updater without learning rate counts as rate 1.

    Parameters
    ----------
    coeff : float or Schedule
        Strength, from 0 on: the share of a weight that each step takes away.
    apply_lr : bool
        Whether it is multiplied by the learning rate.
    """

    apply_step: ClassVar[ApplyStep] = ApplyStep.POST_UPDATER
    coefficient_name: ClassVar[str] = "coeff"
    coeff: float | Schedule
    apply_lr: bool

    def apply(self, xp: Any, param: Any, gradient: Any, coefficient: float, lr: float = 1.0) -> Any:
        return gradient + (coefficient * lr if self.apply_lr else coefficient) * param

    def penalty(self, xp: Any, param: Any) -> Any:
        return 0.5 * (param * param)


def with_regularization(current: list[Regularization], new: Regularization) -> list[Regularization]:
    """Return the list with ``new`` in place of its own kind; L2 and weight decay replace each other, zero removes.

    A negative constant strength is refused.

    Parameters
    ----------
    current : list of Regularization
        Stays as it is.
    new : Regularization
        A strength of 0 removes its kind.
    """
    schedule = getattr(new, new.coefficient_name)
    if isinstance(schedule, FixedSchedule) and schedule.value < 0:
        raise ConfigurationError(f"{type(new).__name__}: the coefficient must not be negative, got {schedule.value}")
    shrink = (L2Regularization, WeightDecay)
    kinds = shrink if isinstance(new, shrink) else (type(new),)
    kept = [r for r in current if not isinstance(r, kinds)]
    return kept if new.is_zero() else [*kept, new]
