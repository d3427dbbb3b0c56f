"""Noise on weights while training, as configuration."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import configuration, field
from ...samediff.errors import ConfigurationError
from ...samediff.initializers.nd4j_random import Nd4jRandom
from ...samediff.training.updaters.schedules import Schedule
from ..ops.noise_ops import AddNoise
from ..ops.retention import Retains, Retention
from ..types.java_names import DropConnectNames, IWeightNoiseNames, WeightNoiseNames
from ..types.parameters import Parameter
from .distributions import Distribution

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["DropConnect", "IWeightNoise", "WeightNoise"]

_PACKAGE = "org.deeplearning4j.nn.conf.weightnoise."


@configuration
class IWeightNoise(Configuration, IWeightNoiseNames):
    """Base of all weight noises: what acts on weights, and perhaps biases, in each forward pass while training."""

    kept_by_stand_ins: ClassVar[tuple[str, ...]] = ("acts_on", "applied")

    @unwritten(unless="applied")
    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        """Draw for a parameter of that shape: it becomes ``w * factor + shift``; either may be None."""
        raise NotImplementedError

    def acts_on(self, parameter: Parameter) -> bool:
        """Whether a parameter gets noise: weights, by default."""
        return parameter.role == "weight"

    def applied(self, sd: SameDiff, variables: Mapping[str, SDVariable], parameters: Sequence[Parameter]) -> dict[str, SDVariable]:
        """The variables of a layer with noise on some of them."""
        noisy = {p.name for p in parameters if self.acts_on(p)}
        return {n: sd.add_op(AddNoise(self), [v]) if n in noisy else v for n, v in variables.items()}


@configuration(_PACKAGE + "DropConnect")
class DropConnect(Retains, IWeightNoise, DropConnectNames):
    """Sets each weight to 0 with a probability, without rescaling the others (Wan et al., 2013).

    Parameters
    ----------
    weight_retain_prob : float or Schedule
        Probability to keep a weight.
    weight_retain_prob_schedule : Schedule, optional
        A schedule given as ``weight_retain_prob``, under the name that files have for it.
    apply_to_biases : bool
        False by default.
    """

    json_first: ClassVar[tuple[str, ...]] = ("applyToBiases", "weightRetainProbSchedule")
    weight_retain_prob: float | Schedule = field(default=math.nan, aliases=("weight_retain_probability",))
    weight_retain_prob_schedule: Schedule | None = None
    apply_to_biases: bool = False

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        named = dict(zip(("weight_retain_prob", "apply_to_biases"), args)) if len(args) == 2 else {}       # as in DL4J
        return super()._bind(() if named else args, {**named, **kwargs})

    def validate(self) -> None:
        value = self.weight_retain_prob
        if isinstance(value, Schedule):
            self._put(weight_retain_prob=math.nan, weight_retain_prob_schedule=value)
        elif self.weight_retain_prob_schedule is None and not 0 < value <= 1:
            raise ConfigurationError(f"DropConnect.weight_retain_prob must be above 0 and at most 1; got {value}")

    def acts_on(self, parameter: Parameter) -> bool:
        return parameter.role == "weight" or (self.apply_to_biases and parameter.role == "bias")

    def rate(self) -> float | Schedule:
        return self.weight_retain_prob if self.weight_retain_prob_schedule is None else self.weight_retain_prob_schedule

    def retention(self, p: float) -> Retention:
        return Retention(p)


@configuration(_PACKAGE + "WeightNoise")
class WeightNoise(IWeightNoise, WeightNoiseNames):
    """Noise on weights, drawn anew in each forward pass while training: ``w + noise``, or ``w * noise``.

    Parameters
    ----------
    distribution : Distribution
        Where the noise is drawn from.
    apply_to_bias : bool
        False by default.
    additive : bool
        Add the noise (default) or multiply by it.

    Examples
    --------
    >>> from dl4py.layers.functions.distributions import NormalDistribution
    >>> WeightNoise(NormalDistribution(0, 0.1)).additive
    True
    """

    distribution: Distribution
    apply_to_bias: bool = False
    additive: bool = True

    def acts_on(self, parameter: Parameter) -> bool:
        return parameter.role == "weight" or (self.apply_to_bias and parameter.role == "bias")

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        sample = self.distribution.sample(Nd4jRandom(int(rng.integers(1 << 62))), shape, "c")
        return (None, sample) if self.additive else (sample, None)
