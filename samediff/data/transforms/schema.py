"""Schemas: names, types and bounds of the columns of records."""
from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...base.java.java_enum import JavaEnum
from ...base.java.varargs import flat
from ...base.java_names import (
    BooleanMetaDataNames,
    CategoricalMetaDataNames,
    ColumnMetaDataNames,
    DoubleMetaDataNames,
    FloatMetaDataNames,
    IntegerMetaDataNames,
    LongMetaDataNames,
    NDArrayMetaDataNames,
    SchemaBuilderNames,
    SchemaNames,
    SequenceSchemaNames,
    StringMetaDataNames,
    TimeMetaDataNames,
)
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration, field
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError, UnknownNameError, did_you_mean
from ..records.writables import object_array
from .joda import DateTimeZone

__all__ = [
    "BooleanMetaData", "CategoricalMetaData", "ColumnMetaData", "ColumnType", "DoubleMetaData", "FloatMetaData", "IntegerMetaData",
    "LongMetaData", "NDArrayMetaData", "Schema", "SequenceSchema", "StringMetaData", "TimeMetaData",
]

_INT = 1 << 31


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
        text = str(value)
        return (self.min_length is None or len(text) >= self.min_length) and (self.max_length is None or len(text) <= self.max_length) and (
            self.regex is None or re.fullmatch(self.regex, text) is not None)

    def read(self, values: Sequence[Any]) -> NDArray[Any]:
        return object_array(value if value is None else str(value) for value in values)


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
        return str(value) in self.state_names

    def read(self, values: Sequence[Any]) -> NDArray[Any]:
        return object_array(value if value is None else str(value) for value in values)


@configuration()
class _NumberMetaData(ColumnMetaData):
    """Base of columns of numbers."""

    whole: ClassVar[bool] = False

    def _bounds(self) -> tuple[Any, Any]:
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
        low, high = self._bounds()
        return (low is None or number >= low) and (high is None or number <= high)

    def read(self, values: Sequence[Any]) -> NDArray[Any]:
        try:
            return np.array([self._number(value) for value in values], np.int64 if self.whole else np.float64)
        except (TypeError, ValueError, OverflowError):
            return object_array(values)


@configuration()
class _WholeMetaData(_NumberMetaData):
    """Base of columns of whole numbers.

    Parameters
    ----------
    min_allowed_value, max_allowed_value : int, optional
        Bounds.
    """

    whole = True
    bits: ClassVar[int] = 63
    min_allowed_value: int | None = field(default=None, kw_only=False, omit_none=True)
    max_allowed_value: int | None = field(default=None, kw_only=False, omit_none=True)

    def _bounds(self) -> tuple[Any, Any]:
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
class _FloatingMetaData(_NumberMetaData):
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

    def _bounds(self) -> tuple[Any, Any]:
        return self.min_allowed_value, self.max_allowed_value


@configuration("org.datavec.api.transform.metadata.DoubleMetaData")
class DoubleMetaData(_FloatingMetaData, DoubleMetaDataNames):
    """Numbers of 64 bits."""

    column_type = ColumnType.Double


@configuration("org.datavec.api.transform.metadata.FloatMetaData")
class FloatMetaData(_FloatingMetaData, FloatMetaDataNames):
    """Numbers of 32 bits."""

    column_type = ColumnType.Float


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
class TimeMetaData(_NumberMetaData, TimeMetaDataNames):
    """Times: milliseconds since 1970.

    Parameters
    ----------
    time_zone : DateTimeZone or str, default UTC
        The zone for hours and days of these times.
    min_valid_time, max_valid_time : int, optional
        Bounds.
    """

    column_type, whole = ColumnType.Time, True
    time_zone: Convertible[DateTimeZone] = DateTimeZone.UTC
    min_valid_time: int | None = field(default=None, kw_only=False, omit_none=True)
    max_valid_time: int | None = field(default=None, kw_only=False, omit_none=True)

    def _bounds(self) -> tuple[Any, Any]:
        return self.min_valid_time, self.max_valid_time


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


