"""Weight initialisers: how a parameter gets its first values.

All draw from ND4J's generator in the linear order of the flat parameter vector, so equal seeds give DL4J's networks.
Shapes in this file: ``shape`` is the parameter's, ``order`` how the flat vector is folded into it.
"""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...samediff.base.datatype import DataType
from ...samediff.base.home import is_ours
from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.base.java.other_libraries import WEIGHT_INITS
from ...samediff.base.javanames import squash, to_snake
from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.base.user_code.user_methods import has_given_shape
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import configuration
from ...samediff.errors import ConfigurationError, did_you_mean
from ...samediff.initializers.formulas import NORMAL_STD, UNIFORM_LIMIT, Spread, identity, spread
from ...samediff.initializers.nd4j_random import Nd4jRandom, Order
from ..types.java_names import (
    IWeightInitNames,
    WeightInitConstantNames,
    WeightInitDistributionNames,
    WeightInitIdentityNames,
    WeightInitLecunUniformNames,
    WeightInitNames,
    WeightInitNormalNames,
    WeightInitReluNames,
    WeightInitReluUniformNames,
    WeightInitSigmoidUniformNames,
    WeightInitUniformNames,
    WeightInitVarScalingNormalFanAvgNames,
    WeightInitVarScalingNormalFanInNames,
    WeightInitVarScalingNormalFanOutNames,
    WeightInitVarScalingUniformFanAvgNames,
    WeightInitVarScalingUniformFanInNames,
    WeightInitVarScalingUniformFanOutNames,
    WeightInitXavierLegacyNames,
    WeightInitXavierNames,
    WeightInitXavierUniformNames,
)
from .distributions import Distribution
from .java_forms import filled_by, takes

__all__ = [
    "IWeightInit", "WeightInit", "WeightInitConstant", "WeightInitDistribution", "WeightInitIdentity", "WeightInitLecunUniform",
    "WeightInitNormal", "WeightInitRelu", "WeightInitReluUniform", "WeightInitSigmoidUniform", "WeightInitUniform",
    "WeightInitVarScalingNormalFanAvg", "WeightInitVarScalingNormalFanIn", "WeightInitVarScalingNormalFanOut",
    "WeightInitVarScalingUniformFanAvg", "WeightInitVarScalingUniformFanIn", "WeightInitVarScalingUniformFanOut", "WeightInitXavier",
    "WeightInitXavierLegacy", "WeightInitXavierUniform",
]

_JAVA = "org.deeplearning4j.nn.weights."


@configuration()
class IWeightInit(Configuration, IWeightInitNames):
    """Base of all weight initialisers: override ``init`` and register with ``@configuration("full.java.Name")``.

    DL4J's form, ``init(fan_in, fan_out, shape, order, view)``, which fills a flat view or returns an array, counts too.

    Fields of this type also take a :class:`WeightInit`, its name, a :class:`Distribution` or the vectors of an
    :class:`EmbeddingInitializer`.

    Examples
    --------
    >>> WeightInitXavier().init(Nd4jRandom(12345), fan_in=5, fan_out=4, shape=(5, 4))[0, 0]
    np.float32(-0.30803284)
    >>> IWeightInit.of("relu")
    WeightInitRelu()
    """

    result_checks = {"init": has_given_shape}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        own = vars(cls).get("init")
        if own is not None and not is_ours(own) and takes(own, 5):
            setattr(cls, "init", filled_by(own))  # noqa: B010  # mypy knows no such assignment
        super().__init_subclass__(**kwargs)

    @unwritten
    def init(self, rng: Nd4jRandom, fan_in: float, fan_out: float, shape: tuple[int, ...], order: Order = "f",
             dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        """Return new values for a parameter, drawn from ``rng``."""
        raise NotImplementedError

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, str):
            value = WeightInit.from_string(value)
        if isinstance(value, Distribution) or (isinstance(value, Mapping) and Distribution.json_tag in value):
            value = WeightInitDistribution(Distribution.of(value))
        convert = getattr(value, "get_weight_init_function", None)      # a WeightInit, an EmbeddingInitializer
        return super().of(convert() if convert else value)


