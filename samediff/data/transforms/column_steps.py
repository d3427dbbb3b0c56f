"""Steps that choose, name, order and add columns."""
from __future__ import annotations

from typing import Any

from ...base.java_names import (
    AddConstantColumnTransformNames,
    ConditionalCopyValueTransformNames,
    ConditionalReplaceValueTransformNames,
    ConditionalReplaceValueTransformWithDefaultNames,
    ConvertToDoubleNames,
    ConvertToIntegerNames,
    ConvertToStringNames,
    DuplicateColumnsTransformNames,
    RemoveAllColumnsExceptForTransformNames,
    RemoveColumnsTransformNames,
    RenameColumnsTransformNames,
    ReorderColumnsTransformNames,
    ReplaceEmptyIntegerWithValueTransformNames,
    ReplaceInvalidWithIntegerTransformNames,
)
from ...configuration.declaring import Convertible, configuration, field
from ...errors import ConfigurationError
from ..records.writables import WritableValue, object_array, plain
from .conditions import RecordCondition
from .frames import listed, numbers, texts
from .meta_data import (
    BooleanMetaData,
    ColumnMetaData,
    ColumnType,
    DoubleMetaData,
    FloatMetaData,
    IntegerMetaData,
    LongMetaData,
    StringMetaData,
    TimeMetaData,
)
from .schema import Schema
from .steps import ColumnTransform, NewColumns, Transform

__all__ = [
    "AddConstantColumnTransform", "ConditionalCopyValueTransform", "ConditionalReplaceValueTransform",
    "ConditionalReplaceValueTransformWithDefault", "ConvertToDouble", "ConvertToInteger", "ConvertToString", "DuplicateColumnsTransform",
    "RemoveAllColumnsExceptForTransform", "RemoveColumnsTransform", "RenameColumnsTransform", "ReorderColumnsTransform",
    "ReplaceEmptyIntegerWithValueTransform", "ReplaceInvalidWithIntegerTransform",
]

TYPES: dict[ColumnType, type[ColumnMetaData]] = {
    ColumnType.String: StringMetaData, ColumnType.Integer: IntegerMetaData, ColumnType.Long: LongMetaData,
    ColumnType.Double: DoubleMetaData, ColumnType.Float: FloatMetaData, ColumnType.Boolean: BooleanMetaData, ColumnType.Time: TimeMetaData,
}


@configuration()
class _Selection(Transform):
    """Base of steps that choose and order columns."""

    def names(self, schema: Schema) -> list[str]:
        """The columns that stay, in their new order."""
        raise NotImplementedError

    def transform(self, schema: Schema) -> Schema:
        return schema.new_schema([schema.get_meta_data(name) for name in self.names(schema)])

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        return frame[self.names(schema)]


@configuration("org.datavec.api.transform.transform.column.RemoveColumnsTransform")
class RemoveColumnsTransform(_Selection, RemoveColumnsTransformNames):
    """Leaves columns out.

    Parameters
    ----------
    columns_to_remove : tuple of str
        The columns.
    """

    many = "columns_to_remove"
    columns_to_remove: Convertible[tuple[str, ...]]

    def names(self, schema: Schema) -> list[str]:
        schema.get_index_of_columns(*self.columns_to_remove)
        left = [name for name in schema.get_column_names() if name not in self.columns_to_remove]
        if not left:
            raise ConfigurationError(f"RemoveColumnsTransform leaves no column of {schema.get_column_names()}")
        return left


@configuration("org.datavec.api.transform.transform.column.RemoveAllColumnsExceptForTransform")
class RemoveAllColumnsExceptForTransform(_Selection, RemoveAllColumnsExceptForTransformNames):
    """Leaves all other columns out.

    Parameters
    ----------
    columns_to_keep : tuple of str
        The columns that stay.
    """

    many = "columns_to_keep"
    columns_to_keep: Convertible[tuple[str, ...]]

    def names(self, schema: Schema) -> list[str]:
        schema.get_index_of_columns(*self.columns_to_keep)
        return [name for name in schema.get_column_names() if name in self.columns_to_keep]


