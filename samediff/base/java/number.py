"""Numbers with the methods of Java's ``Number``."""
from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..java_names import NumberNames


class Number(NumberNames):
    """Methods of Java's numbers; base of the two kinds, which are Python's ``float`` and ``int`` besides.

    Examples
    --------
    >>> number(2.75).intValue(), number(2.75).double_value(), number(2.75) + 1, number(np.int64(3)).doubleValue()
    (2, 2.75, 3.75, 3.0)
    """

    __slots__ = ()

    def double_value(self) -> float:
        """The value, as a ``float``."""
        return float(self)  # type: ignore[arg-type]  # of the sub-classes, as below

    def float_value(self) -> float:
        """The value, rounded to 32 bits."""
        return float(np.float32(self))  # type: ignore[arg-type]

    def int_value(self) -> int:
        """The value without its fraction."""
        return int(self)  # type: ignore[call-overload, no-any-return]

    def long_value(self) -> int:
        """The value without its fraction."""
        return int(self)  # type: ignore[call-overload, no-any-return]


class FractionalNumber(Number, float):
    """A number of a floating type."""

    __slots__ = ()


class WholeNumber(Number, int):
    """A number of an integer type."""

    __slots__ = ()


JavaNumber: TypeAlias = FractionalNumber | WholeNumber


def number(value: Any) -> JavaNumber:
    """A number of Python or NumPy, or an array of one, as one that has Java's methods; truth values are 1 and 0."""
    plain = np.asarray(value).item()
    return WholeNumber(plain) if isinstance(plain, int) else FractionalNumber(plain)
