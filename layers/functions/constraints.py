"""Constraints on the parameters of a layer, applied after each update."""
from __future__ import annotations

from typing import Any, Self

from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.base.user_code.user_methods import is_array
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration, field
from ...samediff.errors import ConfigurationError
from ...samediff.training.updaters import constraints as rules
from ..types.java_names import (
    LayerConstraintNames,
    MaxNormConstraintNames,
    MinMaxNormConstraintNames,
    NonNegativeConstraintNames,
    UnitNormConstraintNames,
)

__all__ = ["LayerConstraint", "MaxNormConstraint", "MinMaxNormConstraint", "NonNegativeConstraint", "UnitNormConstraint"]

_PACKAGE = "org.deeplearning4j.nn.conf.constraint."
GROUPS = ALL, WEIGHTS, BIASES, INPUTS, RECURRENT = "<all>", "<weights>", "<biases>", "<weights of inputs>", "<recurrent weights>"


def java_set(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names in the order in which Java's hash set lists them, as DL4J's files have them."""

    def bucket(name: str) -> int:
        value = 0
        for character in name:
            value = (31 * value + ord(character)) & 0xFFFFFFFF
        return (value ^ value >> 16) % size

    size = 16
    while len(names) * 4 // 3 + 1 > size:
        size *= 2
    return tuple(sorted(names, key=bucket))


@configuration
class LayerConstraint(Configuration, LayerConstraintNames):
    """Base of all constraints.

    ``params`` names the parameters that it holds for; layers fill it in.
    ``dimensions`` are the axes that a norm runs over:
    (1,) for the rows of a dense weight matrix, (1, 2, 3) for the filters of a convolution.

    Parameters
    ----------
    params : sequence of str
        Names of the parameters that it holds for; layers fill it in.
    epsilon : float
        Added to norms before they divide; default 1e-6.
    dimensions : sequence of int, optional
        Axes that a norm runs over; norms need them.
    """

    result_checks = {"constrained": is_array}

    params: Convertible[tuple[str, ...]] = field(default=(), aliases=("param_names",))
    epsilon: float = 1e-6
    dimensions: Convertible[tuple[int, ...] | None] = None

    def apply(self, param: Any, xp: Any = None) -> Any:
        """Return the constrained array."""
        import numpy
        return self.constrained(xp or numpy, param)

    @unwritten
    def constrained(self, xp: Any, param: Any) -> Any:
        """Return the constrained array, in array code; override it."""
        raise NotImplementedError

    def set_dimensions(self, dimensions: Any) -> Self:
        """Set the dimensions of this very constraint, as DL4J does, and return it."""
        object.__setattr__(self, "dimensions", self.replace(dimensions=dimensions).dimensions)
        return self

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return _positional(cls, args)

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Any) -> dict[str, Any]:
        return super()._bind((), {**_positional(cls, args), **kwargs})


def _positional(cls: type[LayerConstraint], args: tuple[Any, ...]) -> dict[str, Any]:
    """DL4J's order of arguments: own numbers first, then dimensions."""
    own = [n for n in cls._fields if n not in LayerConstraint._fields]
    values = dict(zip(own, args))
    rest = args[len(own):]
    if rest:
        values["dimensions"] = rest[0] if len(rest) == 1 else rest
    return values


def axes(constraint: LayerConstraint) -> tuple[int, ...]:
    """Return the dimensions of a norm constraint, which it cannot do without."""
    if not constraint.dimensions:
        raise ConfigurationError(f"{type(constraint).__name__} needs dimensions, the axes that its norm runs over")
    return constraint.dimensions


@configuration(_PACKAGE + "MaxNormConstraint")
class MaxNormConstraint(LayerConstraint, MaxNormConstraintNames):
    """Scales vectors down to at most ``max_norm``: ``MaxNormConstraint(1.0, 1)``.

    Parameters
    ----------
    max_norm : float
        The largest Euclidean length of a vector, above 0; 1 by default.
    """

    max_norm: float = 1.0

    def constrained(self, xp: Any, param: Any) -> Any:
        return rules.max_norm(xp, param, self.max_norm, axes(self), self.epsilon)


@configuration(_PACKAGE + "MinMaxNormConstraint")
class MinMaxNormConstraint(LayerConstraint, MinMaxNormConstraintNames):
    """Scales vectors to a norm between ``min`` and ``max``.

    Parameters
    ----------
    min, max : float
        Smallest and largest norm; 0 and 1 by default.
    rate : float
        Share of the clipped norm in the new one; 1 (default) takes it alone.
    """

    min: float = 0.0
    max: float = 1.0
    rate: float = 1.0

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Any) -> dict[str, Any]:
        if len(args) > 2 and isinstance(args[2], (int, list, tuple)):  # (min, max, dimensions...) without a rate
            args = (*args[:2], 1.0, *args[2:])
        return super()._bind(args, kwargs)

    def constrained(self, xp: Any, param: Any) -> Any:
        return rules.min_max_norm(xp, param, self.min, self.max, self.rate, axes(self), self.epsilon)


@configuration(_PACKAGE + "UnitNormConstraint")
class UnitNormConstraint(LayerConstraint, UnitNormConstraintNames):
    """Scales vectors to norm 1: ``UnitNormConstraint(1)``."""

    def constrained(self, xp: Any, param: Any) -> Any:
        return rules.unit_norm(xp, param, axes(self))


@configuration(_PACKAGE + "NonNegativeConstraint")
class NonNegativeConstraint(LayerConstraint, NonNegativeConstraintNames):
    """Sets negative values to 0."""

    def constrained(self, xp: Any, param: Any) -> Any:
        return rules.non_negative(xp, param)
