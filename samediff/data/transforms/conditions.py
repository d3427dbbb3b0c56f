"""Conditions on records, which filters and replacements ask."""
from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...base.java.java_enum import JavaEnum
from ...base.java_names import (
    BooleanColumnConditionNames,
    BooleanConditionNames,
    CategoricalColumnConditionNames,
    DoubleColumnConditionNames,
    FloatColumnConditionNames,
    InfiniteColumnConditionNames,
    IntegerColumnConditionNames,
    InvalidValueColumnConditionNames,
    LongColumnConditionNames,
    NaNColumnConditionNames,
    NullWritableColumnConditionNames,
    RecordConditionNames,
    SequenceLengthConditionNames,
    StringColumnConditionNames,
    StringRegexColumnConditionNames,
    TimeColumnConditionNames,
    TrivialColumnConditionNames,
)
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration, field
from ...errors import ConfigurationError
from ...text.java_regex import java_pattern
from .frames import listed, numbers, records_of, texts
from .schema import Schema

__all__ = [
    "BooleanColumnCondition", "BooleanCondition", "CategoricalColumnCondition", "ConditionOp", "DoubleColumnCondition",
    "FloatColumnCondition", "InfiniteColumnCondition", "IntegerColumnCondition", "InvalidValueColumnCondition", "LongColumnCondition",
    "NaNColumnCondition", "NullWritableColumnCondition", "RecordCondition", "SequenceConditionMode", "SequenceLengthCondition",
    "StringColumnCondition", "StringRegexColumnCondition", "TimeColumnCondition", "TrivialColumnCondition",
]

Flags = NDArray[np.bool_]


class ConditionOp(JavaEnum):
    """Comparisons."""

    LessThan = "LessThan"
    LessOrEqual = "LessOrEqual"
    GreaterThan = "GreaterThan"
    GreaterOrEqual = "GreaterOrEqual"
    Equal = "Equal"
    NotEqual = "NotEqual"
    InSet = "InSet"
    NotInSet = "NotInSet"


class SequenceConditionMode(JavaEnum):
    """The steps of a sequence that have to fulfil a condition of a column."""

    And = "And"
    Or = "Or"
    NoSequenceMode = "NoSequenceMode"


_OF_STEPS: dict[SequenceConditionMode, Callable[[Flags], Any]] = {SequenceConditionMode.And: np.all, SequenceConditionMode.Or: np.any}
_COMPARE: dict[ConditionOp, Callable[[Any, Any], Any]] = {
    ConditionOp.LessThan: operator.lt, ConditionOp.LessOrEqual: operator.le, ConditionOp.GreaterThan: operator.gt,
    ConditionOp.GreaterOrEqual: operator.ge, ConditionOp.Equal: operator.eq, ConditionOp.NotEqual: operator.ne,
}


@configuration()
class RecordCondition(Configuration, RecordConditionNames):
    """Base of conditions. One of your own defines ``condition(self, record)``."""

    def condition(self, record: list[Any]) -> bool:
        """Whether a record fulfils it."""
        raise NotImplementedError(f"{type(self).__name__} must implement condition(self, record)")

    def holds(self, frame: Any, schema: Schema) -> Flags:
        """For each row of a frame whether it fulfils the condition. Shapes: (rows,)."""
        return np.array([bool(self.condition(record)) for record in records_of(frame)], bool)

    def holds_for(self, frame: Any, schema: Schema) -> bool:
        """Whether a sequence fulfils the condition: one of its steps does."""
        return bool(self.holds(frame, schema).any())


@configuration()
class _ColumnCondition(RecordCondition):
    """Base of conditions on one column.

    Parameters
    ----------
    column_name : str
        The column.
    sequence_mode : SequenceConditionMode, default Or
        The steps of a sequence that have to fulfil it: one, all (And), or none is asked (NoSequenceMode: an error). May stand behind the
        column, as in Java. DL4J's files have no place for it; here they keep what is not Or.
    """

    column_name: str
    sequence_mode: Convertible[SequenceConditionMode] = field(default=SequenceConditionMode.Or, kw_only=True)

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if len(args) > 1 and not isinstance(args[1], SequenceConditionMode):
            args = (args[0], SequenceConditionMode.Or, *args[1:])
        return super()._bind(args, kwargs)

    def to_document(self) -> dict[str, Any]:
        made = super().to_document()
        return made if self.sequence_mode is not SequenceConditionMode.Or else {k: v for k, v in made.items() if k != "sequenceMode"}

    def holds_for(self, frame: Any, schema: Schema) -> bool:
        if self.sequence_mode not in _OF_STEPS:
            raise ConfigurationError(f"{self!r} is not asked of sequences; SequenceConditionMode.And or Or says which steps count")
        return bool(_OF_STEPS[self.sequence_mode](self.holds(frame, schema)))

    def holds(self, frame: Any, schema: Schema) -> Flags:
        schema.get_index_of_column(self.column_name)
        return self.of_column(frame, schema)

    def of_column(self, frame: Any, schema: Schema) -> Flags:
        """For each value of the column whether it fulfils the condition. Shapes: (rows,)."""
        raise NotImplementedError

    def texts_of(self, frame: Any, schema: Schema) -> list[str]:
        """The values of the column as texts."""
        return texts(frame, schema.get_meta_data(self.column_name))


