"""The eleven updaters of DL4J, and the base of those with a learning rate: fields, state, and the rule.

Parameters change by ``params -= update``.
In the formulas ``g`` is the gradient, ``lr`` the learning rate (a number or a schedule), ``t`` the iteration from 0,
``b1`` and ``b2`` the decay rates ``beta1`` and ``beta2``.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from ...base.java.java_enum import JavaEnum
from ...base.java_names import (
    AdaBeliefNames,
    AdaDeltaNames,
    AdaGradNames,
    AdaMaxNames,
    AdamNames,
    AMSGradNames,
    NadamNames,
    NesterovsNames,
    NoOpNames,
    RatedUpdaterNames,
    RmsPropNames,
    SgdNames,
    UpdaterNames,
)
from ...configuration.declaring import Convertible, configuration, field
from ...errors import ConfigurationError
from .schedules import Schedule
from .updater import DEFAULTS, Arrays, IUpdater, Scalars

__all__ = ["AMSGrad", "AdaBelief", "AdaDelta", "AdaGrad", "AdaMax", "Adam", "Nadam", "Nesterovs", "NoOp", "RatedUpdater", "RmsProp", "Sgd",
           "Updater"]


@configuration()
class RatedUpdater(IUpdater, RatedUpdaterNames):
    """An updater with a learning rate: a number, or a schedule in its place (the number is then NaN).

    Parameters
    ----------
    learning_rate_schedule : Schedule, optional
        A schedule given as ``learning_rate``, under the name that files have for it.
    """

    def validate(self) -> None:
        self.move_schedule("learning_rate", "learning_rate_schedule")

    def move_schedule(self, number: str, schedule: str) -> None:
        """Put a schedule that was given for a number into its own field; the number is then NaN."""
        if isinstance(getattr(self, number), Schedule):
            self._put(**{schedule: getattr(self, number)})
        if getattr(self, schedule, None) is not None:
            self._put(**{number: math.nan})

    def has_learning_rate(self) -> bool:
        return True

    def get_learning_rate(self, iteration: int | None = None, epoch: int = 0) -> float:
        if iteration is None:
            return self.learning_rate  # type: ignore[no-any-return, attr-defined]
        return scheduled(self, "learning_rate", "learning_rate_schedule", iteration, epoch)

    def hyper(self, iteration: int, epoch: int) -> Scalars:
        return (self.get_learning_rate(iteration, epoch),)

    def with_learning_rate(self, rate: float | Schedule) -> Self:
        """Return this updater with another rate or schedule."""
        if "learning_rate_schedule" not in type(self)._fields:      # a user's updater may have the number alone
            return self.replace(learning_rate=rate)
        return self.replace(learning_rate=rate, learning_rate_schedule=None)


def scheduled(updater: IUpdater, number: str, schedule: str, iteration: int, epoch: int) -> float:
    """Return the present value of the schedule in one field, else the number in the other."""
    found: Schedule | None = getattr(updater, schedule, None)
    return float(getattr(updater, number)) if found is None else found.value_at(iteration, epoch)


@configuration("org.nd4j.linalg.learning.config.Sgd")
class Sgd(RatedUpdater, SgdNames):
    """Gradient descent: ``update = lr * g``. No state.

    Parameters
    ----------
    learning_rate : float or Schedule
        Default 1e-3; a schedule gives another one in each iteration or epoch.
    """

    learning_rate: float | Schedule = 1e-3
    learning_rate_schedule: Convertible[Schedule | None] = field(default=None, omit_none=True)

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        return hyper[0] * gradient, ()


@configuration("org.nd4j.linalg.learning.config.NoOp")
class NoOp(IUpdater, NoOpNames):
    """The raw gradient is the update (running statistics and centers move so). No state, no learning rate."""

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        return gradient, ()


@configuration("org.nd4j.linalg.learning.config.Nesterovs")
class Nesterovs(RatedUpdater, NesterovsNames):
    """Nesterov momentum: ``v' = mu * v - lr * g``; ``update = mu * v - (1 + mu) * v'``. State: V.

    As in DL4J one number by position is the momentum, two are rate and momentum; the momentum may be a schedule.

    Parameters
    ----------
    learning_rate : float or Schedule
        Default 0.1; a schedule gives another one in each iteration or epoch.
    momentum : float or Schedule
        The share of the last step that goes on, from 0 to below 1; default 0.9.
    learning_rate_schedule, momentum_i_schedule : Schedule, optional
        The same schedules, under the names that files have for them.
    momentum_schedule : dict of int to float, optional
        Of files of old versions: momenta by the iteration from which on they hold.
    """

    json_first: ClassVar[tuple[str, ...]] = ("learningRate", "learningRateSchedule", "momentum", "momentumSchedule")
    state_names: ClassVar[tuple[str, ...]] = ("V",)
    learning_rate: float | Schedule = 0.1
    momentum: float | Schedule = 0.9
    learning_rate_schedule: Convertible[Schedule | None] = field(default=None, omit_none=True)
    momentum_i_schedule: Convertible[Schedule | None] = field(default=None, omit_none=True)
    momentum_schedule: dict[int, float] | None = field(default=None, omit_none=True)

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if len(args) == 1 and not isinstance(args[0], Schedule):
            return super()._bind((), {"momentum": args[0], **kwargs})
        return super()._bind(args, kwargs)

    def validate(self) -> None:
        super().validate()
        self.move_schedule("momentum", "momentum_i_schedule")

    def current_momentum(self, iteration: int, epoch: int) -> float:
        """Return the momentum at an iteration."""
        return scheduled(self, "momentum", "momentum_i_schedule", iteration, epoch)

    def hyper(self, iteration: int, epoch: int) -> Scalars:
        return self.get_learning_rate(iteration, epoch), self.current_momentum(iteration, epoch)

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        (v,), (rate, momentum) = state, hyper
        new = momentum * v - rate * gradient
        return momentum * v - (1 + momentum) * new, (new,)


@configuration()
class _MomentUpdater(RatedUpdater):
    """Base of the Adam family: two decay rates and one step factor per iteration. State: M, V."""

    state_names: ClassVar[tuple[str, ...]] = ("M", "V")
    half_epsilon: ClassVar[float] = 1e-3
    learning_rate: float | Schedule = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    learning_rate_schedule: Convertible[Schedule | None] = field(default=None, omit_none=True)

    def corrections(self, iteration: int) -> tuple[float, float]:
        """Return ``1 - b1**(t + 1)`` and ``1 - b2**(t + 1)``."""
        return 1 - self.beta1 ** (iteration + 1), 1 - self.beta2 ** (iteration + 1)

    def factor(self, value: float) -> tuple[float]:
        """Return the step factor as a 1-tuple; 0, NaN and infinity are replaced by epsilon, as in DL4J."""
        usable = math.isfinite(value) and value != 0
        return (value if usable else self.epsilon,)

    def hyper(self, iteration: int, epoch: int) -> Scalars:
        first, second = self.corrections(iteration)
        return self.factor(self.get_learning_rate(iteration, epoch) * math.sqrt(second) / first if first else math.nan)

    def hypers(self, iterations: Sequence[int], epoch: int) -> Any:
        if type(self) not in (Adam, AMSGrad, AdaBelief) or self.learning_rate_schedule is not None:
            return super().hypers(iterations, epoch)
        beta1, beta2 = self.beta1, self.beta2
        with np.errstate(all="ignore"):         # NumPy's own power may differ in the last bit
            first, second = 1 - np.array([[beta1 ** (i + 1) for i in iterations], [beta2 ** (i + 1) for i in iterations]])
            found = self.learning_rate * np.sqrt(second) / first  # type: ignore[operator]  # a number where there is no schedule
        return np.where(np.isfinite(found) & (found != 0), found, self.epsilon)[:, None]


@configuration("org.nd4j.linalg.learning.config.Adam")
class Adam(_MomentUpdater, AdamNames):
    """Adam: ``m = b1 m + (1-b1) g``; ``v = b2 v + (1-b2) g²``; ``update = a m / (sqrt(v) + epsilon)``.

    ``a = lr * sqrt(1 - b2^(t+1)) / (1 - b1^(t+1))``; epsilon stands outside the corrected root. State: M, V.
    Source: Kingma and Ba, "Adam", 2015 (the form at the end of section 2); DL4J's ``Adam``.

    Parameters
    ----------
    learning_rate : float or Schedule
        Default 1e-3; a schedule gives another one in each iteration or epoch.
    beta1, beta2 : float
        Shares of the old first and second moment that stay in each step; 0.9 and 0.999 by default.
    epsilon : float
        Added to the root of the second moment, so that nothing is divided by 0; 1e-8 by default.

    Examples
    --------
    >>> Adam(1e-2).state_size(100)
    200
    """

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        (m, v), (factor,) = state, hyper
        m = self.beta1 * m + (1 - self.beta1) * gradient
        v = self.beta2 * v + (1 - self.beta2) * (gradient * gradient)
        return factor * m / (xp.sqrt(v) + self.epsilon), (m, v)


@configuration("org.nd4j.linalg.learning.config.AMSGrad")
class AMSGrad(_MomentUpdater, AMSGradNames):
    """Adam with a second moment that never shrinks: ``h = max(h, v)``; ``update = a m / (sqrt(h) + epsilon)``.

    State: M, V, V_HAT. Source: Reddi, Kale, Kumar, "On the convergence of Adam and beyond", 2018.

    Parameters
    ----------
    learning_rate : float or Schedule
        Default 1e-3; a schedule gives another one in each iteration or epoch.
    beta1, beta2 : float
        Shares of the old first and second moment that stay in each step; 0.9 and 0.999 by default.
    epsilon : float
        Added to the root of the largest second moment; 1e-8 by default.
    """

    state_names: ClassVar[tuple[str, ...]] = ("M", "V", "V_HAT")

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        (m, v, largest), (factor,) = state, hyper
        m = self.beta1 * m + (1 - self.beta1) * gradient
        v = self.beta2 * v + (1 - self.beta2) * (gradient * gradient)
        largest = xp.maximum(largest, v)
        return factor * m / (xp.sqrt(largest) + self.epsilon), (m, v, largest)


@configuration("org.nd4j.linalg.learning.config.AdaBelief")
class AdaBelief(_MomentUpdater, AdaBeliefNames):
    """Adam with the variance around the mean: ``s = b2 s + (1-b2) (g-m)² + epsilon``; ``a m / (sqrt(s) + epsilon)``.

    State: M, S. Source: Zhuang and others, "AdaBelief", 2020.

    Parameters
    ----------
    learning_rate : float or Schedule
        Default 1e-3; a schedule gives another one in each iteration or epoch.
    beta1, beta2 : float
        Shares of the old first and second moment that stay in each step; 0.9 and 0.999 by default.
    epsilon : float
        Added to the variance and to its root; 1e-14 by default.
    """

    state_names: ClassVar[tuple[str, ...]] = ("M", "S")
    half_epsilon: ClassVar[float] = 1e-6        # also added to S in every step
    epsilon: float = 1e-14

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        (m, s), (factor,) = state, hyper
        m = self.beta1 * m + (1 - self.beta1) * gradient
        off = gradient - m
        s = self.beta2 * s + (1 - self.beta2) * (off * off) + self.epsilon
        return factor * m / (xp.sqrt(s) + self.epsilon), (m, s)


@configuration("org.nd4j.linalg.learning.config.AdaMax")
class AdaMax(_MomentUpdater, AdaMaxNames):
    """Adam in the infinity norm: ``w = max(b2 w, |g|) + 1e-32``; ``update = lr / (1 - b1^(t+1)) * m / w``.

    State: M, V (the norm). Epsilon only replaces an unusable step factor. Source: Kingma and Ba, 2015, section 7.

    Parameters
    ----------
    learning_rate : float or Schedule
        Default 1e-3; a schedule gives another one in each iteration or epoch.
    beta1, beta2 : float
        Shares of the old first and second moment that stay in each step; 0.9 and 0.999 by default.
    epsilon : float
        Takes the place of a step factor that is 0 or not finite; 1e-8 by default.
    """

    def hyper(self, iteration: int, epoch: int) -> Scalars:
        first, _ = self.corrections(iteration)
        return self.factor(self.get_learning_rate(iteration, epoch) / first if first else math.nan)

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        (m, norm), (factor,) = state, hyper
        m = self.beta1 * m + (1 - self.beta1) * gradient
        norm = xp.maximum(self.beta2 * norm, xp.abs(gradient)) + 1e-32
        return factor * m / norm, (m, norm)


@configuration("org.nd4j.linalg.learning.config.Nadam")
class Nadam(_MomentUpdater, NadamNames):
    """Adam with Nesterov momentum: ``update = lr / (1 - b1^(t+1)) * (b1 m + (1-b1) g) / (sqrt(v) + epsilon)``.

    ``m`` and ``v`` as in Adam; the second moment is not corrected. State: M, V. Source: Dozat, 2016.

    Parameters
    ----------
    learning_rate : float or Schedule
        Default 1e-3; a schedule gives another one in each iteration or epoch.
    beta1, beta2 : float
        Shares of the old first and second moment that stay in each step; 0.9 and 0.999 by default.
    epsilon : float
        Added to the root of the second moment; 1e-8 by default.
    """

    def hyper(self, iteration: int, epoch: int) -> Scalars:
        first, _ = self.corrections(iteration)
        return (self.get_learning_rate(iteration, epoch) / first if first else math.nan,)

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        (m, v), (factor,) = state, hyper
        m = self.beta1 * m + (1 - self.beta1) * gradient
        v = self.beta2 * v + (1 - self.beta2) * (gradient * gradient)
        ahead = self.beta1 * m + (1 - self.beta1) * gradient
        return factor * ahead / (xp.sqrt(v) + self.epsilon), (m, v)


@configuration("org.nd4j.linalg.learning.config.AdaGrad")
class AdaGrad(RatedUpdater, AdaGradNames):
    """``h = h + g²``; ``update = lr g / (sqrt(h) + epsilon)``. State: grad, which starts at 1e-6.

    Source: Duchi, Hazan, Singer, "Adaptive subgradient methods", 2011.

    Parameters
    ----------
    learning_rate : float or Schedule
        Default 0.1; a schedule gives another one in each iteration or epoch.
    epsilon : float
        Added to the root of the sum of squares; 1e-6 by default.
    """

    state_names: ClassVar[tuple[str, ...]] = ("grad",)
    half_epsilon: ClassVar[float] = 1e-3
    learning_rate: float | Schedule = 0.1
    epsilon: float = 1e-6
    learning_rate_schedule: Convertible[Schedule | None] = field(default=None, omit_none=True)

    def state_init(self) -> Scalars:
        return (1e-6,)  # DL4J's default epsilon, whatever epsilon is configured

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        total = state[0] + gradient * gradient
        return hyper[0] * gradient / (xp.sqrt(total) + self.epsilon), (total,)


@configuration("org.nd4j.linalg.learning.config.RmsProp")
class RmsProp(RatedUpdater, RmsPropNames):
    """``h = d h + (1-d) g²`` with ``d = rms_decay``; ``update = lr g / (sqrt(h) + epsilon)``.

    State: G, which starts at epsilon. Source: Tieleman and Hinton, lecture 6.5, 2012.

    Parameters
    ----------
    learning_rate : float or Schedule
        Default 0.1; a schedule gives another one in each iteration or epoch.
    rms_decay : float
        Share of the old mean of squares that stays in each step; 0.95 by default.
    epsilon : float
        Added to the root of the mean, and the mean at the start; 1e-8 by default.
    """

    state_names: ClassVar[tuple[str, ...]] = ("G",)
    half_epsilon: ClassVar[float] = 1e-3
    learning_rate: float | Schedule = 0.1
    rms_decay: float = 0.95
    epsilon: float = 1e-8
    learning_rate_schedule: Convertible[Schedule | None] = field(default=None, omit_none=True)

    def state_init(self) -> Scalars:
        return (self.epsilon,)

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        mean = self.rms_decay * state[0] + (1 - self.rms_decay) * (gradient * gradient)
        return hyper[0] * gradient / (xp.sqrt(mean) + self.epsilon), (mean,)


@configuration("org.nd4j.linalg.learning.config.AdaDelta")
class AdaDelta(IUpdater, AdaDeltaNames):
    """``E = rho E + (1-rho) g²``; ``u = g sqrt(X + epsilon) / sqrt(E + epsilon)``; ``X = rho X + (1-rho) u²``.

    State: msg (E), msdx (X). No learning rate. Source: Zeiler, "ADADELTA", 2012.

    Parameters
    ----------
    rho : float
        Share of the old means of squares that stays in each step; 0.95 by default.
    epsilon : float
        Added to both means before their roots are taken; 1e-6 by default.
    """

    state_names: ClassVar[tuple[str, ...]] = ("msg", "msdx")
    rho: float = 0.95
    epsilon: float = 1e-6

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        squares, updates = state
        squares = self.rho * squares + (1 - self.rho) * (gradient * gradient)
        update = gradient * (xp.sqrt(updates + self.epsilon) / xp.sqrt(squares + self.epsilon))
        return update, (squares, self.rho * updates + (1 - self.rho) * (update * update))


class Updater(UpdaterNames, JavaEnum):
    """Names of updaters with default settings (DL4J's ``Updater`` enum)."""

    SGD = Sgd
    ADAM = Adam
    ADAMAX = AdaMax
    ADADELTA = AdaDelta
    NESTEROVS = Nesterovs
    NADAM = Nadam
    ADAGRAD = AdaGrad
    RMSPROP = RmsProp
    NONE = NoOp
    CUSTOM = None

    def get_i_updater_with_default_config(self) -> IUpdater:
        """Return the updater of that name with its defaults."""
        if self.value is None:
            raise ConfigurationError("Updater.CUSTOM names no updater: give the updater object itself")
        updater: IUpdater = self.value()
        return updater


DEFAULTS.update({u.name: u.get_i_updater_with_default_config for u in Updater})
