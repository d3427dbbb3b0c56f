"""Noise on weights while training, as configuration."""
from __future__ import annotations

import math

from ..samediff.configuration import Configuration, configuration, field
from ..samediff.errors import ConfigurationError
from ..samediff.training.schedules import Schedule
from .distributions import Distribution

_PACKAGE = "org.deeplearning4j.nn.conf.weightnoise."


@configuration
class IWeightNoise(Configuration):
    """Base of all weight noises."""


@configuration(_PACKAGE + "DropConnect")
class DropConnect(IWeightNoise):
    """Keeps a weight with a probability, without rescaling (Wan et al., 2013)."""

    weight_retain_prob: float | Schedule = field(default=math.nan, aliases=("weight_retain_probability",))
    weight_retain_prob_schedule: Schedule | None = None
    apply_to_biases: bool = False

    def validate(self) -> None:
        value = self.weight_retain_prob
        if isinstance(value, Schedule):
            self.__dict__.update(weight_retain_prob=math.nan, weight_retain_prob_schedule=value)
        elif self.weight_retain_prob_schedule is None and not 0 < value <= 1:
            raise ConfigurationError(f"DropConnect.weight_retain_prob must be above 0 and at most 1; got {value}")


@configuration(_PACKAGE + "WeightNoise")
class WeightNoise(IWeightNoise):
    """Adds noise of a distribution to the weights, or multiplies them by it.

    Examples
    --------
    >>> from dl4py.layers.distributions import NormalDistribution
    >>> WeightNoise(NormalDistribution(0, 0.1)).additive
    True
    """

    distribution: Distribution
    apply_to_bias: bool = False
    additive: bool = True
