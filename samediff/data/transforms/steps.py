"""Bases of the steps of a transform process, and filters."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...base.java.varargs import flat
from ...base.java_names import (
    ColumnTransformNames,
    ConditionFilterNames,
    FilterInvalidValuesNames,
    FilterNames,
    NewColumnsNames,
    StepNames,
    TransformNames,
)
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration, field
from ...errors import ConfigurationError
from .conditions import RecordCondition
from .frames import frame_of, listed, records_of
from .meta_data import ColumnMetaData
from .schema import Schema, SequenceSchema

__all__ = ["ConditionFilter", "Filter", "FilterInvalidValues", "Transform"]


@configuration()
class Step(Configuration, StepNames):
    """Base of all steps: a frame becomes another one, or a list of frames (sequences) another list."""

    action: ClassVar[str] = "transform"         # the key of DL4J's JSON
    many: ClassVar[str | None] = None           # the field that takes all further positional arguments
    for_sequences: ClassVar[bool] = False

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if cls.many is not None:
            first = list(cls._fields).index(cls.many)
            args = (*args[:first], *([tuple(flat(args[first:]))] if len(args) > first else ()))
        return super()._bind(args, kwargs)

    def schema_after(self, schema: Schema) -> Schema:
        """The schema of what the step makes."""
        return schema

    def apply(self, data: Any, schema: Schema) -> Any:
        """What the step makes of a frame, or of the frames of sequences."""
        if isinstance(data, list):
            return [self.on_frame(frame, schema) for frame in data]
        if self.for_sequences:
            raise ConfigurationError(f"{type(self).__name__} is for sequences; convert_to_sequence makes them")
        return self.on_frame(data, schema)

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        """What the step makes of one frame."""
        raise NotImplementedError


@configuration()
class Transform(Step, TransformNames):
    """Base of steps that change records one by one. One of your own defines ``transform(self, schema)``, the schema of what it makes,
    and ``map(self, record)``.
    """

    def transform(self, schema: Schema) -> Schema:
        """The schema of what the step makes."""
        return schema

    def map(self, record: list[Any]) -> list[Any]:
        """What the step makes of one record."""
        raise NotImplementedError(f"{type(self).__name__} must implement map(self, record)")

    def schema_after(self, schema: Schema) -> Schema:
        return self.transform(schema)

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        return frame_of([self.map(record) for record in records_of(frame)], self.schema_after(schema))


@configuration()
class ColumnTransform(Transform, ColumnTransformNames):
    """Base of steps that change the values of one column.

    Parameters
    ----------
    column_name : str
        The column.
    """

    column_name: str

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        """What is known of the new values."""
        return column

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        """The new values."""
        raise NotImplementedError

    def transform(self, schema: Schema) -> Schema:
        at = schema.get_index_of_column(self.column_name)
        return schema.new_schema([*schema.columns[:at], self.column_after(schema.columns[at]), *schema.columns[at + 1:]])

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        return frame.assign(**{self.column_name: self.values(frame, schema.get_meta_data(self.column_name))})


@configuration()
class NewColumns(Transform, NewColumnsNames):
    """Base of steps that put columns in the place of one, or behind all."""

    def place(self, schema: Schema) -> tuple[int, int]:
        """The first column that is replaced, and the first behind it that stays."""
        return len(schema), len(schema)

    def new_columns(self, schema: Schema) -> list[ColumnMetaData]:
        """What is known of the new columns."""
        raise NotImplementedError

    def new_values(self, frame: Any, schema: Schema) -> list[Any]:
        """Their values, in the same order."""
        raise NotImplementedError

    def transform(self, schema: Schema) -> Schema:
        first, last = self.place(schema)
        return schema.new_schema([*schema.columns[:first], *self.new_columns(schema), *schema.columns[last:]])

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        made = dict(zip([column.name for column in self.new_columns(schema)], self.new_values(frame, schema)))
        return frame.assign(**made)[self.transform(schema).get_column_names()]


@configuration()
class Filter(Step, FilterNames):
    """Base of steps that leave records out. One of your own defines ``remove_example(self, record)``."""

    action = "filter"

    def remove_example(self, record: list[Any]) -> bool:
        """Whether the record is left out."""
        raise NotImplementedError(f"{type(self).__name__} must implement remove_example(self, record)")

    def removed_rows(self, frame: Any, schema: Schema) -> Any:
        """For each row whether it is left out. Shapes: (rows,)."""
        return np.array([bool(self.remove_example(record)) for record in records_of(frame)], bool)

    def removes(self, frame: Any, schema: Schema) -> bool:
        """Whether a whole sequence is left out: for one of its steps."""
        return bool(self.removed_rows(frame, schema).any())

    def apply(self, data: Any, schema: Schema) -> Any:
        if isinstance(data, list):
            return [frame for frame in data if not self.removes(frame, schema)]
        return data[~self.removed_rows(data, schema)].reset_index(drop=True)


@configuration("org.datavec.api.transform.filter.ConditionFilter")
class ConditionFilter(Filter, ConditionFilterNames):
    """Leaves out what fulfils a condition.

    Parameters
    ----------
    condition : RecordCondition
        What is asked.
    """

    condition: RecordCondition

    def removed_rows(self, frame: Any, schema: Schema) -> Any:
        return self.condition.holds(frame, schema)

    def removes(self, frame: Any, schema: Schema) -> bool:
        return self.condition.holds_for(frame, schema)


@configuration("org.datavec.api.transform.filter.FilterInvalidValues")
class FilterInvalidValues(Filter, FilterInvalidValuesNames):
    """Leaves out records with values that the schema does not allow.

    Parameters
    ----------
    columns_to_filter_if_invalid : tuple of str
        The columns that are looked at; all without any.
    filter_any_invalid : bool
        Whether all are; it follows from the columns.
    """

    many = "columns_to_filter_if_invalid"
    columns_to_filter_if_invalid: Convertible[tuple[str, ...] | None] = field(default=None, kw_only=False, omit_none=True)
    filter_any_invalid: bool = False

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        values = super()._bind(args, kwargs)
        values.setdefault("filter_any_invalid", not values.get("columns_to_filter_if_invalid"))
        return values

    def removed_rows(self, frame: Any, schema: Schema) -> Any:
        columns = self.columns_to_filter_if_invalid or schema.get_column_names()
        wrong = np.zeros(len(frame), bool)
        for column in columns:
            valid = schema.get_meta_data(column).is_valid
            wrong |= np.array([not valid(value) for value in listed(frame, column)], bool)
        return wrong


def as_sequences(schema: Schema) -> SequenceSchema:
    """The schema of sequences of such records."""
    return SequenceSchema(schema.columns)