@configuration("org.datavec.api.transform.schema.Schema")
class Schema(Configuration, SchemaNames):
    """The columns of records.

    Parameters
    ----------
    columns : tuple of ColumnMetaData
        What is known of each.

    Notes
    -----
    Source: DataVec's ``Schema``.

    Examples
    --------
    >>> schema = Schema.Builder().addColumnString("name").addColumnsDouble("x_%d", 0, 1).addColumnCategorical("kind", "a", "b").build()
    >>> schema.get_column_names(), schema.get_type("kind")
    (['name', 'x_0', 'x_1', 'kind'], <ColumnType.Categorical: 'Categorical'>)
    """

    columns: Convertible[tuple[ColumnMetaData, ...]]
    Builder: ClassVar[type[SchemaBuilder]]  # type: ignore[assignment]  # with methods of its own

    def validate(self) -> None:
        names = self.get_column_names()
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ConfigurationError(f"a schema has one column of a name; {twice[0]!r} stands there {names.count(twice[0])} times")

    def num_columns(self) -> int:
        """How many columns there are."""
        return len(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def get_column_names(self) -> list[str]:
        """The names in their order."""
        return [column.name for column in self.columns]

    def get_column_types(self) -> list[ColumnType]:
        """The types in their order."""
        return [column.column_type for column in self.columns]

    def get_column_meta_data(self) -> list[ColumnMetaData]:
        """What is known of each."""
        return list(self.columns)

    def has_column(self, name: str) -> bool:
        """Whether there is a column of that name."""
        return name in self.get_column_names()

    def get_index_of_column(self, name: str) -> int:
        """The place of a column, from 0.

        Raises
        ------
        UnknownNameError
            There is none of that name.
        """
        names = self.get_column_names()
        if name not in names:
            raise UnknownNameError(f"no column {name!r}{did_you_mean(str(name), names)}; columns: {', '.join(names)}")
        return names.index(name)

    def get_index_of_columns(self, *names: str) -> list[int]:
        """The places of several columns."""
        return [self.get_index_of_column(name) for name in flat(names)]

    def get_name(self, column: int) -> str:
        """The name of the column at that place."""
        return self.columns[column].name

    def get_type(self, column: int | str) -> ColumnType:
        """The type of a column."""
        return self.get_meta_data(column).column_type

    def get_meta_data(self, column: int | str) -> ColumnMetaData:
        """What is known of a column."""
        return self.columns[column if isinstance(column, int) else self.get_index_of_column(column)]

    def same_types(self, other: Schema) -> bool:
        """Whether another schema has the same types in the same order."""
        return self.get_column_types() == other.get_column_types()

    def differences(self, other: Schema) -> list[ColumnMetaData]:
        """The columns of another schema that this one has not."""
        return [column for column in other.columns if column not in self.columns]

    def new_schema(self, columns: Iterable[ColumnMetaData]) -> Self:
        """A schema of the same kind with other columns."""
        return type(self)(tuple(columns))

    def __str__(self) -> str:
        width = max(map(len, self.get_column_names()), default=0) + 8
        lines = ["Schema():", f"{'idx':6}{'name':{width}}{'type':15}meta data"]
        for k, column in enumerate(self.columns):
            quoted = f'"{column.name}"'
            lines.append(f"{k:<6}{quoted:{width}}{column.column_type.name:15}{column}")
        return "\n".join(lines) + "\n"


@configuration("org.datavec.api.transform.schema.SequenceSchema")
class SequenceSchema(Schema, SequenceSchemaNames):
    """The columns of sequences of records."""


_KINDS: dict[str, Callable[..., ColumnMetaData]] = {
    "float": FloatMetaData, "double": DoubleMetaData, "integer": IntegerMetaData, "long": LongMetaData, "string": StringMetaData,
    "boolean": BooleanMetaData,
}


def _adding(kind: str) -> tuple[Callable[..., SchemaBuilder], Callable[..., SchemaBuilder]]:
    """Methods that add one column of a kind, and several."""
    def one(self: SchemaBuilder, name: str, *bounds: Any) -> SchemaBuilder:
        return self.add_column(_KINDS[kind](name, *bounds))

    def several(self: SchemaBuilder, *names: Any) -> SchemaBuilder:
        if len(names) > 2 and all(isinstance(number, int) for number in names[1:3]):
            pattern, first, last, *bounds = names
            for k in range(first, last + 1):
                one(self, pattern % k, *bounds)
            return self
        for name in flat(names):
            one(self, name)
        return self
    for name, method in ((f"add_column_{kind}", one), (f"add_columns_{kind}", several)):
        method.__name__, method.__doc__ = name, f"Add columns: :class:`{_KINDS[kind].__name__}`."
    return one, several


class SchemaBuilder(MethodBuilder, SchemaBuilderNames):
    """``Schema.Builder()``: ``add_column_KIND(name, ...)``, ``add_columns_KIND(*names)``, ``add_columns_KIND("x_%d", first, last, ...)``.

    Kinds: string, integer, long, double, float, boolean; further `add_column_categorical`, `add_column_time`, `add_column_nd_array`.
    """

    made: ClassVar[type[Schema]] = Schema

    def __init__(self) -> None:
        super().__init__()
        self._columns: list[ColumnMetaData] = []

    def add_column(self, column: ColumnMetaData) -> Self:
        """Add a column."""
        self._columns.append(column)
        return self

    add_column_string, add_columns_string = _adding("string")
    add_column_integer, add_columns_integer = _adding("integer")
    add_column_long, add_columns_long = _adding("long")
    add_column_double, add_columns_double = _adding("double")
    add_column_float, add_columns_float = _adding("float")
    add_column_boolean, add_columns_boolean = _adding("boolean")

    def add_column_categorical(self, name: str, *state_names: Any) -> Self:
        """Add a column of names."""
        return self.add_column(CategoricalMetaData(name, tuple(str(state) for state in flat(state_names))))

    def add_column_time(self, name: str, time_zone: Any = DateTimeZone.UTC, min_valid_value: int | None = None,
                        max_valid_value: int | None = None) -> Self:
        """Add a column of times."""
        return self.add_column(TimeMetaData(name, time_zone, min_valid_value, max_valid_value))

    def add_column_nd_array(self, name: str, shape: Sequence[int]) -> Self:
        """Add a column of arrays."""
        return self.add_column(NDArrayMetaData(name, tuple(shape)))

    def build(self) -> Schema:
        """Return the schema."""
        return self.made(tuple(self._columns))


class SequenceSchemaBuilder(SchemaBuilder):
    """``SequenceSchema.Builder()``: as that of schemas."""

    made = SequenceSchema


Schema.Builder, SequenceSchema.Builder = SchemaBuilder, SequenceSchemaBuilder
