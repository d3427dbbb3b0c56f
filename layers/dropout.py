"""Dropout and noise on the input of a layer, as configuration."""
from __future__ import annotations

import math
from typing import Any, Self

from ..samediff.configuration import Configuration, configuration
from ..samediff.errors import ConfigurationError
from ..samediff.training.schedules import Schedule

_PACKAGE = "org.deeplearning4j.nn.conf.dropout."


@configuration
class IDropout(Configuration):
    """Base of all dropouts. Fields of this type also take a number: the probability to KEEP a value, 0 for none."""

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found: Any = Dropout(float(value)) if value != 0 else None
            return found  # type: ignore[no-any-return]
        return super().of(value)


def _rate_or_schedule(self: IDropout, rate: str, schedule: str, top: float = 1.0) -> None:
    """Let the first argument be a number or a schedule, as DL4J's constructors do, and check its range."""
    value = getattr(self, rate)
    if isinstance(value, Schedule):
        self.__dict__.update({rate: math.nan, schedule: value})
    elif getattr(self, schedule) is None and not 0 < value <= top:
        raise ConfigurationError(f"{type(self).__name__}.{rate} must be above 0 and at most {top:g}; got {value}")


@configuration
class RetainDropout(IDropout):
    """A dropout with a probability ``p`` to keep a value, or a schedule of it."""

    p: float | Schedule = math.nan
    p_schedule: Schedule | None = None

    def validate(self) -> None:
        _rate_or_schedule(self, "p", "p_schedule")


@configuration(_PACKAGE + "Dropout")
class Dropout(RetainDropout):
    """Inverted dropout (Srivastava et al., 2014): keeps a value with probability ``p`` and divides it by ``p``.

    Examples
    --------
    >>> Dropout(0.5)
    Dropout(p=0.5)
    """

    helper_allow_fallback: bool = True


@configuration(_PACKAGE + "AlphaDropout")
class AlphaDropout(RetainDropout):
    """Dropout that keeps mean and variance of SELU activations (Klambauer et al., 2017);
    ``p`` is the probability to keep.
    """

    alpha: float = 1.6732632423543772
    lambda_: float = 1.0507009873554804


@configuration(_PACKAGE + "SpatialDropout")
class SpatialDropout(RetainDropout):
    """Drops whole channels (Tompson et al., 2015); ``p`` is the probability to keep one."""


@configuration(_PACKAGE + "GaussianDropout")
class GaussianDropout(IDropout):
    """Multiplies by N(1, rate / (1 - rate)); ``rate`` is the DROP rate."""

    rate: float | Schedule = math.nan
    rate_schedule: Schedule | None = None

    def validate(self) -> None:
        _rate_or_schedule(self, "rate", "rate_schedule")


@configuration(_PACKAGE + "GaussianNoise")
class GaussianNoise(IDropout):
    """Adds N(0, stddev²)."""

    stddev: float | Schedule = math.nan
    stddev_schedule: Schedule | None = None

    def validate(self) -> None:
        _rate_or_schedule(self, "stddev", "stddev_schedule", math.inf)