@configuration("org.datavec.api.transform.transform.column.ReorderColumnsTransform")
class ReorderColumnsTransform(_Selection, ReorderColumnsTransformNames):
    """Puts columns first, in this order; the others follow.

    Parameters
    ----------
    new_order : tuple of str
        The columns.
    """

    many = "new_order"
    new_order: Convertible[tuple[str, ...]]

    def names(self, schema: Schema) -> list[str]:
        schema.get_index_of_columns(*self.new_order)
        return [*self.new_order, *(name for name in schema.get_column_names() if name not in self.new_order)]


@configuration("org.datavec.api.transform.transform.column.RenameColumnsTransform")
class RenameColumnsTransform(Transform, RenameColumnsTransformNames):
    """Gives columns other names.

    Parameters
    ----------
    old_names, new_names : tuple of str
        The names before and after.
    """

    old_names: Convertible[tuple[str, ...]]
    new_names: Convertible[tuple[str, ...]]

    def validate(self) -> None:
        if len(self.old_names) != len(self.new_names):
            raise ConfigurationError(f"RenameColumnsTransform: {len(self.old_names)} names become {len(self.new_names)}")

    def transform(self, schema: Schema) -> Schema:
        schema.get_index_of_columns(*self.old_names)
        named = dict(zip(self.old_names, self.new_names))
        return schema.new_schema([column.renamed(named.get(column.name, column.name)) for column in schema.columns])

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        return frame.rename(columns=dict(zip(self.old_names, self.new_names)))


@configuration("org.datavec.api.transform.transform.column.DuplicateColumnsTransform")
class DuplicateColumnsTransform(Transform, DuplicateColumnsTransformNames):
    """Repeats columns, each behind itself.

    Parameters
    ----------
    columns_to_duplicate, new_column_names : tuple of str
        The columns, and the names of their copies.
    """

    columns_to_duplicate: Convertible[tuple[str, ...]]
    new_column_names: Convertible[tuple[str, ...]]

    def validate(self) -> None:
        if len(self.columns_to_duplicate) != len(self.new_column_names):
            raise ConfigurationError(f"DuplicateColumnsTransform: {len(self.columns_to_duplicate)} columns, "
                                     f"{len(self.new_column_names)} names")

    def transform(self, schema: Schema) -> Schema:
        schema.get_index_of_columns(*self.columns_to_duplicate)
        copies = dict(zip(self.columns_to_duplicate, self.new_column_names))
        return schema.new_schema([one for column in schema.columns for one in (
            column, *([column.renamed(copies[column.name])] if column.name in copies else []))])

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        made = {new: frame[old] for old, new in zip(self.columns_to_duplicate, self.new_column_names)}
        return frame.assign(**made)[self.transform(schema).get_column_names()]


@configuration("org.datavec.api.transform.transform.column.AddConstantColumnTransform")
class AddConstantColumnTransform(NewColumns, AddConstantColumnTransformNames):
    """Adds a column of one value.

    Parameters
    ----------
    new_column_name : str
        Its name.
    new_column_type : ColumnType
        Its type.
    fixed_value : number or str
        The value.
    """

    new_column_name: str
    new_column_type: Convertible[ColumnType]
    fixed_value: Convertible[WritableValue]

    def new_columns(self, schema: Schema) -> list[ColumnMetaData]:
        if self.new_column_type not in TYPES:
            raise ConfigurationError(f"AddConstantColumnTransform adds no column of type {self.new_column_type.name}")
        return [TYPES[self.new_column_type](self.new_column_name)]

    def new_values(self, frame: Any, schema: Schema) -> list[Any]:
        return [TYPES[self.new_column_type](self.new_column_name).read([plain(self.fixed_value)] * len(frame))]