class SortedValues(tuple[Any, ...]):
    """The values of a set in their order: files have them in any."""

    __slots__ = ()

    @classmethod
    def of(cls, values: Any) -> Self:
        """The values in their order."""
        return cls(sorted(values))


@configuration()
class _Comparison(_ColumnCondition):
    """Base of comparisons with a value or with the values of a set.

    Parameters
    ----------
    op : ConditionOp
        The comparison.
    value : number or str, optional
        What values are compared with; a set (InSet, NotInSet) may stand here, too.
    set : tuple, optional
        The set.
    """

    op: Convertible[ConditionOp]
    value: Any = field(default=None, kw_only=False, omit_none=True)
    set: Convertible[SortedValues | None] = field(default=None, kw_only=False, omit_none=True)

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        values = super()._bind(args, kwargs)
        if isinstance(values.get("value"), (set, frozenset, list, tuple)):
            values["set"] = values.pop("value")
        return values

    def validate(self) -> None:
        is_set = self.op in (ConditionOp.InSet, ConditionOp.NotInSet)
        if (self.set if is_set else self.value) is None:
            raise ConfigurationError(f"{type(self).__name__}: {self.op.name} needs {'a set of values' if is_set else 'a value'}")

    def _values(self, frame: Any, schema: Schema) -> Any:
        return numbers(frame, self.column_name)

    def of_column(self, frame: Any, schema: Schema) -> Flags:
        values = self._values(frame, schema)
        if self.op in _COMPARE:
            return np.asarray(_COMPARE[self.op](values, self.value), bool)
        return np.isin(values, list(self.set or ())) ^ (self.op is ConditionOp.NotInSet)


@configuration("org.datavec.api.transform.condition.column.DoubleColumnCondition")
class DoubleColumnCondition(_Comparison, DoubleColumnConditionNames):
    """Compares numbers."""


@configuration("org.datavec.api.transform.condition.column.FloatColumnCondition")
class FloatColumnCondition(_Comparison, FloatColumnConditionNames):
    """Compares numbers."""


@configuration("org.datavec.api.transform.condition.column.IntegerColumnCondition")
class IntegerColumnCondition(_Comparison, IntegerColumnConditionNames):
    """Compares whole numbers."""


@configuration("org.datavec.api.transform.condition.column.LongColumnCondition")
class LongColumnCondition(_Comparison, LongColumnConditionNames):
    """Compares whole numbers."""

    def _values(self, frame: Any, schema: Schema) -> Any:
        return numbers(frame, self.column_name, whole=True)


@configuration("org.datavec.api.transform.condition.column.TimeColumnCondition")
class TimeColumnCondition(LongColumnCondition, TimeColumnConditionNames):
    """Compares times: milliseconds since 1970."""


@configuration("org.datavec.api.transform.condition.column.StringColumnCondition")
class StringColumnCondition(_Comparison, StringColumnConditionNames):
    """Compares texts: equal or not, in a set or not."""

    def validate(self) -> None:
        super().validate()
        if self.op not in (ConditionOp.Equal, ConditionOp.NotEqual, ConditionOp.InSet, ConditionOp.NotInSet):
            raise ConfigurationError(f"{type(self).__name__}: texts are not compared by {self.op.name}; one of Equal, NotEqual, InSet, "
                                     "NotInSet")

    def _values(self, frame: Any, schema: Schema) -> Any:
        return np.array(self.texts_of(frame, schema), np.str_)


@configuration("org.datavec.api.transform.condition.column.CategoricalColumnCondition")
class CategoricalColumnCondition(StringColumnCondition, CategoricalColumnConditionNames):
    """Compares categories: equal or not, in a set or not."""


@configuration("org.datavec.api.transform.condition.string.StringRegexColumnCondition")
class StringRegexColumnCondition(_ColumnCondition, StringRegexColumnConditionNames):
    """Texts that match an expression as a whole.

    Parameters
    ----------
    regex : str
        The expression.
    """

    regex: str

    def of_column(self, frame: Any, schema: Schema) -> Flags:
        pattern = java_pattern(self.regex)
        return np.array([pattern.fullmatch(text) is not None for text in self.texts_of(frame, schema)], bool)


@configuration("org.datavec.api.transform.condition.column.InvalidValueColumnCondition")
class InvalidValueColumnCondition(_ColumnCondition, InvalidValueColumnConditionNames):
    """Values that the schema does not allow: no numbers, out of bounds, unknown categories."""

    def of_column(self, frame: Any, schema: Schema) -> Flags:
        valid = schema.get_meta_data(self.column_name).is_valid
        return np.array([not valid(value) for value in listed(frame, self.column_name)], bool)


