"""Columns of records: their names, types and bounds."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...base.java.java_enum import JavaEnum
from ...base.java_names import (
    BooleanMetaDataNames,
    CategoricalMetaDataNames,
    ColumnMetaDataNames,
    DoubleMetaDataNames,
    FloatMetaDataNames,
    IntegerMetaDataNames,
    LongMetaDataNames,
    NDArrayMetaDataNames,
    StringMetaDataNames,
    TimeMetaDataNames,
)
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration, field
from ...errors import ConfigurationError, FileFormatError
from ...text.java_regex import java_pattern
from ..records.writables import object_array, text_of
from .joda import DateTimeZone

__all__ = [
    "BooleanMetaData", "CategoricalMetaData", "ColumnMetaData", "ColumnType", "DoubleMetaData", "FloatMetaData", "IntegerMetaData",
    "LongMetaData", "NDArrayMetaData", "StringMetaData", "TimeMetaData",
]


Kind = TypeVar("Kind", bound="ColumnMetaData")


class ColumnType(JavaEnum):
    """Types of columns."""

    String = "String"
    Integer = "Integer"
    Long = "Long"
    Double = "Double"
    Float = "Float"
    Categorical = "Categorical"
    Time = "Time"
    Bytes = "Bytes"
    Boolean = "Boolean"
    NDArray = "NDArray"


@configuration()
class ColumnMetaData(Configuration, ColumnMetaDataNames):
    """Base of what is known of a column.

    Parameters
    ----------
    name : str
        Its name.
    """

    column_type: ClassVar[ColumnType]
    name: str

    def get_column_type(self) -> ColumnType:
        """The type of the column."""
        return self.column_type

    def is_valid(self, value: Any) -> bool:
        """Whether the column may hold that value."""
        return True

    def read(self, values: Sequence[Any]) -> NDArray[Any]:
        """The values as the column's frames have them: what cannot be converted stays as it is, for filters."""
        return object_array(values)

    def text(self, value: Any) -> str:
        """The text of a value."""
        return text_of(value)

    def renamed(self, name: str) -> Self:
        """The same with another name."""
        return self.replace(name=name)

    def unbounded(self, name: str) -> ColumnMetaData:
        """The same type with another name, and without bounds."""
        return type(self)(name)


@configuration("org.datavec.api.transform.metadata.StringMetaData")
class StringMetaData(ColumnMetaData, StringMetaDataNames):
    """Text.

    Parameters
    ----------
    regex : str, optional
        What every text matches as a whole.
    min_length, max_length : int, optional
        Bounds of its length.
    """

    column_type = ColumnType.String
    regex: str | None = field(default=None, kw_only=False, omit_none=True)
    min_length: int | None = field(default=None, kw_only=False, omit_none=True)
    max_length: int | None = field(default=None, kw_only=False, omit_none=True)

    def is_valid(self, value: Any) -> bool:
        text = text_of(value)
        return (self.min_length is None or len(text) >= self.min_length) and (self.max_length is None or len(text) <= self.max_length) and (
            self.regex is None or java_pattern(self.regex).fullmatch(text) is not None)

    def read(self, values: Sequence[Any]) -> NDArray[Any]:
        return object_array(value if value is None else text_of(value) for value in values)


@configuration("org.datavec.api.transform.metadata.CategoricalMetaData")
class CategoricalMetaData(ColumnMetaData, CategoricalMetaDataNames):
    """One of several names.

    Parameters
    ----------
    state_names : tuple of str
        The names.
    """

    column_type = ColumnType.Categorical
    state_names: Convertible[tuple[str, ...]]

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if len(args) > 1 and isinstance(args[1], str):
            args = (args[0], args[1:])
        return super()._bind(args, kwargs)

    def is_valid(self, value: Any) -> bool:
        return text_of(value) in self.state_names

    def read(self, values: Sequence[Any]) -> NDArray[Any]:
        return object_array(value if value is None else text_of(value) for value in values)


@configuration()
class NumberMetaData(ColumnMetaData):
    """Base of columns of numbers."""

    whole: ClassVar[bool] = False
    held_as: ClassVar[type[np.generic]] = np.float64
    bits: ClassVar[int] = 63        # of whole numbers, without the sign

    def bounds(self) -> tuple[Any, Any]:
        """The least and the greatest value, None without."""
        return None, None

    def _number(self, value: Any) -> Any:
        if isinstance(value, str):
            return int(value) if self.whole else float(value)
        if self.whole and isinstance(value, float) and not value.is_integer():
            raise ValueError
        return int(value) if self.whole else float(value)

    def is_valid(self, value: Any) -> bool:
        try:
            number = self._number(value)
        except (TypeError, ValueError, OverflowError):
            return False
        low, high = self.bounds()
        return (low is None or number >= low) and (high is None or number <= high)

    def read(self, values: Sequence[Any]) -> NDArray[Any]:
        try:
            return self.hold(np.array([self._number(value) for value in values], np.int64 if self.whole else np.float64))
        except (TypeError, ValueError, OverflowError):
            return object_array(values)

    def hold(self, values: Any) -> NDArray[Any]:
        """Numbers as the column has them.

        Raises
        ------
        FileFormatError
            One that is too large for a column of whole numbers, naming row and column.
        """
        if self.whole:
            wrong = np.flatnonzero((values < -1 << self.bits) | (values > (1 << self.bits) - 1))
            if wrong.size:
                raise FileFormatError(f"column {self.name!r}, row {wrong[0]}: {values[wrong[0]]} does not fit into a column of type "
                                      f"{self.column_type.name}")
        with np.errstate(over="ignore"):
            return np.asarray(values, self.held_as)