@configuration("org.datavec.api.transform.transform.condition.ConditionalReplaceValueTransform")
class ConditionalReplaceValueTransform(Transform, ConditionalReplaceValueTransformNames):
    """Another value where a record fulfils a condition.

    Parameters
    ----------
    column_to_replace : str
        The column.
    new_value : number or str
        The value.
    condition : RecordCondition
        What is asked of the record.
    """

    column_to_replace: str
    new_value: Convertible[WritableValue]
    condition: RecordCondition

    def transform(self, schema: Schema) -> Schema:
        schema.get_index_of_column(self.column_to_replace)
        return schema

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        return _chosen(frame, schema, self.column_to_replace, self.condition, [plain(self.new_value)] * len(frame))


@configuration("org.datavec.api.transform.transform.condition.ConditionalReplaceValueTransformWithDefault")
class ConditionalReplaceValueTransformWithDefault(Transform, ConditionalReplaceValueTransformWithDefaultNames):
    """One value where a record fulfils a condition, another one where it does not.

    Parameters
    ----------
    column_to_replace : str
        The column.
    yes_val, no_val : number or str
        The values.
    condition : RecordCondition
        What is asked of the record.
    """

    column_to_replace: str
    yes_val: Convertible[WritableValue]
    no_val: Convertible[WritableValue]
    condition: RecordCondition = field(aliases=("condiiton",))       # so DL4J reads it

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        other = frame.assign(**{self.column_to_replace: object_array([plain(self.no_val)] * len(frame))})
        return _chosen(other, schema, self.column_to_replace, self.condition, [plain(self.yes_val)] * len(frame), frame)


@configuration("org.datavec.api.transform.transform.condition.ConditionalCopyValueTransform")
class ConditionalCopyValueTransform(Transform, ConditionalCopyValueTransformNames):
    """The value of another column where a record fulfils a condition.

    Parameters
    ----------
    column_to_replace, source_column : str
        The column, and the one whose values it takes.
    condition : RecordCondition
        What is asked of the record.
    """

    column_to_replace: str
    source_column: str
    condition: RecordCondition

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        return _chosen(frame, schema, self.column_to_replace, self.condition, listed(frame, self.source_column))


def _chosen(frame: Any, schema: Schema, column: str, condition: RecordCondition, new: list[Any], asked: Any = None) -> Any:
    at = condition.holds(frame if asked is None else asked, schema)
    values = [there if flag else old for flag, there, old in zip(at, new, listed(frame, column))]
    return frame.assign(**{column: schema.get_meta_data(column).read(values)})


@configuration()
class _Conversion(ColumnTransform):
    """Base of steps that change the type of a column."""


@configuration("org.datavec.api.transform.transform.string.ConvertToString")
class ConvertToString(_Conversion, ConvertToStringNames):
    """Values as text."""

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return StringMetaData(column.name)

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        return object_array(texts(frame, column))


@configuration("org.datavec.api.transform.transform.doubletransform.ConvertToDouble")
class ConvertToDouble(_Conversion, ConvertToDoubleNames):
    """Values as numbers."""

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return DoubleMetaData(column.name)

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        return DoubleMetaData(column.name).hold(numbers(frame, self.column_name))


@configuration("org.datavec.api.transform.transform.integer.ConvertToInteger")
class ConvertToInteger(_Conversion, ConvertToIntegerNames):
    """Values as whole numbers: without their fraction."""

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return IntegerMetaData(column.name)

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        return IntegerMetaData(column.name).hold(numbers(frame, self.column_name, whole=True))


@configuration("org.datavec.api.transform.transform.integer.ReplaceEmptyIntegerWithValueTransform")
class ReplaceEmptyIntegerWithValueTransform(ColumnTransform, ReplaceEmptyIntegerWithValueTransformNames):
    """A number where there is none.

    Parameters
    ----------
    value : int
        The number.
    """

    value: int

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        return column.read([self.value if value in ("", None) else value for value in listed(frame, self.column_name)])


@configuration("org.datavec.api.transform.transform.integer.ReplaceInvalidWithIntegerTransform")
class ReplaceInvalidWithIntegerTransform(ColumnTransform, ReplaceInvalidWithIntegerTransformNames):
    """A number where the schema does not allow the value.

    Parameters
    ----------
    value : int
        The number.
    """

    value: int

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        return column.read([value if column.is_valid(value) else self.value for value in listed(frame, self.column_name)])
