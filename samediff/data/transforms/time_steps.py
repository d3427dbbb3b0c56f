"""Steps on times."""
from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ...base.java.time_unit import TimeUnit
from ...base.java_names import (
    DeriveColumnsFromTimeTransformBuilderNames,
    DeriveColumnsFromTimeTransformNames,
    DerivedColumnNames,
    StringToTimeTransformNames,
    TimeMathOpTransformNames,
)
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration, field
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError, FileFormatError
from ..records.writables import object_array
from .frames import numbers, texts
from .joda import DateTimeFieldType, DateTimeZone, moment_of
from .meta_data import ColumnMetaData, ColumnType, IntegerMetaData, StringMetaData, TimeMetaData, of_kind
from .number_steps import MathOp, calculated
from .schema import Schema
from .steps import ColumnTransform, NewColumns
from .time_format import TimeFormat

__all__ = ["DeriveColumnsFromTimeTransform", "StringToTimeTransform", "TimeMathOpTransform"]

_COMMON = ("yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss'Z'", "yyyy-MM-dd'T'HH:mm:ssZ", "yyyy-MM-dd HH:mm:ss",
           "MM/dd/yyyy HH:mm:ss", "MM/dd/yyyy'T'HH:mm:ssZ", "MM/dd/yyyy'T'HH:mm:ss", "yyyy:MM:dd HH:mm:ss", "yyyyMMdd", "MM/dd/yyyy HH:mm")


@configuration("org.datavec.api.transform.transform.time.StringToTimeTransform")
class StringToTimeTransform(ColumnTransform, StringToTimeTransformNames):
    """Texts of times become times.

    Parameters
    ----------
    time_format : str, optional
        Joda's pattern; several common ones are tried without.
    time_zone : DateTimeZone or str, default UTC
        The zone of texts that name none.
    locale : str, optional
        Without effect: names of months are English.
    min_valid_time, max_valid_time : int, optional
        Bounds.
    """

    time_format: str | None = field(default=None, kw_only=False, omit_none=True)
    time_zone: Convertible[DateTimeZone] = DateTimeZone.UTC
    locale: Any = field(default=None, kw_only=False, omit_none=True)
    min_valid_time: int | None = field(default=None, kw_only=False, omit_none=True)
    max_valid_time: int | None = field(default=None, kw_only=False, omit_none=True)

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return TimeMetaData(column.name, self.time_zone, self.min_valid_time, self.max_valid_time)

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        forms = [TimeFormat(pattern, self.time_zone) for pattern in ((self.time_format,) if self.time_format else _COMMON)]
        found = [self._parsed(text, forms, row) for row, text in enumerate(texts(frame, column))]
        return TimeMetaData(self.column_name).read(found)

    def _parsed(self, text: str, forms: list[TimeFormat], row: int) -> int:
        problems = []
        for form in forms:
            try:
                return form.parse(text if self.time_format else text.split(".")[0])
            except FileFormatError as problem:
                problems.append(problem)
        raise FileFormatError(f"column {self.column_name!r}, row {row}: {problems[0]}")


@configuration("org.datavec.api.transform.transform.time.TimeMathOpTransform")
class TimeMathOpTransform(ColumnTransform, TimeMathOpTransformNames):
    """Times sooner or later.

    Parameters
    ----------
    math_op : MathOp
        Add or Subtract, ScalarMin or ScalarMax.
    time_quantity : int
        How much.
    time_unit : TimeUnit
        Of which unit.
    """

    math_op: Convertible[MathOp]
    time_quantity: int
    time_unit: Convertible[TimeUnit]

    def validate(self) -> None:
        if self.math_op not in (MathOp.Add, MathOp.Subtract, MathOp.ScalarMin, MathOp.ScalarMax):
            raise ConfigurationError(f"TimeMathOpTransform takes Add, Subtract, ScalarMin or ScalarMax; got {self.math_op.name}")
        if self.math_op in (MathOp.ScalarMin, MathOp.ScalarMax) and self.time_unit is not TimeUnit.MILLISECONDS:
            raise ConfigurationError(f"TimeMathOpTransform: {self.math_op.name} compares with a time, in MILLISECONDS since 1970; got "
                                     f"{self.time_unit.name}")

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return of_kind(column, TimeMetaData, self)

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        amount = np.asarray(self.time_unit.to_millis(self.time_quantity), np.int64)
        return TimeMetaData(column.name).hold(calculated(self.math_op, numbers(frame, self.column_name, whole=True), amount))