@configuration()
class _WholeMetaData(NumberMetaData):
    """Base of columns of whole numbers.

    Parameters
    ----------
    min_allowed_value, max_allowed_value : int, optional
        Bounds.
    """

    whole, held_as = True, np.int64
    min_allowed_value: int | None = field(default=None, kw_only=False, omit_none=True)
    max_allowed_value: int | None = field(default=None, kw_only=False, omit_none=True)

    def bounds(self) -> tuple[Any, Any]:
        limit = 1 << self.bits
        return (-limit if self.min_allowed_value is None else self.min_allowed_value,
                limit - 1 if self.max_allowed_value is None else self.max_allowed_value)


@configuration("org.datavec.api.transform.metadata.IntegerMetaData")
class IntegerMetaData(_WholeMetaData, IntegerMetaDataNames):
    """Whole numbers of 32 bits."""

    column_type, bits = ColumnType.Integer, 31


@configuration("org.datavec.api.transform.metadata.LongMetaData")
class LongMetaData(_WholeMetaData, LongMetaDataNames):
    """Whole numbers of 64 bits."""

    column_type = ColumnType.Long


@configuration()
class _FloatingMetaData(NumberMetaData):
    """Base of columns of numbers with fractions.

    Parameters
    ----------
    min_allowed_value, max_allowed_value : float, optional
        Bounds.
    allow_nan, allow_infinite : bool, default False
        Whether NaN and infinities count as values.
    """

    min_allowed_value: float | None = field(default=None, kw_only=False, omit_none=True)
    max_allowed_value: float | None = field(default=None, kw_only=False, omit_none=True)
    allow_nan: bool = field(default=False, kw_only=False, json="allowNaN")
    allow_infinite: bool = False

    def is_valid(self, value: Any) -> bool:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            return False
        if not math.isfinite(number):
            return self.allow_nan if math.isnan(number) else self.allow_infinite
        return super().is_valid(number)

    def bounds(self) -> tuple[Any, Any]:
        return self.min_allowed_value, self.max_allowed_value


@configuration("org.datavec.api.transform.metadata.DoubleMetaData")
class DoubleMetaData(_FloatingMetaData, DoubleMetaDataNames):
    """Numbers of 64 bits."""

    column_type = ColumnType.Double


@configuration("org.datavec.api.transform.metadata.FloatMetaData")
class FloatMetaData(_FloatingMetaData, FloatMetaDataNames):
    """Numbers of 32 bits."""

    column_type, held_as = ColumnType.Float, np.float32

    def text(self, value: Any) -> str:
        return text_of(np.float32(value) if isinstance(value, float) else value)


@configuration("org.datavec.api.transform.metadata.BooleanMetaData")
class BooleanMetaData(ColumnMetaData, BooleanMetaDataNames):
    """Truth values."""

    column_type = ColumnType.Boolean

    def is_valid(self, value: Any) -> bool:
        return isinstance(value, (bool, np.bool_)) or str(value).lower() in ("true", "false")

    def read(self, values: Sequence[Any]) -> NDArray[Any]:
        if all(self.is_valid(value) for value in values):
            return np.array([str(value).lower() == "true" for value in values], bool)
        return object_array(values)


@configuration("org.datavec.api.transform.metadata.TimeMetaData")
class TimeMetaData(NumberMetaData, TimeMetaDataNames):
    """Times: milliseconds since 1970.

    Parameters
    ----------
    time_zone : DateTimeZone or str, default UTC
        The zone for hours and days of these times.
    min_valid_time, max_valid_time : int, optional
        Bounds.
    """

    column_type, whole, held_as = ColumnType.Time, True, np.int64
    time_zone: Convertible[DateTimeZone] = DateTimeZone.UTC
    min_valid_time: int | None = field(default=None, kw_only=False, omit_none=True)
    max_valid_time: int | None = field(default=None, kw_only=False, omit_none=True)

    def bounds(self) -> tuple[Any, Any]:
        return self.min_valid_time, self.max_valid_time


_MADE_BY = {"Categorical": "string_to_categorical and integer_to_categorical make it one", "Integer": "convert_to_integer makes it one",
            "Double": "convert_to_double makes it one", "Time": "string_to_time_transform makes it one"}


def of_kind(column: ColumnMetaData, kind: type[Kind], step: object) -> Kind:
    """A column that a step takes.

    Raises
    ------
    ConfigurationError
        It is of another kind; the message says what makes it one.
    """
    if not isinstance(column, kind):
        wanted = kind.column_type.name
        raise ConfigurationError(f"{type(step).__name__}: column {column.name!r} is of type {column.column_type.name}, not {wanted}"
                                 f"{'; ' * (wanted in _MADE_BY)}{_MADE_BY.get(wanted, '')}")
    return column


@configuration("org.datavec.api.transform.metadata.NDArrayMetaData")
class NDArrayMetaData(ColumnMetaData, NDArrayMetaDataNames):
    """Arrays.

    Parameters
    ----------
    shape : tuple of int
        Their shape; -1 for any length.
    """

    column_type = ColumnType.NDArray
    shape: Convertible[tuple[int, ...]]

    def is_valid(self, value: Any) -> bool:
        found = np.shape(value)
        return len(found) == len(self.shape) and all(want in (-1, have) for want, have in zip(self.shape, found))
