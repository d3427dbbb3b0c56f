"""Steps that calculate."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...base.java.java_enum import JavaEnum
from ...base.java_names import (
    DoubleColumnsMathOpTransformNames,
    DoubleMathFunctionTransformNames,
    DoubleMathOpTransformNames,
    FloatColumnsMathOpTransformNames,
    FloatMathFunctionTransformNames,
    FloatMathOpTransformNames,
    IntegerColumnsMathOpTransformNames,
    IntegerMathOpTransformNames,
    Log2NormalizerNames,
    LongColumnsMathOpTransformNames,
    LongMathOpTransformNames,
    MinMaxNormalizerNames,
    StandardizeNormalizerNames,
    SubtractMeanNormalizerNames,
)
from ...configuration.declaring import Convertible, configuration
from ...errors import ConfigurationError
from .frames import numbers
from .meta_data import ColumnMetaData, DoubleMetaData, FloatMetaData, IntegerMetaData, LongMetaData, NumberMetaData, of_kind
from .schema import Schema
from .steps import ColumnTransform, NewColumns

__all__ = [
    "DoubleColumnsMathOpTransform", "DoubleMathFunctionTransform", "DoubleMathOpTransform", "FloatColumnsMathOpTransform",
    "FloatMathFunctionTransform", "FloatMathOpTransform", "IntegerColumnsMathOpTransform", "IntegerMathOpTransform", "Log2Normalizer",
    "LongColumnsMathOpTransform", "LongMathOpTransform", "MathFunction", "MathOp", "MinMaxNormalizer", "StandardizeNormalizer",
    "SubtractMeanNormalizer",
]


class MathOp(JavaEnum):
    """Calculations with two numbers."""

    Add = "Add"
    Subtract = "Subtract"
    Multiply = "Multiply"
    Divide = "Divide"
    Modulus = "Modulus"
    ReverseSubtract = "ReverseSubtract"
    ReverseDivide = "ReverseDivide"
    ScalarMin = "ScalarMin"
    ScalarMax = "ScalarMax"


class MathFunction(JavaEnum):
    """Functions of a number."""

    ABS = "ABS"
    ACOS = "ACOS"
    ASIN = "ASIN"
    ATAN = "ATAN"
    CEIL = "CEIL"
    COS = "COS"
    COSH = "COSH"
    EXP = "EXP"
    FLOOR = "FLOOR"
    LOG = "LOG"
    LOG10 = "LOG10"
    SIGNUM = "SIGNUM"
    SIN = "SIN"
    SINH = "SINH"
    SQRT = "SQRT"
    TAN = "TAN"
    TANH = "TANH"


_FUNCTIONS: dict[MathFunction, Callable[[Any], Any]] = {
    MathFunction.ABS: np.abs, MathFunction.ACOS: np.arccos, MathFunction.ASIN: np.arcsin, MathFunction.ATAN: np.arctan,
    MathFunction.CEIL: np.ceil, MathFunction.COS: np.cos, MathFunction.COSH: np.cosh, MathFunction.EXP: np.exp,
    MathFunction.FLOOR: np.floor, MathFunction.LOG: np.log, MathFunction.LOG10: np.log10, MathFunction.SIGNUM: np.sign,
    MathFunction.SIN: np.sin, MathFunction.SINH: np.sinh, MathFunction.SQRT: np.sqrt, MathFunction.TAN: np.tan, MathFunction.TANH: np.tanh,
}
_BETWEEN_COLUMNS = (MathOp.Add, MathOp.Subtract, MathOp.Multiply, MathOp.Divide, MathOp.Modulus)


#: Of numbers from here on, results of whole numbers are calculated one by one: they may have more bits than NumPy's.
_LARGE = 2.0 ** 31


def _quotient(a: Any, b: Any) -> Any:
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


_OF_ANY: dict[MathOp, Callable[[Any, Any], Any]] = {
    MathOp.Add: np.add, MathOp.Subtract: np.subtract, MathOp.Multiply: np.multiply, MathOp.ReverseSubtract: lambda x, y: y - x,
    MathOp.ScalarMin: np.minimum, MathOp.ScalarMax: np.maximum}
_OF_FRACTIONS = _OF_ANY | {MathOp.Divide: np.true_divide, MathOp.ReverseDivide: lambda x, y: np.true_divide(y, x), MathOp.Modulus: np.fmod}
_OF_WHOLE = _OF_ANY | {MathOp.Divide: _quotient, MathOp.ReverseDivide: lambda x, y: _quotient(y, x),
                       MathOp.Modulus: lambda x, y: x - y * _quotient(x, y)}


def calculated(op: MathOp, a: NDArray[Any], b: NDArray[Any]) -> Any:
    """What Java's operators give: divisions of whole numbers end at zero, remainders have the sign of the first number. Results of whole
    numbers are exact, whatever their size.
    """
    with np.errstate(all="ignore"):
        if "f" in (a.dtype.kind, b.dtype.kind):
            return _OF_FRACTIONS[op](a, b)
        if op in (MathOp.Divide, MathOp.ReverseDivide, MathOp.Modulus) and not np.all(a if op is MathOp.ReverseDivide else b):
            raise ConfigurationError(f"{op.name} of whole numbers by 0")
        large = any(np.abs(x.astype(np.float64)).max(initial=0.0) >= _LARGE for x in (a, b))
        return _OF_WHOLE[op](*((a.astype(object), b.astype(object)) if large else (a, b)))


@configuration()
class _ScalarMath(ColumnTransform):
    """Base of calculations with a number.

    Parameters
    ----------
    math_op : MathOp
        The calculation.
    scalar : number
        The second number.
    """

    whole: ClassVar[bool] = False
    kind: ClassVar[type[NumberMetaData]] = DoubleMetaData
    math_op: Convertible[MathOp]
    scalar: Any

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        column = of_kind(column, self.kind, self)
        given = (getattr(column, "min_allowed_value"), getattr(column, "max_allowed_value"))  # noqa: B009  # of these kinds alone
        least, most = self.kind(column.name).bounds()
        bounds: list[Any] = [None if b is None else np.asarray(calculated(self.math_op, self._number(b), self._number(self.scalar))).item()
                             for b in given]
        if self.whole:
            bounds = [None if b is None else min(max(b, least), most) for b in bounds]
        if None not in bounds:
            bounds.sort()
        return self.kind(column.name, *bounds)

    def _number(self, value: Any) -> Any:
        return np.asarray(value, np.int64 if self.whole else np.float64)

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        held = self.kind(column.name).hold
        scalar = self._number(self.scalar)
        return held(calculated(self.math_op, held(numbers(frame, self.column_name, self.whole)), scalar if self.whole else held(scalar)))


@configuration("org.datavec.api.transform.transform.doubletransform.DoubleMathOpTransform")
class DoubleMathOpTransform(_ScalarMath, DoubleMathOpTransformNames):
    """Calculates with a number."""


@configuration("org.datavec.api.transform.transform.floattransform.FloatMathOpTransform")
class FloatMathOpTransform(_ScalarMath, FloatMathOpTransformNames):
    """Calculates with a number."""

    kind = FloatMetaData


@configuration("org.datavec.api.transform.transform.integer.IntegerMathOpTransform")
class IntegerMathOpTransform(_ScalarMath, IntegerMathOpTransformNames):
    """Calculates with a whole number."""

    whole, kind = True, IntegerMetaData


@configuration("org.datavec.api.transform.transform.longtransform.LongMathOpTransform")
class LongMathOpTransform(_ScalarMath, LongMathOpTransformNames):
    """Calculates with a whole number."""

    whole, kind = True, LongMetaData


@configuration()
class _ColumnsMath(NewColumns):
    """Base of calculations with columns, in a new column.

    Parameters
    ----------
    new_column_name : str
        Its name.
    math_op : MathOp
        Add and Multiply take any number of columns, Subtract, Divide and Modulus two.
    columns : tuple of str
        The columns.
    """

    many = "columns"
    whole: ClassVar[bool] = False
    kind: ClassVar[type[NumberMetaData]] = DoubleMetaData
    new_column_name: str
    math_op: Convertible[MathOp]
    columns: Convertible[tuple[str, ...]]

    def validate(self) -> None:
        most = None if self.math_op in (MathOp.Add, MathOp.Multiply) else 2
        if self.math_op not in _BETWEEN_COLUMNS or not self.columns or (most and len(self.columns) != most):
            raise ConfigurationError(f"{type(self).__name__}: {self.math_op.name} of {len(self.columns)} columns; Add and Multiply take "
                                     "any number, Subtract, Divide and Modulus two")

    def new_columns(self, schema: Schema) -> list[ColumnMetaData]:
        schema.get_index_of_columns(*self.columns)
        return [self.kind(self.new_column_name)]

    def new_values(self, frame: Any, schema: Schema) -> list[Any]:
        held = self.kind(self.new_column_name).hold
        given = [held(numbers(frame, column, self.whole)) for column in self.columns]
        return [functools.reduce(lambda a, b: held(calculated(self.math_op, a, b)), given)]


@configuration("org.datavec.api.transform.transform.doubletransform.DoubleColumnsMathOpTransform")
class DoubleColumnsMathOpTransform(_ColumnsMath, DoubleColumnsMathOpTransformNames):
    """Calculates with columns of numbers."""


@configuration("org.datavec.api.transform.transform.floattransform.FloatColumnsMathOpTransform")
class FloatColumnsMathOpTransform(_ColumnsMath, FloatColumnsMathOpTransformNames):
    """Calculates with columns of numbers."""

    kind = FloatMetaData


@configuration("org.datavec.api.transform.transform.integer.IntegerColumnsMathOpTransform")
class IntegerColumnsMathOpTransform(_ColumnsMath, IntegerColumnsMathOpTransformNames):
    """Calculates with columns of whole numbers."""

    whole, kind = True, IntegerMetaData


@configuration("org.datavec.api.transform.transform.longtransform.LongColumnsMathOpTransform")
class LongColumnsMathOpTransform(_ColumnsMath, LongColumnsMathOpTransformNames):
    """Calculates with columns of whole numbers."""

    whole, kind = True, LongMetaData


@configuration()
class _DoubleTransform(ColumnTransform):
    """Base of functions of numbers."""

    kind: ClassVar[type[NumberMetaData]] = DoubleMetaData

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return self.kind(column.name)

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        with np.errstate(all="ignore"):
            held = self.kind(column.name).hold
            return held(self.function(held(numbers(frame, self.column_name)).astype(np.float64)))

    def function(self, x: Any) -> Any:
        """The new numbers."""
        raise NotImplementedError


@configuration("org.datavec.api.transform.transform.doubletransform.DoubleMathFunctionTransform")
class DoubleMathFunctionTransform(_DoubleTransform, DoubleMathFunctionTransformNames):
    """A function of numbers.

    Parameters
    ----------
    math_function : MathFunction
        The function.
    """

    math_function: Convertible[MathFunction]

    def function(self, x: Any) -> Any:
        return _FUNCTIONS[self.math_function](x)


@configuration("org.datavec.api.transform.transform.floattransform.FloatMathFunctionTransform")
class FloatMathFunctionTransform(DoubleMathFunctionTransform, FloatMathFunctionTransformNames):
    """A function of numbers."""

    kind = FloatMetaData


@configuration("org.datavec.api.transform.transform.doubletransform.MinMaxNormalizer")
class MinMaxNormalizer(_DoubleTransform, MinMaxNormalizerNames):
    """Numbers from ``min`` to ``max`` become such from ``new_min`` to ``new_max``.

    Parameters
    ----------
    min, max : float
        Bounds before.
    new_min, new_max : float, default 0 and 1
        Bounds after.
    """

    min: float
    max: float
    new_min: float = 0.0
    new_max: float = 1.0

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return DoubleMetaData(column.name, self.new_min, self.new_max)

    def function(self, x: Any) -> Any:
        ratio = (self.new_max - self.new_min) / (self.max - self.min) if self.max != self.min else 0.0
        return np.where(np.isnan(x), 0.0, ratio * (x - self.min) + self.new_min)


@configuration("org.datavec.api.transform.transform.doubletransform.StandardizeNormalizer")
class StandardizeNormalizer(_DoubleTransform, StandardizeNormalizerNames):
    """Numbers less their mean, divided by their deviation.

    Parameters
    ----------
    mean, stdev : float
        Mean and standard deviation.
    """

    mean: float
    stdev: float

    def function(self, x: Any) -> Any:
        return (x - self.mean) / self.stdev


@configuration("org.datavec.api.transform.transform.doubletransform.SubtractMeanNormalizer")
class SubtractMeanNormalizer(_DoubleTransform, SubtractMeanNormalizerNames):
    """Numbers less their mean.

    Parameters
    ----------
    mean : float
        The mean.
    """

    mean: float

    def function(self, x: Any) -> Any:
        return x - self.mean


@configuration("org.datavec.api.transform.transform.doubletransform.Log2Normalizer")
class Log2Normalizer(_DoubleTransform, Log2NormalizerNames):
    """``scaling_factor * log2((x - min) / (mean - min) + 1)``; 0 for NaN.

    Parameters
    ----------
    column_mean, column_min : float
        Mean and minimum of the column.
    scaling_factor : float, default 0.5
        The factor.
    """

    column_mean: float
    column_min: float
    scaling_factor: float = 0.5

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return DoubleMetaData(column.name, 0.0)

    def function(self, x: Any) -> Any:
        if self.column_mean == self.column_min:
            return np.zeros_like(x)
        return np.where(np.isnan(x), 0.0, self.scaling_factor * np.log2((x - self.column_min) / (self.column_mean - self.column_min) + 1))