@configuration()
class _FromFans(IWeightInit):
    rule: ClassVar[str]

    def spread(self, table: dict[str, Spread], fan_in: float, fan_out: float) -> float:
        return spread(table, self.rule, fan_in, fan_out, getattr(self, "scale", None))


@configuration()
class _FanNormal(_FromFans):
    def init(self, rng: Nd4jRandom, fan_in: float, fan_out: float, shape: tuple[int, ...], order: Order = "f",
             dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return rng.normal(shape, 0.0, self.spread(NORMAL_STD, fan_in, fan_out), dtype, order)


@configuration()
class _FanUniform(_FanNormal):
    def init(self, rng: Nd4jRandom, fan_in: float, fan_out: float, shape: tuple[int, ...], order: Order = "f",
             dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        limit = self.spread(UNIFORM_LIMIT, fan_in, fan_out)
        return rng.uniform(shape, -limit, limit, dtype, order)


@configuration()
class _ScaledNormal(_FanNormal):
    """Values whose deviations are scaled.

    Parameters
    ----------
    scale : float, optional
        The factor; 1 where left out.
    """

    scale: float | None = None

    def init(self, rng: Nd4jRandom, fan_in: float, fan_out: float, shape: tuple[int, ...], order: Order = "f",
             dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return rng.truncated_normal(shape, 0.0, self.spread(NORMAL_STD, fan_in, fan_out), dtype, order)


@configuration()
class _ScaledUniform(_FanUniform):
    """Values whose limits are scaled.

    Parameters
    ----------
    scale : float, optional
        The factor; 1 where left out.
    """

    scale: float | None = None


@configuration(_JAVA + "WeightInitXavier")
class WeightInitXavier(_FanNormal, WeightInitXavierNames):
    """N(0, 2 / (fan_in + fan_out)) (Glorot and Bengio 2010); the default of every network."""

    rule = "xavier"


@configuration(_JAVA + "WeightInitNormal")
class WeightInitNormal(_FanNormal, WeightInitNormalNames):
    """N(0, 1 / fan_in) (LeCun et al. 1998): NORMAL, LECUN_NORMAL and XAVIER_FAN_IN."""

    rule = "fan_in"


@configuration(_JAVA + "WeightInitRelu")
class WeightInitRelu(_FanNormal, WeightInitReluNames):
    """N(0, 2 / fan_in) (He et al. 2015)."""

    rule = "relu"


@configuration(_JAVA + "WeightInitXavierLegacy")
class WeightInitXavierLegacy(IWeightInit, WeightInitXavierLegacyNames):
    """N(0, 1 / (shape[0] + shape[1])): Xavier's initialisation as early DL4J versions had it."""

    def init(self, rng: Nd4jRandom, fan_in: float, fan_out: float, shape: tuple[int, ...], order: Order = "f",
             dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        if len(shape) < 2 or not shape[0] + shape[1]:
            raise ConfigurationError(f"XAVIER_LEGACY initialisation needs a shape of rank 2 or more; got {list(shape)}")
        return rng.normal(shape, 0.0, 1.0 / math.sqrt(shape[0] + shape[1]), dtype, order)


@configuration(_JAVA + "WeightInitXavierUniform")
class WeightInitXavierUniform(_FanUniform, WeightInitXavierUniformNames):
    """U(-a, a), a = sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010)."""

    rule = "xavier"


@configuration(_JAVA + "WeightInitReluUniform")
class WeightInitReluUniform(_FanUniform, WeightInitReluUniformNames):
    """U(-a, a), a = sqrt(6 / fan_in) (He et al. 2015)."""

    rule = "relu"


@configuration(_JAVA + "WeightInitSigmoidUniform")
class WeightInitSigmoidUniform(_FanUniform, WeightInitSigmoidUniformNames):
    """U(-a, a), a = 4 sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010, for sigmoids)."""

    rule = "sigmoid"


@configuration(_JAVA + "WeightInitUniform")
class WeightInitUniform(_FanUniform, WeightInitUniformNames):
    """U(-a, a), a = 1 / sqrt(fan_in)."""

    rule = "plain"


@configuration(_JAVA + "WeightInitLecunUniform")
class WeightInitLecunUniform(_FanUniform, WeightInitLecunUniformNames):
    """U(-a, a), a = 3 / sqrt(fan_in)."""

    rule = "fan_in"


@configuration(_JAVA + "WeightInitVarScalingNormalFanIn")
class WeightInitVarScalingNormalFanIn(_ScaledNormal, WeightInitVarScalingNormalFanInNames):
    """Normal cut at two deviations, std = sqrt(scale / fan_in); scale None is 1."""

    rule = "fan_in"


@configuration(_JAVA + "WeightInitVarScalingNormalFanOut")
class WeightInitVarScalingNormalFanOut(_ScaledNormal, WeightInitVarScalingNormalFanOutNames):
    """Normal cut at two deviations, std = sqrt(scale / fan_out)."""

    rule = "fan_out"


@configuration(_JAVA + "WeightInitVarScalingNormalFanAvg")
class WeightInitVarScalingNormalFanAvg(_ScaledNormal, WeightInitVarScalingNormalFanAvgNames):
    """Normal cut at two deviations, std = sqrt(2 scale / (fan_in + fan_out))."""

    rule = "fan_avg"


@configuration(_JAVA + "WeightInitVarScalingUniformFanIn")
class WeightInitVarScalingUniformFanIn(_ScaledUniform, WeightInitVarScalingUniformFanInNames):
    """U(-a, a), a = 3 scale / sqrt(fan_in)."""

    rule = "fan_in"


@configuration(_JAVA + "WeightInitVarScalingUniformFanOut")
class WeightInitVarScalingUniformFanOut(_ScaledUniform, WeightInitVarScalingUniformFanOutNames):
    """U(-a, a), a = 3 scale / sqrt(fan_out)."""

    rule = "fan_out"


@configuration(_JAVA + "WeightInitVarScalingUniformFanAvg")
class WeightInitVarScalingUniformFanAvg(_ScaledUniform, WeightInitVarScalingUniformFanAvgNames):
    """U(-a, a), a = 3 scale / sqrt((fan_in + fan_out) / 2)."""

    rule = "fan_avg"


@configuration(_JAVA + "WeightInitConstant")
class WeightInitConstant(IWeightInit, WeightInitConstantNames):
    """One value everywhere (ZERO: 0, ONES: 1); draws nothing.

    Parameters
    ----------
    value : float
        Any number; 0 by default.
    """

    value: float = 0.0

    def init(self, rng: Nd4jRandom, fan_in: float, fan_out: float, shape: tuple[int, ...], order: Order = "f",
             dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return np.full(shape, self.value, DataType.of(dtype).numpy)


@configuration(_JAVA + "WeightInitIdentity")
class WeightInitIdentity(IWeightInit, WeightInitIdentityNames):
    """``scale`` (None: 1) times the identity matrix, or kernels ``(out, in, *kernel)`` with the identity as centre taps.

    Parameters
    ----------
    scale : float, optional
        What stands on the diagonal.
    """

    scale: float | None = None

    def init(self, rng: Nd4jRandom, fan_in: float, fan_out: float, shape: tuple[int, ...], order: Order = "f",
             dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return identity(shape, 1.0 if self.scale is None else self.scale).astype(DataType.of(dtype).numpy)


@configuration(_JAVA + "WeightInitDistribution")
class WeightInitDistribution(IWeightInit, WeightInitDistributionNames):
    """Values of a :class:`Distribution`.

    Parameters
    ----------
    distribution : Distribution
        Drawn from as it is: sizes of the layer do not scale it.
    """

    distribution: Distribution

    def init(self, rng: Nd4jRandom, fan_in: float, fan_out: float, shape: tuple[int, ...], order: Order = "f",
             dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return self.distribution.sample(rng, shape, order, dtype)


class WeightInit(WeightInitNames, JavaEnum):
    """DL4J's names of weight initialisers.

    Examples
    --------
    >>> WeightInit.XAVIER.get_weight_init_function()
    WeightInitXavier()
    """

    DISTRIBUTION = "DISTRIBUTION"
    ZERO = "ZERO"
    ONES = "ONES"
    SIGMOID_UNIFORM = "SIGMOID_UNIFORM"
    NORMAL = "NORMAL"
    LECUN_NORMAL = "LECUN_NORMAL"
    UNIFORM = "UNIFORM"
    XAVIER = "XAVIER"
    XAVIER_UNIFORM = "XAVIER_UNIFORM"
    XAVIER_FAN_IN = "XAVIER_FAN_IN"
    XAVIER_LEGACY = "XAVIER_LEGACY"
    RELU = "RELU"
    RELU_UNIFORM = "RELU_UNIFORM"
    IDENTITY = "IDENTITY"
    LECUN_UNIFORM = "LECUN_UNIFORM"
    VAR_SCALING_NORMAL_FAN_IN = "VAR_SCALING_NORMAL_FAN_IN"
    VAR_SCALING_NORMAL_FAN_OUT = "VAR_SCALING_NORMAL_FAN_OUT"
    VAR_SCALING_NORMAL_FAN_AVG = "VAR_SCALING_NORMAL_FAN_AVG"
    VAR_SCALING_UNIFORM_FAN_IN = "VAR_SCALING_UNIFORM_FAN_IN"
    VAR_SCALING_UNIFORM_FAN_OUT = "VAR_SCALING_UNIFORM_FAN_OUT"
    VAR_SCALING_UNIFORM_FAN_AVG = "VAR_SCALING_UNIFORM_FAN_AVG"

    def get_weight_init_function(self, distribution: Any = None) -> IWeightInit:
        """Return the initialiser; DISTRIBUTION needs the distribution."""
        if self is WeightInit.DISTRIBUTION:
            if distribution is None:
                raise ConfigurationError("WeightInit.DISTRIBUTION needs a distribution: give weight_init the "
                                         "distribution itself, for example weight_init(NormalDistribution(0, 0.1))")
            return WeightInitDistribution(Distribution.of(distribution))
        return _FUNCTIONS[self]

    @staticmethod
    def from_string(name: str) -> WeightInit:
        """Return the member of a name in any case."""
        found = WeightInit.__members__.get(WEIGHT_INITS.get(squash(name), name.upper()))
        if found is None:
            hint = did_you_mean(name.upper(), WeightInit.__members__)
            raise ConfigurationError(f"no weight initialisation is named {name!r}{hint}")
        return found


_FUNCTIONS: dict[WeightInit, IWeightInit] = {
    WeightInit.ZERO: WeightInitConstant(0.0),
    WeightInit.ONES: WeightInitConstant(1.0),
    WeightInit.NORMAL: WeightInitNormal(),
    WeightInit.LECUN_NORMAL: WeightInitNormal(),
    WeightInit.XAVIER_FAN_IN: WeightInitNormal(),
    **{WeightInit[to_snake(kind.__name__.removeprefix("WeightInit")).upper()]: kind() for kind in (
        WeightInitSigmoidUniform, WeightInitUniform, WeightInitXavier, WeightInitXavierUniform, WeightInitXavierLegacy,
        WeightInitRelu, WeightInitReluUniform, WeightInitIdentity, WeightInitLecunUniform,
        WeightInitVarScalingNormalFanIn, WeightInitVarScalingNormalFanOut, WeightInitVarScalingNormalFanAvg,
        WeightInitVarScalingUniformFanIn, WeightInitVarScalingUniformFanOut, WeightInitVarScalingUniformFanAvg)},
}