@configuration("org.datavec.api.transform.condition.column.NaNColumnCondition")
class NaNColumnCondition(_ColumnCondition, NaNColumnConditionNames):
    """Numbers that are NaN."""

    def of_column(self, frame: Any, schema: Schema) -> Flags:
        found: Flags = np.isnan(numbers(frame, self.column_name))
        return found


@configuration("org.datavec.api.transform.condition.column.InfiniteColumnCondition")
class InfiniteColumnCondition(_ColumnCondition, InfiniteColumnConditionNames):
    """Numbers that are infinite."""

    def of_column(self, frame: Any, schema: Schema) -> Flags:
        found: Flags = np.isinf(numbers(frame, self.column_name))
        return found


@configuration("org.datavec.api.transform.condition.column.NullWritableColumnCondition")
class NullWritableColumnCondition(_ColumnCondition, NullWritableColumnConditionNames):
    """Values that are missing. NaN is a number: ``NaNColumnCondition`` asks for it."""

    def of_column(self, frame: Any, schema: Schema) -> Flags:
        return np.array([value is None for value in listed(frame, self.column_name)], bool)


@configuration("org.datavec.api.transform.condition.column.BooleanColumnCondition")
class BooleanColumnCondition(_ColumnCondition, BooleanColumnConditionNames):
    """Truth values that are true."""

    def of_column(self, frame: Any, schema: Schema) -> Flags:
        return np.array([text.lower() == "true" for text in self.texts_of(frame, schema)], bool)


@configuration("org.datavec.api.transform.condition.column.TrivialColumnCondition")
class TrivialColumnCondition(_ColumnCondition, TrivialColumnConditionNames):
    """Every value."""

    def of_column(self, frame: Any, schema: Schema) -> Flags:
        return np.ones(len(frame), bool)


@configuration("org.datavec.api.transform.condition.sequence.SequenceLengthCondition")
class SequenceLengthCondition(RecordCondition, SequenceLengthConditionNames):
    """The number of steps of a sequence.

    Parameters
    ----------
    op : ConditionOp
        The comparison.
    length : int, optional
        What the number is compared with.
    set : tuple of int, optional
        The set, for InSet and NotInSet.
    """

    op: Convertible[ConditionOp]
    length: int | None = field(default=None, kw_only=False, omit_none=True)
    set: Convertible[SortedValues | None] = field(default=None, kw_only=False, omit_none=True)

    def holds_for(self, frame: Any, schema: Schema) -> bool:
        if self.op in _COMPARE:
            return bool(_COMPARE[self.op](len(frame), self.length))
        return (len(frame) in (self.set or ())) ^ (self.op is ConditionOp.NotInSet)

    def holds(self, frame: Any, schema: Schema) -> Flags:
        raise ConfigurationError("SequenceLengthCondition is for sequences; convert_to_sequence makes them")


class _Type(JavaEnum):
    """Ways to join conditions."""

    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    XOR = "XOR"


@configuration("org.datavec.api.transform.condition.BooleanCondition")
class BooleanCondition(RecordCondition, BooleanConditionNames):
    """Several conditions as one: made by ``AND``, ``OR``, ``XOR`` and ``NOT``.

    Parameters
    ----------
    type : str
        ``"AND"``, ``"OR"``, ``"NOT"`` or ``"XOR"``.
    conditions : tuple of RecordCondition
        What is joined.
    """

    Type: ClassVar[type[_Type]] = _Type
    type: Convertible[_Type]
    conditions: Convertible[tuple[RecordCondition, ...]]

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return super()._bind((args[0], args[1:]) if len(args) > 1 and isinstance(args[1], RecordCondition) else args, kwargs)

    def _joined(self, flags: list[Any]) -> Any:
        if self.type is _Type.NOT:
            return np.logical_not(flags[0])
        return {_Type.AND: np.logical_and, _Type.OR: np.logical_or, _Type.XOR: np.logical_xor}[self.type].reduce(flags)

    def holds(self, frame: Any, schema: Schema) -> Flags:
        return np.asarray(self._joined([one.holds(frame, schema) for one in self.conditions]), bool)

    def holds_for(self, frame: Any, schema: Schema) -> bool:
        return bool(self._joined([one.holds_for(frame, schema) for one in self.conditions]))

    @staticmethod
    def AND(*conditions: Any) -> BooleanCondition:
        """All of them."""
        return BooleanCondition("AND", _given(conditions))

    @staticmethod
    def OR(*conditions: Any) -> BooleanCondition:
        """True where at least one of the conditions holds."""
        return BooleanCondition("OR", _given(conditions))

    @staticmethod
    def XOR(first: RecordCondition, second: RecordCondition) -> BooleanCondition:
        """One of the two, not both."""
        return BooleanCondition("XOR", (first, second))

    @staticmethod
    def NOT(condition: RecordCondition) -> BooleanCondition:
        """The opposite."""
        return BooleanCondition("NOT", (condition,))


def _given(conditions: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(conditions[0]) if len(conditions) == 1 and isinstance(conditions[0], (list, tuple)) else conditions
