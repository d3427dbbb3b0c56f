"""Dropout and noise on the input of a layer, as configuration."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.base.user_code.user_methods import keeps_shape, spreads_to_shape
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import configuration
from ...samediff.errors import ConfigurationError
from ...samediff.training.updaters.schedules import Schedule
from ..ops.noise_ops import AddNoise
from ..ops.retention import Retains, Retention
from ..types.java_names import (
    AlphaDropoutNames,
    DropoutNames,
    GaussianDropoutNames,
    GaussianNoiseNames,
    IDropoutNames,
    RetainDropoutNames,
    SpatialDropoutNames,
)
from .java_forms import drawn_by, is_in_java_form, takes

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise", "IDropout", "RetainDropout", "SpatialDropout"]

_PACKAGE = "org.deeplearning4j.nn.conf.dropout."


@configuration
class IDropout(Configuration, IDropoutNames):
    """Base of all dropouts. Fields of this type also take a number: the probability to KEEP a value, 0 for none.

    A class of one's own writes ``draw`` or ``define``; or, as DL4J's do, ``apply_dropout(x, result, iteration, epoch)`` with numbers of
    ``Nd4j.getRandom()``, by which it multiplies and which it adds.
    """

    result_checks = {"draw": spreads_to_shape, "define": keeps_shape}

    kept_by_stand_ins: ClassVar[tuple[str, ...]] = ("define",)      # methods that act only while training

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found: Any = Dropout(float(value)) if value != 0 else None
            return found  # type: ignore[no-any-return]
        return super().of(value)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls).get("apply_dropout")
        if own is not None and is_in_java_form(cls, "apply_dropout", of="draw") and any(takes(own, count) for count in (4, 5)):
            setattr(cls, "draw", drawn_by(own))  # noqa: B010  # mypy knows no such assignment

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
        self._put(**{rate: math.nan, schedule: value})
    elif getattr(self, schedule) is None and not 0 < value <= top:
        raise ConfigurationError(f"{type(self).__name__}.{rate} must be above 0 and at most {top:g}; got {value}")


@configuration
class RetainDropout(Retains, IDropout, RetainDropoutNames):
    """A dropout with a probability ``p`` to keep a value, or a schedule of it.

    Parameters
    ----------
    p : float or Schedule
        Probability to keep a value, above 0 and up to 1.
    p_schedule : Schedule, optional
        A schedule given as ``p``, under the name that files have for it.
    """

    p: float | Schedule = math.nan
    p_schedule: Schedule | None = None

    def validate(self) -> None:
        _rate_or_schedule(self, "p", "p_schedule")

    def rate(self) -> float | Schedule:
        return self.p if self.p_schedule is None else self.p_schedule


@configuration(_PACKAGE + "Dropout")
class Dropout(RetainDropout, DropoutNames):
    """Inverted dropout (Srivastava et al., 2014): keeps a value with probability ``p`` and divides it by ``p``.

    Parameters
    ----------
    helper_allow_fallback : bool
        For cuDNN in DL4J; kept in files, without effect here.

    Examples
    --------
    >>> Dropout(0.5)
    Dropout(p=0.5)
    """

    json_first: ClassVar[tuple[str, ...]] = ("p",)
    helper_allow_fallback: bool = True

    def retention(self, p: float) -> Retention:
        return Retention(p, 1 / p)


@configuration(_PACKAGE + "AlphaDropout")
class AlphaDropout(RetainDropout, AlphaDropoutNames):
    """Dropout that keeps mean and variance of SELU activations (Klambauer et al., 2017);
    ``p`` is the probability to keep.

    Parameters
    ----------
    alpha, lambda_ : float
        The constants of SELU.
    """

    alpha: float = 1.6732632423543772
    lambda_: float = 1.0507009873554804

    def retention(self, p: float) -> Retention:
        low = -self.lambda_ * self.alpha
        a = 1 / math.sqrt(p + low * low * p * (1 - p))
        b = -a * (1 - p) * low
        return Retention(p, a, (b, a * low + b))


@configuration(_PACKAGE + "SpatialDropout")
class SpatialDropout(RetainDropout, SpatialDropoutNames):
    """Drops whole channels (Tompson et al., 2015); ``p`` is the probability to keep one."""

    def retention(self, p: float) -> Retention:
        return Retention(p, 1 / p, by_channel=True)


@configuration(_PACKAGE + "GaussianDropout")
class GaussianDropout(IDropout, GaussianDropoutNames):
    """Multiplies by N(1, rate / (1 - rate)); ``rate`` is the DROP rate.

    Parameters
    ----------
    rate : float or Schedule
        Above 0 and below 1.
    rate_schedule : Schedule, optional
        A schedule given as ``rate``, under the name that files have for it.
    """

    rate: float | Schedule = math.nan
    rate_schedule: Schedule | None = None

    def validate(self) -> None:
        _rate_or_schedule(self, "rate", "rate_schedule")

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        rate = current(self.rate, self.rate_schedule, iteration, epoch)
        return 1 + math.sqrt(rate / (1 - rate)) * rng.standard_normal(shape), None


@configuration(_PACKAGE + "GaussianNoise")
class GaussianNoise(IDropout, GaussianNoiseNames):
    """Adds N(0, stddev²).

    Parameters
    ----------
    stddev : float or Schedule
        Standard deviation of the noise.
    stddev_schedule : Schedule, optional
        A schedule given as ``stddev``, under the name that files have for it.
    """

    stddev: float | Schedule = math.nan
    stddev_schedule: Schedule | None = None

    def validate(self) -> None:
        _rate_or_schedule(self, "stddev", "stddev_schedule", math.inf)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        return None, current(self.stddev, self.stddev_schedule, iteration, epoch) * rng.standard_normal(shape)
