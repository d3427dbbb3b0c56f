"""Schemas: the columns of records."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Self

from ...base.java.varargs import flat
from ...base.java_names import SchemaBuilderNames, SchemaNames, SequenceSchemaNames
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError, UnknownNameError, did_you_mean
from ..records.writables import DoubleWritable, FloatWritable, IntWritable, LongWritable, Text, WritableValue
from .joda import DateTimeZone
from .meta_data import (
    BooleanMetaData,
    CategoricalMetaData,
    ColumnMetaData,
    ColumnType,
    DoubleMetaData,
    FloatMetaData,
    IntegerMetaData,
    LongMetaData,
    NDArrayMetaData,
    StringMetaData,
    TimeMetaData,
)

__all__ = ["Schema", "SequenceSchema"]


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

    @staticmethod
    def infer(record: Sequence[Any]) -> Schema:
        """The schema of a record of numbers and texts; columns are called ``"0"``, ``"1"`` and so on.

        Raises
        ------
        ConfigurationError
            A value that is neither, such as a truth value.

        Examples
        --------
        >>> [kind.name for kind in Schema.infer([7, 2.5, "a"]).get_column_types()]
        ['Integer', 'Double', 'String']
        """
        columns = []
        for k, value in enumerate(WritableValue.of(v) for v in record):
            if not isinstance(value, tuple(_INFERRED)):
                raise ConfigurationError(f"value {k} of the record is {value!r:.80} of type {type(value).__name__}; a schema is "
                                         "inferred from whole numbers, floating ones and texts: name its column with Schema.Builder()")
            columns.append(_KINDS[_INFERRED[type(value)]](str(k)))
        return Schema(tuple(columns))

    @staticmethod
    def infer_multiple(records: Sequence[Sequence[Any]]) -> Schema:
        """The schema of the first of some records."""
        if not records:
            raise ConfigurationError("a schema is inferred from the first record; there is none")
        return Schema.infer(records[0])

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


_INFERRED: dict[type, str] = {FloatWritable: "float", DoubleWritable: "double", IntWritable: "integer", LongWritable: "long",
                              Text: "string"}


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
