"""Distributions that weights and weight noise are drawn from."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...samediff.base.datatype import DataType
from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import configuration
from ...samediff.errors import ConfigurationError
from ...samediff.initializers.nd4j_random import Nd4jRandom, Order
from ..types.java_names import (
    BinomialDistributionNames,
    ConstantDistributionNames,
    DistributionNames,
    GaussianDistributionNames,
    LogNormalDistributionNames,
    NormalDistributionNames,
    OrthogonalDistributionNames,
    TruncatedNormalDistributionNames,
    UniformDistributionNames,
)

__all__ = [
    "BinomialDistribution", "ConstantDistribution", "Distribution", "GaussianDistribution", "LogNormalDistribution", "NormalDistribution",
    "OrthogonalDistribution", "TruncatedNormalDistribution", "UniformDistribution",
]

_JAVA = "org.deeplearning4j.nn.conf.distribution."


@configuration(tag="type")
class Distribution(Configuration, DistributionNames):
    """Base of all distributions: override ``sample`` and register with ``@configuration("full.java.Name")``.

    Examples
    --------
    >>> UniformDistribution(-1, 1).sample(Nd4jRandom(42), (2,))
    array([-0.6017227 , -0.24335122], dtype=float32)
    """

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read a distribution from a document; JSON names its class by ``type``, YAML by a tag."""
        if isinstance(document, Mapping) and "@class" in document:
            document = {"type": document["@class"]} | {k: v for k, v in document.items() if k != "@class"}
        return super().from_document(document)

    @unwritten
    def sample(self, rng: Nd4jRandom, shape: tuple[int, ...], order: Order = "c",
               dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        """Draw an array; its elements are drawn in linear order ``order``."""
        raise NotImplementedError


@configuration(_JAVA + "NormalDistribution")
class NormalDistribution(Distribution, NormalDistributionNames):
    """N(mean, std^2).

    Parameters
    ----------
    mean, std : float
        Mean and standard deviation (of the normal distribution behind it).
    """

    mean: float = 0.0
    std: float = 1.0

    def validate(self) -> None:
        if self.std < 0:
            raise ConfigurationError(f"{type(self).__name__}: expected std >= 0, got {self.std}")

    def sample(self, rng: Nd4jRandom, shape: tuple[int, ...], order: Order = "c",
               dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return rng.normal(shape, self.mean, self.std, dtype, order)


@configuration(_JAVA + "GaussianDistribution")
class GaussianDistribution(NormalDistribution, GaussianDistributionNames):
    """The older name of :class:`NormalDistribution`."""


@configuration(_JAVA + "TruncatedNormalDistribution")
class TruncatedNormalDistribution(NormalDistribution, TruncatedNormalDistributionNames):
    """N(mean, std^2) cut at two deviations."""

    def sample(self, rng: Nd4jRandom, shape: tuple[int, ...], order: Order = "c",
               dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return rng.truncated_normal(shape, self.mean, self.std, dtype, order)


@configuration(_JAVA + "LogNormalDistribution")
class LogNormalDistribution(NormalDistribution, LogNormalDistributionNames):
    """exp(x) with x from N(mean, std^2)."""

    def sample(self, rng: Nd4jRandom, shape: tuple[int, ...], order: Order = "c",
               dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return rng.log_normal(shape, self.mean, self.std, dtype, order)


@configuration(_JAVA + "UniformDistribution")
class UniformDistribution(Distribution, UniformDistributionNames):
    """U(lower, upper).

    Parameters
    ----------
    lower, upper : float
        From ``lower`` to below ``upper``, which is larger.
    """

    lower: float
    upper: float

    def validate(self) -> None:
        if not self.lower < self.upper:
            raise ConfigurationError(f"UniformDistribution: expected lower < upper, got {self.lower} and {self.upper}")

    def sample(self, rng: Nd4jRandom, shape: tuple[int, ...], order: Order = "c",
               dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return rng.uniform(shape, self.lower, self.upper, dtype, order)


@configuration(_JAVA + "BinomialDistribution")
class BinomialDistribution(Distribution, BinomialDistributionNames):
    """The number of successes in ``number_of_trials`` trials.

    Parameters
    ----------
    number_of_trials : int
        0 or more.
    probability_of_success : float
        Of each trial, from 0 to 1.
    """

    number_of_trials: int
    probability_of_success: float

    def validate(self) -> None:
        if self.number_of_trials < 0 or not 0 <= self.probability_of_success <= 1:
            raise ConfigurationError("BinomialDistribution: expected number_of_trials >= 0 and a probability from 0 to "
                                     f"1, got {self.number_of_trials} and {self.probability_of_success}")

    def sample(self, rng: Nd4jRandom, shape: tuple[int, ...], order: Order = "c",
               dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return rng.binomial(shape, self.number_of_trials, self.probability_of_success, dtype, order)


@configuration(_JAVA + "ConstantDistribution")
class ConstantDistribution(Distribution, ConstantDistributionNames):
    """The same value everywhere; draws nothing.

    Parameters
    ----------
    value : float
        Any number.
    """

    value: float

    def sample(self, rng: Nd4jRandom, shape: tuple[int, ...], order: Order = "c",
               dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        return np.full(shape, self.value, DataType.of(dtype).numpy)


@configuration(_JAVA + "OrthogonalDistribution")
class OrthogonalDistribution(Distribution, OrthogonalDistributionNames):
    """``gain`` times an orthogonal matrix (Saxe et al. 2013): U (tall) or V transposed (wide) of a normal matrix's SVD.

    The rows are all dimensions but the last. A tall matrix gets orthonormal columns, a wide one orthonormal rows, times
    the gain; the signs may differ from DL4J's, which depend on its linear algebra library.

    Parameters
    ----------
    gain : float
        The length of each of the orthogonal rows or columns; 1 by default.
    """

    gain: float = 1.0

    def sample(self, rng: Nd4jRandom, shape: tuple[int, ...], order: Order = "c",
               dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        kind = DataType.of(dtype)
        columns = shape[-1] if shape else 1
        rows = math.prod(shape[:-1])
        normal = rng.normal((rows, columns), dtype=kind).astype(np.float64)
        u, _, vt = np.linalg.svd(normal, full_matrices=False)
        orthogonal: NDArray[Any] = (u if rows >= columns else vt) * self.gain
        return orthogonal.astype(kind.numpy).reshape(shape)
