"""Weight initialisation schemes of ``sd.var(name, scheme, data_type, *shape)``.

Each scheme takes the memory order of the array ("c" or "f") first, then its fans. Without a generator ``create`` draws
from the process-wide one, as ``SameDiff.var`` does: ``get_random().set_seed(12345)`` makes it repeatable.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.datatype import DataType
from ..base.javanames import JavaSpelling
from ..errors import ConfigurationError, ShapeError
from ..expressions.arrays import to_numbers
from .formulas import NORMAL_STD, UNIFORM_LIMIT, identity, spread
from .nd4j_random import Nd4jRandom, Order, get_random


class _Samples(Protocol):
    def sample(self, rng: Nd4jRandom, shape: tuple[int, ...], order: Order, dtype: Any) -> NDArray[Any]: ...


class WeightInitScheme(JavaSpelling):
    """Base of all schemes: override ``values``.

    Parameters
    ----------
    order : "c" or "f"
        Order of the elements in memory: rows or columns first; it does not change what stands where.

    Examples
    --------
    >>> XavierInitScheme("c", 4, 3).create(DataType.FLOAT, (4, 3), Nd4jRandom(42)).shape
    (4, 3)
    """

    order: Order

    def create(self, data_type: Any, shape: tuple[int, ...], rng: Nd4jRandom | None = None) -> NDArray[Any]:
        """Return a new array of ``shape`` and ``data_type``."""
        if self.order not in ("c", "f"):
            raise ConfigurationError(f"{type(self).__name__}: expected order 'c' or 'f', got {self.order!r}")
        kind = DataType.of(data_type).numpy
        array = to_numbers(self.values(get_random() if rng is None else rng, tuple(shape), data_type))
        return array.astype(kind, order="F" if self.order == "f" else "C", copy=False)

    def values(self, rng: Nd4jRandom, shape: tuple[int, ...], data_type: Any) -> ArrayLike:
        """Return the values; the caller casts and orders them."""
        raise NotImplementedError(f"{type(self).__name__} does not define values")


@dataclass(frozen=True)
class ConstantInitScheme(WeightInitScheme):
    """``value`` everywhere.

    Parameters
    ----------
    value : float
        Default 0.
    """

    order: Order = "c"
    value: float = 0.0

    def values(self, rng: Nd4jRandom, shape: tuple[int, ...], data_type: Any) -> ArrayLike:
        return np.full(shape, self.value)


@dataclass(frozen=True)
class ZeroInitScheme(WeightInitScheme):
    """0 everywhere."""

    order: Order = "c"

    def values(self, rng: Nd4jRandom, shape: tuple[int, ...], data_type: Any) -> ArrayLike:
        return np.zeros(shape)


@dataclass(frozen=True)
class OneInitScheme(WeightInitScheme):
    """1 everywhere."""

    order: Order = "c"

    def values(self, rng: Nd4jRandom, shape: tuple[int, ...], data_type: Any) -> ArrayLike:
        return np.ones(shape)


@dataclass(frozen=True)
class IdentityInitScheme(WeightInitScheme):
    """The identity matrix; ``fan_in`` has no effect.

    Parameters
    ----------
    fan_in : float
        Taken as DL4J does, and not used.
    """

    order: Order = "c"
    fan_in: float = 0.0

    def values(self, rng: Nd4jRandom, shape: tuple[int, ...], data_type: Any) -> ArrayLike:
        return identity(shape)


@dataclass(frozen=True)
class DistributionInitScheme(WeightInitScheme):
    """Values of a distribution object with ``sample(rng, shape, order, dtype)``.

    Parameters
    ----------
    distribution : object
        With ``sample(rng, shape, order, dtype)``, which draws an array: a `Distribution` of ``dl4py.layers`` or one of yours.
    """

    order: Order
    distribution: _Samples

    def __post_init__(self) -> None:
        if not callable(getattr(self.distribution, "sample", None)):
            raise ConfigurationError("DistributionInitScheme takes the order, then a distribution, such as NormalDistribution(0, 1); got "
                                     f"{self.distribution!r}")

    def values(self, rng: Nd4jRandom, shape: tuple[int, ...], data_type: Any) -> ArrayLike:
        return self.distribution.sample(rng, shape, self.order, data_type)


class NDArraySupplierInitScheme(WeightInitScheme):
    """A given array, or what a function without arguments returns; its shape must be the variable's.

    Parameters
    ----------
    supplier : array or callable
        The array, or a function without arguments that returns it.

    Examples
    --------
    >>> NDArraySupplierInitScheme(lambda: np.eye(2)).create(DataType.FLOAT, (2, 2))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(self, supplier: Callable[[], ArrayLike] | ArrayLike, order: Order = "c") -> None:
        self.supplier = supplier
        self.order = order

    def values(self, rng: Nd4jRandom, shape: tuple[int, ...], data_type: Any) -> ArrayLike:
        array = to_numbers(self.supplier() if callable(self.supplier) else self.supplier)
        if array.shape != shape:
            raise ShapeError(f"NDArraySupplierInitScheme: the variable has shape {shape}, the supplied array "
                             f"{array.shape}")
        return array


