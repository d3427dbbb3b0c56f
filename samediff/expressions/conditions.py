"""Conditions on single elements: ``Conditions.greater_than(0.5)``."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.java_names import ConditionNames
from ..errors import OutOfRangeError
from .arrays import is_held

#: Names of the conditions, in the order of their numbers in files.
MODES = ("eps_equals", "eps_not_equals", "less_than", "greater_than", "less_than_or_equal", "greater_than_or_equal", "abs_less_than",
         "abs_greater_than", "is_infinite", "is_nan", "equals", "not_equals", "abs_greater_than_or_equal", "abs_less_than_or_equal",
         "is_finite", "not_finite")

TESTS: dict[str, Any] = {
    "eps_equals": lambda xp, x, v, eps: abs(x - v) <= eps,
    "eps_not_equals": lambda xp, x, v, eps: ~(abs(x - v) <= eps),
    "less_than": lambda xp, x, v, eps: x < v,
    "greater_than": lambda xp, x, v, eps: x > v,
    "less_than_or_equal": lambda xp, x, v, eps: x <= v,
    "greater_than_or_equal": lambda xp, x, v, eps: x >= v,
    "abs_less_than": lambda xp, x, v, eps: abs(x) < v,
    "abs_greater_than": lambda xp, x, v, eps: abs(x) > v,
    "is_infinite": lambda xp, x, v, eps: xp.isinf(x),
    "is_nan": lambda xp, x, v, eps: xp.isnan(x),
    "equals": lambda xp, x, v, eps: x == v,
    "not_equals": lambda xp, x, v, eps: x != v,
    "abs_greater_than_or_equal": lambda xp, x, v, eps: abs(x) >= v,
    "abs_less_than_or_equal": lambda xp, x, v, eps: abs(x) <= v,
    "is_finite": lambda xp, x, v, eps: xp.isfinite(x),
    "not_finite": lambda xp, x, v, eps: ~xp.isfinite(x),
}


@dataclass(frozen=True)
class Condition(ConditionNames):
    """A test of single elements; made by :class:`Conditions`.

    Parameters
    ----------
    mode : str
        One of :data:`MODES`.
    value : float
        What elements are compared with.
    eps : float
        Tolerance of the ``eps_…`` modes.
    """

    mode: str
    value: float = 0.0
    eps: float = 1e-5

    def test(self, xp: Any, x: Any) -> Any:
        """True where the condition holds, exactly: whole numbers meet a value that their type does not hold as floats."""
        if x.dtype == np.bool_ or not is_held(self.value, x.dtype):
            x = x.astype(np.float64)
        value = xp.asarray(self.value, dtype=x.dtype)
        return TESTS[self.mode](xp, x, value, self.eps)

    def condition_type(self) -> str:
        """The mode."""
        return self.mode

    def eps_threshold(self) -> float:
        """The tolerance."""
        return self.eps

    def apply(self, value: float) -> bool:
        """Whether the condition holds for a number."""
        return bool(self.test(np, np.asarray(value)))

    @property
    def number(self) -> int:
        """The number of the mode in files."""
        return MODES.index(self.mode)


def _with_value(mode: str) -> Any:
    def make(value: float = 0.0, eps: float = 1e-5) -> Condition:
        return Condition(mode, value, eps)
    make.__doc__ = f"{mode.replace('_', ' ')} ``value``, which does not count where two arrays meet (``INDArray.match``)."
    make.__name__ = mode
    return staticmethod(make)


def _plain(mode: str) -> Any:
    def make() -> Condition:
        return Condition(mode)
    make.__doc__ = f"{mode.replace('_', ' ')}."
    make.__name__ = mode
    return staticmethod(make)


class Conditions:
    """Factory of conditions, as ``replace_where``, ``match_condition``, ``first_index`` … take them.

    Examples
    --------
    >>> Conditions.greater_than(0.5)
    Condition(mode='greater_than', value=0.5, eps=1e-05)
    """

    eps_equals = _with_value("eps_equals")
    eps_not_equals = _with_value("eps_not_equals")
    less_than = _with_value("less_than")
    greater_than = _with_value("greater_than")
    less_than_or_equal = _with_value("less_than_or_equal")
    greater_than_or_equal = _with_value("greater_than_or_equal")
    abs_less_than = _with_value("abs_less_than")
    abs_greater_than = _with_value("abs_greater_than")
    abs_less_than_or_equal = _with_value("abs_less_than_or_equal")
    abs_greater_than_or_equal = _with_value("abs_greater_than_or_equal")
    equals = _with_value("equals")
    not_equals = _with_value("not_equals")
    is_infinite = _plain("is_infinite")
    is_nan = _plain("is_nan")
    is_na_n = is_nan
    is_finite = _plain("is_finite")
    not_finite = _plain("not_finite")

    @staticmethod
    def from_int(mode: int, value: float = 0.0) -> Condition:
        """The condition with a number in files (see :data:`MODES`)."""
        if isinstance(mode, bool) or not isinstance(mode, (int, np.integer)) or not 0 <= mode < len(MODES):
            raise OutOfRangeError(f"a condition has a number from 0 to {len(MODES) - 1}, got {mode!r:.40}")
        return Condition(MODES[mode], value)

    # in Java's spelling
    fromInt = from_int
    epsEquals, epsNotEquals, notEquals = eps_equals, eps_not_equals, not_equals
    lessThan, lessThanOrEqual, absLessThan, absLessThanOrEqual = less_than, less_than_or_equal, abs_less_than, abs_less_than_or_equal
    greaterThan, greaterThanOrEqual = greater_than, greater_than_or_equal
    absGreaterThan, absGreaterThanOrEqual = abs_greater_than, abs_greater_than_or_equal
    isInfinite, isNan, isNaN, isFinite, notFinite = is_infinite, is_nan, is_nan, is_finite, not_finite
