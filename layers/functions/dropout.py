"""Dropout and noise on the input of a layer, as configuration."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...samediff.base.authored import keeps_shape, spreads_to_shape
from ...samediff.base.unwritten import unwritten
from ...samediff.configuration.configuration import Configuration, configuration
from ...samediff.errors import ConfigurationError
from ...samediff.training.updaters.schedules import Schedule
from ..ops.noise_ops import AddNoise
from ..ops.retention import Retains, Retention

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

_PACKAGE = "org.deeplearning4j.nn.conf.dropout."


@configuration
class IDropout(Configuration):
    """Base of all dropouts. Fields of this type also take a number: the probability to KEEP a value, 0 for none."""

    result_checks = {"draw": spreads_to_shape, "define": keeps_shape}

    kept_by_stand_ins: ClassVar[tuple[str, ...]] = ("define",)      # what acts while training only

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found: Any = Dropout(float(value)) if value != 0 else None
            return found  # type: ignore[no-any-return]
        return super().of(value)

    @unwritten(unless="define")
    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        """Draw for an array of that shape: it becomes ``x * factor + shift``; either may be None."""
        raise NotImplementedError

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        """Add the dropout to a graph; it acts while training only."""
        return sd.add_op(AddNoise(self), [x])  # type: ignore[no-any-return]

    def apply_dropout(self, x: Any, iteration: int = 0, epoch: int = 0, seed: int | None = None) -> Any:
        """The dropout of an array, with random numbers of ``seed`` (new ones by default)."""
        x = np.asarray(x)
        factor, shift = self.draw(np.random.default_rng(seed), x.shape, x.dtype, iteration, epoch)
        return (x * (1 if factor is None else factor) + (0 if shift is None else shift)).astype(x.dtype)


def current(value: Any, schedule: Schedule | None, iteration: int, epoch: int) -> float:
    """A rate, or what its schedule says now."""
    return float(schedule.value_at(iteration, epoch) if schedule is not None else value)


def _rate_or_schedule(self: IDropout, rate: str, schedule: str, top: float = 1.0) -> None:
    """Let the first argument be a number or a schedule, as DL4J's constructors do, and check its range."""
    value = getattr(self, rate)
    if isinstance(value, Schedule):
        self.__dict__.update({rate: math.nan, schedule: value})
    elif getattr(self, schedule) is None and not 0 < value <= top:
        raise ConfigurationError(f"{type(self).__name__}.{rate} must be above 0 and at most {top:g}; got {value}")


@configuration
class RetainDropout(Retains, IDropout):
    """A dropout with a probability ``p`` to keep a value, or a schedule of it."""

    p: float | Schedule = math.nan
    p_schedule: Schedule | None = None

    def validate(self) -> None:
        _rate_or_schedule(self, "p", "p_schedule")

    def rate(self) -> float | Schedule:
        return self.p if self.p_schedule is None else self.p_schedule


@configuration(_PACKAGE + "Dropout")
class Dropout(RetainDropout):
    """Inverted dropout (Srivastava et al., 2014): keeps a value with probability ``p`` and divides it by ``p``.

    Examples
    --------
    >>> Dropout(0.5)
    Dropout(p=0.5)
    """

    helper_allow_fallback: bool = True

    def retention(self, p: float) -> Retention:
        return Retention(p, 1 / p)


@configuration(_PACKAGE + "AlphaDropout")
class AlphaDropout(RetainDropout):
    """Dropout that keeps mean and variance of SELU activations (Klambauer et al., 2017);
    ``p`` is the probability to keep.
    """

    alpha: float = 1.6732632423543772
    lambda_: float = 1.0507009873554804

    def retention(self, p: float) -> Retention:
        low = -self.lambda_ * self.alpha
        a = 1 / math.sqrt(p + low * low * p * (1 - p))
        b = -a * (1 - p) * low
        return Retention(p, a, (b, a * low + b))


@configuration(_PACKAGE + "SpatialDropout")
class SpatialDropout(RetainDropout):
    """Drops whole channels (Tompson et al., 2015); ``p`` is the probability to keep one."""

    def retention(self, p: float) -> Retention:
        return Retention(p, 1 / p, by_channel=True)


@configuration(_PACKAGE + "GaussianDropout")
class GaussianDropout(IDropout):
    """Multiplies by N(1, rate / (1 - rate)); ``rate`` is the DROP rate."""

    rate: float | Schedule = math.nan
    rate_schedule: Schedule | None = None

    def validate(self) -> None:
        _rate_or_schedule(self, "rate", "rate_schedule")

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        rate = current(self.rate, self.rate_schedule, iteration, epoch)
        return 1 + math.sqrt(rate / (1 - rate)) * rng.standard_normal(shape), None


@configuration(_PACKAGE + "GaussianNoise")
class GaussianNoise(IDropout):
    """Adds N(0, stddev²)."""

    stddev: float | Schedule = math.nan
    stddev_schedule: Schedule | None = None

    def validate(self) -> None:
        _rate_or_schedule(self, "stddev", "stddev_schedule", math.inf)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        return None, current(self.stddev, self.stddev_schedule, iteration, epoch) * rng.standard_normal(shape)