#: Stands for the other fan, as in the scheme of a bias, which has one size.
_SAME = -1.0


class _Fans(WeightInitScheme):
    """Values spread by the fans of the variable.

    Parameters
    ----------
    fan_in, fan_out : float
        How many inputs an output has, and outputs an input; of a matrix of weights its rows and its columns. Rules that use both take one
        for both; a fan that a rule does not use has no effect.
    """

    rule: ClassVar[str]
    fan_in: float
    fan_out: float

    def __post_init__(self) -> None:
        if self.fan_out == _SAME:
            object.__setattr__(self, "fan_out", self.fan_in)

    def values(self, rng: Nd4jRandom, shape: tuple[int, ...], data_type: Any) -> ArrayLike:
        return rng.normal(shape, 0.0, spread(NORMAL_STD, self.rule, self.fan_in, self.fan_out), data_type, self.order)


class _UniformFans(_Fans):
    def values(self, rng: Nd4jRandom, shape: tuple[int, ...], data_type: Any) -> ArrayLike:
        limit = spread(UNIFORM_LIMIT, self.rule, self.fan_in, self.fan_out)
        return rng.uniform(shape, -limit, limit, data_type, self.order)


@dataclass(frozen=True)
class XavierInitScheme(_Fans):
    """N(0, 2 / (fan_in + fan_out))."""

    order: Order
    fan_in: float
    fan_out: float = _SAME
    rule = "xavier"


@dataclass(frozen=True)
class XavierFanInInitScheme(_Fans):
    """N(0, 1 / fan_in)."""

    order: Order
    fan_in: float
    fan_out: float = 1.0
    rule = "fan_in"


@dataclass(frozen=True)
class ReluInitScheme(_Fans):
    """N(0, 2 / fan_in)."""

    order: Order
    fan_in: float
    fan_out: float = 1.0
    rule = "relu"


@dataclass(frozen=True)
class VarScalingNormalFanInInitScheme(_Fans):
    """N(0, 1 / fan_in)."""

    order: Order
    fan_in: float
    fan_out: float = 1.0
    rule = "fan_in"


@dataclass(frozen=True)
class VarScalingNormalFanOutInitScheme(_Fans):
    """N(0, 1 / fan_out)."""

    order: Order
    fan_out: float
    fan_in: float = 1.0
    rule = "fan_out"


@dataclass(frozen=True)
class VarScalingNormalFanAvgInitScheme(_Fans):
    """N(0, 2 / (fan_in + fan_out))."""

    order: Order
    fan_in: float
    fan_out: float = _SAME
    rule = "fan_avg"


@dataclass(frozen=True)
class XavierUniformInitScheme(_UniformFans):
    """U(-a, a), a = sqrt(6 / (fan_in + fan_out))."""

    order: Order
    fan_in: float
    fan_out: float = _SAME
    rule = "xavier"


@dataclass(frozen=True)
class SigmoidUniformInitScheme(_UniformFans):
    """U(-a, a), a = 4 sqrt(6 / (fan_in + fan_out))."""

    order: Order
    fan_in: float
    fan_out: float = _SAME
    rule = "sigmoid"


@dataclass(frozen=True)
class UniformInitScheme(_UniformFans):
    """U(-a, a), a = 1 / sqrt(fan_in)."""

    order: Order
    fan_in: float
    fan_out: float = 1.0
    rule = "plain"


@dataclass(frozen=True)
class ReluUniformInitScheme(_UniformFans):
    """U(-a, a), a = sqrt(6 / fan_in)."""

    order: Order
    fan_in: float
    fan_out: float = 1.0
    rule = "relu"


@dataclass(frozen=True)
class LecunUniformInitScheme(_UniformFans):
    """U(-a, a), a = 3 / sqrt(fan_in)."""

    order: Order
    fan_in: float
    fan_out: float = 1.0
    rule = "fan_in"


@dataclass(frozen=True)
class VarScalingNormalUniformFanInInitScheme(_UniformFans):
    """U(-a, a), a = 3 / sqrt(fan_in) (uniform in spite of its name)."""

    order: Order
    fan_in: float
    fan_out: float = 1.0
    rule = "fan_in"


@dataclass(frozen=True)
class VarScalingNormalUniformFanOutInitScheme(_UniformFans):
    """U(-a, a), a = 3 / sqrt(fan_out) (uniform in spite of its name)."""

    order: Order
    fan_out: float
    fan_in: float = 1.0
    rule = "fan_out"


@dataclass(frozen=True)
class VarScalingUniformFanAvgInitScheme(_UniformFans):
    """U(-a, a), a = 3 / sqrt((fan_in + fan_out) / 2)."""

    order: Order
    fan_in: float
    fan_out: float = _SAME
    rule = "fan_avg"