@configuration(tag="")
class DerivedColumn(Configuration, DerivedColumnNames):
    """A part of a time, or its text.

    Parameters
    ----------
    column_name : str
        The name of the column.
    column_type : ColumnType
        Integer for a part, String for a text.
    format : str, optional
        Joda's pattern of a text.
    date_time_zone : DateTimeZone, optional
        The zone of a text.
    field_type : DateTimeFieldType, optional
        The part.
    """

    column_name: str
    column_type: Convertible[ColumnType]
    format: str | None = field(default=None, kw_only=False, omit_none=True)
    date_time_zone: Convertible[DateTimeZone] | None = field(default=None, kw_only=False, omit_none=True)
    field_type: Convertible[DateTimeFieldType] | None = field(default=None, kw_only=False, omit_none=True)


@configuration("org.datavec.api.transform.transform.time.DeriveColumnsFromTimeTransform")
class DeriveColumnsFromTimeTransform(NewColumns, DeriveColumnsFromTimeTransformNames):
    """Columns for parts of a time: hours, days, texts; made by its builder.

    Parameters
    ----------
    column_name : str
        The column of times.
    insert_after : str
        The column behind which the new ones stand.
    input_time_zone : DateTimeZone, optional
        That of the column's schema counts.
    derived_columns : tuple of DerivedColumn
        The new columns.

    Examples
    --------
    >>> from dl4py.samediff.data import DateTimeFieldType
    >>> step = DeriveColumnsFromTimeTransform.Builder("time").add_integer_derived_column("hour", DateTimeFieldType.hour_of_day()).build()
    >>> step.new_columns(None)
    [IntegerMetaData(name='hour')]
    """

    column_name: str
    insert_after: str
    input_time_zone: Convertible[DateTimeZone] | None = field(default=None, kw_only=False, omit_none=True)
    derived_columns: Convertible[tuple[DerivedColumn, ...]] = ()
    Builder: ClassVar[type[DeriveColumnsFromTimeTransformBuilder]]  # type: ignore[assignment]  # with methods of its own

    def place(self, schema: Schema) -> tuple[int, int]:
        of_kind(schema.get_meta_data(self.column_name), TimeMetaData, self)
        at = schema.get_index_of_column(self.insert_after) + 1
        return at, at

    def new_columns(self, schema: Schema | None) -> list[ColumnMetaData]:
        kinds = {ColumnType.String: StringMetaData, ColumnType.Integer: IntegerMetaData}
        return [kinds[one.column_type](one.column_name) for one in self.derived_columns]

    def new_values(self, frame: Any, schema: Schema) -> list[Any]:
        column = of_kind(schema.get_meta_data(self.column_name), TimeMetaData, self)
        times = numbers(frame, self.column_name, whole=True).tolist()
        return [self._values(one, times, column.time_zone) for one in self.derived_columns]

    @staticmethod
    def _values(one: DerivedColumn, times: list[int], zone: DateTimeZone) -> Any:
        if one.column_type is ColumnType.String:
            form = TimeFormat(one.format or "", one.date_time_zone or zone)
            return object_array(form.text(time) for time in times)
        assert one.field_type is not None
        return IntegerMetaData(one.column_name).read([one.field_type.of_time(moment_of(time, zone.zone)) for time in times])


class DeriveColumnsFromTimeTransformBuilder(MethodBuilder, DeriveColumnsFromTimeTransformBuilderNames):
    """``DeriveColumnsFromTimeTransform.Builder(column)``: the new columns stand behind it, unless `insert_after` says otherwise.

    Parameters
    ----------
    column_name : str
        The column of times.
    """

    def __init__(self, column_name: str) -> None:
        super().__init__()
        self._column, self._after = column_name, column_name
        self._derived: list[DerivedColumn] = []

    def insert_after(self, column_name: str) -> Self:
        """Put the new columns behind that one."""
        self._after = column_name
        return self

    def add_integer_derived_column(self, column_name: str, field_type: Any) -> Self:
        """Add a part of the time."""
        self._derived.append(DerivedColumn(column_name, ColumnType.Integer, field_type=field_type))
        return self

    def add_string_derived_column(self, column_name: str, format: str, time_zone: Any = DateTimeZone.UTC) -> Self:
        """Add a text of the time."""
        self._derived.append(DerivedColumn(column_name, ColumnType.String, format, time_zone))
        return self

    def build(self) -> DeriveColumnsFromTimeTransform:
        """Return the step."""
        return DeriveColumnsFromTimeTransform(self._column, self._after, derived_columns=tuple(self._derived))


DeriveColumnsFromTimeTransform.Builder = DeriveColumnsFromTimeTransformBuilder
