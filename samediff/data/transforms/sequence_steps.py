"""Steps that make sequences of records, cut them, and shift and sum their values."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...base.java.java_enum import JavaEnum
from ...base.java.time_unit import TimeUnit
from ...base.java_names import (
    CalculateSortedRankNames,
    ConvertFromSequenceNames,
    ConvertToSequenceNames,
    NumericalColumnComparatorNames,
    ReduceSequenceTransformNames,
    SequenceComparatorNames,
    SequenceDifferenceTransformNames,
    SequenceMovingWindowReduceTransformNames,
    SequenceOffsetTransformNames,
    SequenceSplitNames,
    SequenceSplitTimeSeparationNames,
    SequenceTrimToLengthTransformNames,
    SequenceTrimTransformNames,
    SplitMaxLengthSequenceNames,
    StringComparatorNames,
)
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration, field
from ...errors import ConfigurationError
from ..records.writables import WritableValue, plain
from .frames import frame_of, listed, numbers, pandas, records_of, texts
from .meta_data import ColumnMetaData, DoubleMetaData, IntegerMetaData, LongMetaData, NumberMetaData, StringMetaData, TimeMetaData
from .number_steps import MathOp, calculated
from .reducer import ReduceOp, Reducer, column_reduced, reduced
from .schema import Schema, SequenceSchema
from .steps import NewColumns, Step, Transform, as_sequences

__all__ = [
    "CalculateSortedRank", "ConvertFromSequence", "ConvertToSequence", "NumericalColumnComparator", "ReduceSequenceTransform",
    "SequenceComparator", "SequenceDifferenceTransform", "SequenceMovingWindowReduceTransform", "SequenceOffsetTransform", "SequenceSplit",
    "SequenceSplitTimeSeparation", "SequenceTrimToLengthTransform", "SequenceTrimTransform", "SplitMaxLengthSequence", "StringComparator",
]


@configuration()
class SequenceComparator(Configuration, SequenceComparatorNames):
    """Base of orders of the steps of a sequence."""

    def ordered(self, frame: Any) -> Any:
        """The rows in their order."""
        raise NotImplementedError


@configuration("org.datavec.api.transform.sequence.comparator.NumericalColumnComparator")
class NumericalColumnComparator(SequenceComparator, NumericalColumnComparatorNames):
    """By the numbers or times of a column.

    Parameters
    ----------
    column_name : str
        The column.
    ascending : bool, default True
        From the least to the greatest.
    """

    column_name: str
    ascending: bool = True

    def ordered(self, frame: Any) -> Any:
        keys = numbers(frame, self.column_name)
        return frame.iloc[(keys if self.ascending else -keys).argsort(kind="stable")]


@configuration("org.datavec.api.transform.sequence.comparator.StringComparator")
class StringComparator(SequenceComparator, StringComparatorNames):
    """By the texts of a column.

    Parameters
    ----------
    column_name : str
        The column.
    """

    column_name: str

    def ordered(self, frame: Any) -> Any:
        keys = texts(frame, StringMetaData(self.column_name))
        return frame.iloc[sorted(range(len(keys)), key=keys.__getitem__)]


@configuration(tag="")
class ConvertToSequence(Step, ConvertToSequenceNames):
    """Records of one key are a sequence.

    Parameters
    ----------
    single_step_sequences_mode : bool, default False
        Every record is a sequence of one step.
    key_columns : tuple of str, optional
        The key.
    comparator : SequenceComparator, optional
        The order of the steps; that of the records without.
    """

    action = "convertToSequence"
    single_step_sequences_mode: bool = False
    key_columns: Convertible[tuple[str, ...] | None] = None
    comparator: SequenceComparator | None = None

    def schema_after(self, schema: Schema) -> Schema:
        if isinstance(schema, SequenceSchema):
            raise ConfigurationError("convert_to_sequence: the records are sequences already")
        schema.get_index_of_columns(*(self.key_columns or ()))
        return as_sequences(schema)

    def apply(self, data: Any, schema: Schema) -> Any:
        if self.single_step_sequences_mode:
            return [data.iloc[[k]].reset_index(drop=True) for k in range(len(data))]
        groups = [group for _, group in data.groupby(list(self.key_columns or ()), sort=False)] if len(data) else []
        return [(group if self.comparator is None else self.comparator.ordered(group)).reset_index(drop=True) for group in groups]


@configuration(tag="")
class ConvertFromSequence(Step, ConvertFromSequenceNames):
    """The steps of all sequences are records."""

    action = "convertFromSequence"

    def schema_after(self, schema: Schema) -> Schema:
        if not isinstance(schema, SequenceSchema):
            raise ConfigurationError("convert_from_sequence: the records are no sequences")
        return Schema(schema.columns)

    def apply(self, data: Any, schema: Schema) -> Any:
        return pandas().concat(data, ignore_index=True) if data else frame_of([], schema)


@configuration()
class SequenceSplit(Step, SequenceSplitNames):
    """Base of steps that cut sequences in pieces."""

    action = "sequenceSplit"

    def pieces(self, frame: Any) -> list[Any]:
        """The pieces of one."""
        raise NotImplementedError

    def apply(self, data: Any, schema: Schema) -> Any:
        if not isinstance(data, list):
            raise ConfigurationError(f"{type(self).__name__} is for sequences; convert_to_sequence makes them")
        return [piece.reset_index(drop=True) for frame in data for piece in self.pieces(frame)]


@configuration("org.datavec.api.transform.sequence.split.SequenceSplitTimeSeparation")
class SequenceSplitTimeSeparation(SequenceSplit, SequenceSplitTimeSeparationNames):
    """A new piece where more time goes by between two steps.

    Parameters
    ----------
    time_column : str
        The column of times.
    time_quantity : int
        How much time.
    time_unit : TimeUnit
        Of which unit.
    """

    time_column: str
    time_quantity: int
    time_unit: Convertible[TimeUnit]

    def pieces(self, frame: Any) -> list[Any]:
        times = numbers(frame, self.time_column, whole=True)
        cuts = [k for k in range(1, len(times)) if times[k] - times[k - 1] > self.time_unit.to_millis(self.time_quantity)]
        return [frame.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(frame)])]


@configuration("org.datavec.api.transform.sequence.split.SplitMaxLengthSequence")
class SplitMaxLengthSequence(SequenceSplit, SplitMaxLengthSequenceNames):
    """Pieces of at most so many steps.

    Parameters
    ----------
    max_sequence_length : int
        The most.
    equal_splits : bool
        Pieces of equal length; the last one shorter than the others otherwise.
    """

    max_sequence_length: int
    equal_splits: bool = False

    def pieces(self, frame: Any) -> list[Any]:
        n, most = len(frame), self.max_sequence_length
        size = -(-n // -(-n // most)) if self.equal_splits and n > most else most
        return [frame.iloc[k:k + size] for k in range(0, n, size)]


@configuration("org.datavec.api.transform.sequence.trim.SequenceTrimTransform")
class SequenceTrimTransform(Transform, SequenceTrimTransformNames):
    """Sequences without some steps at one end.

    Parameters
    ----------
    num_steps_to_trim : int
        How many.
    trim_from_start : bool
        At the start; at the end otherwise.
    """

    for_sequences = True
    num_steps_to_trim: int
    trim_from_start: bool

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        left = max(len(frame) - self.num_steps_to_trim, 0)
        return (frame.iloc[len(frame) - left:] if self.trim_from_start else frame.iloc[:left]).reset_index(drop=True)


class TrimMode(JavaEnum):
    """Sequences that are too long are cut; those that are too short are filled up, or stay."""

    TRIM = "TRIM"
    TRIM_OR_PAD = "TRIM_OR_PAD"


@configuration("org.datavec.api.transform.sequence.trim.SequenceTrimToLengthTransform")
class SequenceTrimToLengthTransform(Transform, SequenceTrimToLengthTransformNames):
    """Sequences of at most, or just, so many steps.

    Parameters
    ----------
    max_length : int
        How many.
    mode : str
        "TRIM" or "TRIM_OR_PAD".
    pad : tuple, optional
        The values of steps that fill up.
    """

    for_sequences = True
    Mode: ClassVar[type[TrimMode]] = TrimMode
    max_length: int
    mode: Convertible[TrimMode] = TrimMode.TRIM
    pad: Convertible[tuple[Convertible[WritableValue], ...] | None] = field(default=None, kw_only=False, omit_none=True)

    def validate(self) -> None:
        if self.mode is TrimMode.TRIM_OR_PAD and self.pad is None:
            raise ConfigurationError("SequenceTrimToLengthTransform: TRIM_OR_PAD needs the values of a step, pad")

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        short = self.max_length - len(frame)
        if self.mode is TrimMode.TRIM or short <= 0:
            return frame.iloc[:self.max_length]
        return frame_of([*records_of(frame), *[[plain(v) for v in self.pad or ()]] * short], schema)


class OffsetOperationType(JavaEnum):
    """Shifted values stand in place of the others, or in a new column."""

    InPlace = "InPlace"
    NewColumn = "NewColumn"


class OffsetEdgeHandling(JavaEnum):
    """Steps without a shifted value are left out, or take a given one."""

    TrimSequence = "TrimSequence"
    SpecifiedValue = "SpecifiedValue"


@configuration("org.datavec.api.transform.transform.sequence.SequenceOffsetTransform")
class SequenceOffsetTransform(Transform, SequenceOffsetTransformNames):
    """Values of earlier or later steps.

    Parameters
    ----------
    columns_to_offset : tuple of str
        The columns.
    offset_amount : int
        By how many steps values move later; earlier below 0.
    operation_type : str, default "NewColumn"
        "InPlace" or "NewColumn".
    edge_handling : str, default "TrimSequence"
        "TrimSequence" or "SpecifiedValue".
    edge_case_value : optional
        The value of steps without one.
    """

    for_sequences = True
    OperationType: ClassVar[type[OffsetOperationType]] = OffsetOperationType
    EdgeHandling: ClassVar[type[OffsetEdgeHandling]] = OffsetEdgeHandling
    columns_to_offset: Convertible[tuple[str, ...]]
    offset_amount: int
    operation_type: Convertible[OffsetOperationType] = OffsetOperationType.NewColumn
    edge_handling: Convertible[OffsetEdgeHandling] = OffsetEdgeHandling.TrimSequence
    edge_case_value: Convertible[WritableValue] | None = field(default=None, kw_only=False, omit_none=True)

    def _name(self, column: str) -> str:
        return f"sequenceOffset({self.offset_amount},{column})"

    def transform(self, schema: Schema) -> Schema:
        schema.get_index_of_columns(*self.columns_to_offset)
        in_place = self.operation_type is OffsetOperationType.InPlace
        made: list[ColumnMetaData] = []
        for column in schema.columns:
            moved = column.name in self.columns_to_offset
            made += [column] * (not moved or not in_place) + [column.renamed(self._name(column.name))] * moved
        return schema.new_schema(made)

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        n, by = len(frame), self.offset_amount
        at = [k - by for k in range(n)]
        columns: dict[str, Any] = {name: listed(frame, name) for name in frame.columns}
        for name in self.columns_to_offset:
            values = columns[name]
            columns[self._name(name)] = [values[k] if 0 <= k < n else plain(self.edge_case_value) for k in at]
        kept = [k for k in range(n) if 0 <= at[k] < n or self.edge_handling is OffsetEdgeHandling.SpecifiedValue]
        after = self.transform(schema)
        return pandas().DataFrame({c.name: c.read([columns[c.name][k] for k in kept]) for c in after.columns})


class WindowEdgeHandling(JavaEnum):
    """Windows that are not full are used as they are, or take a given value."""

    Default = "Default"
    SpecifiedValue = "SpecifiedValue"


@configuration("org.datavec.api.transform.transform.sequence.SequenceMovingWindowReduceTransform")
class SequenceMovingWindowReduceTransform(NewColumns, SequenceMovingWindowReduceTransformNames):
    """A new column: one value of the last steps each.

    Parameters
    ----------
    column_name : str
        The column.
    new_column_name : str, optional
        The name of the new one; ``op(lookback,column)`` without.
    lookback : int
        How many steps count, with the present one.
    op : ReduceOp
        How the value is made.
    edge_case_handling : str, default "Default"
        "SpecifiedValue" gives steps with too few before them ``edge_case_value``.
    edge_case_value : optional
        That value.
    """

    for_sequences = True
    EdgeCaseHandling: ClassVar[type[WindowEdgeHandling]] = WindowEdgeHandling
    column_name: str
    new_column_name: str | None
    lookback: int
    op: Convertible[ReduceOp]
    edge_case_handling: Convertible[WindowEdgeHandling] = WindowEdgeHandling.Default
    edge_case_value: Convertible[WritableValue] | None = field(default=None, kw_only=False, omit_none=True)

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if len(args) == 3:                                              # (column, lookback, op) of DL4J
            args = (args[0], None, *args[1:])
        return super()._bind(args, kwargs)

    def _fill(self, values: dict[str, Any], extra: dict[str, Any]) -> None:
        op = values.get("op")
        if values.get("new_column_name") is None:
            way = str(getattr(op, "name", op)).lower()
            values = {**values, "new_column_name": f"{way}({values.get('lookback')},{values.get('column_name')})"}
        super()._fill(values, extra)

    def new_columns(self, schema: Schema) -> list[ColumnMetaData]:
        column = schema.get_meta_data(self.column_name)
        if self.op in (ReduceOp.Sum, ReduceOp.Prod):
            return [DoubleMetaData(str(self.new_column_name))]
        if self.op in (ReduceOp.Count, ReduceOp.CountUnique):
            return [IntegerMetaData(str(self.new_column_name))]
        return [column_reduced(self.op, column, str(self.new_column_name))]

    def new_values(self, frame: Any, schema: Schema) -> list[Any]:
        column, made = schema.get_meta_data(self.column_name), self.new_columns(schema)[0]
        short = self.edge_case_handling is WindowEdgeHandling.SpecifiedValue
        return [made.read([plain(self.edge_case_value) if short and end < self.lookback else
                           reduced(self.op, frame.iloc[max(0, end - self.lookback):end], column) for end in range(1, len(frame) + 1)])]


@configuration("org.datavec.api.transform.sequence.ReduceSequenceTransform")
class ReduceSequenceTransform(Transform, ReduceSequenceTransformNames):
    """One step for all steps of a sequence.

    Parameters
    ----------
    reducer : Reducer
        How values are made.
    """

    for_sequences = True
    reducer: Reducer

    def transform(self, schema: Schema) -> Schema:
        return as_sequences(self.reducer.schema_after(schema))

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        return self.reducer.rows([self.reducer.row(frame, schema)] if len(frame) else [], schema)


@configuration("org.datavec.api.transform.transform.sequence.SequenceDifferenceTransform")
class SequenceDifferenceTransform(Transform, SequenceDifferenceTransformNames):
    """Values less those of earlier steps.

    Parameters
    ----------
    column_name : str
        The column.
    new_column_name : str, optional
        The name of the differences, which stand in its place.
    lookback : int, default 1
        How many steps earlier.
    first_step_mode : str, default "Default"
        What steps with too few before them have: the difference to the first step, or ("SpecifiedValue") a given value.
    specified_value_writable : optional
        That value.
    """

    for_sequences = True
    FirstStepMode = WindowEdgeHandling
    column_name: str
    new_column_name: str | None = None
    lookback: int = 1
    first_step_mode: Convertible[WindowEdgeHandling] = WindowEdgeHandling.Default
    specified_value_writable: Convertible[WritableValue] | None = field(default=None, kw_only=False, omit_none=True)

    def transform(self, schema: Schema) -> Schema:
        return schema.new_schema([self._difference(c) if c.name == self.column_name else c for c in schema.columns])

    def _difference(self, column: ColumnMetaData) -> NumberMetaData:
        """What is known of the differences: those of times are whole numbers."""
        if not isinstance(column, NumberMetaData):
            raise ConfigurationError(f"SequenceDifferenceTransform: column {column.name!r} is of type {column.column_type.name}, which has "
                                     "no differences")
        kind = LongMetaData if isinstance(column, TimeMetaData) else type(column)
        return kind(self.new_column_name or column.name)

    def on_frame(self, frame: Any, schema: Schema) -> Any:
        column = self._difference(schema.get_meta_data(self.column_name))
        values = column.hold(numbers(frame, self.column_name, column.whole))
        earlier = values[np.maximum(np.arange(len(values)) - self.lookback, 0)]
        made = column.hold(calculated(MathOp.Subtract, values, earlier)).tolist()
        if self.first_step_mode is WindowEdgeHandling.SpecifiedValue:
            made[:self.lookback] = [plain(self.specified_value_writable)] * len(made[:self.lookback])
        return frame.assign(**{self.column_name: column.read(made)}).rename(columns={self.column_name: column.name})


@configuration(tag="")
class CalculateSortedRank(Step, CalculateSortedRankNames):
    """A new column: the place of the record among all, by the values of a column.

    Parameters
    ----------
    new_column_name : str
        Its name.
    sort_on_column : str
        The column that decides.
    comparator : optional
        Numbers and texts are compared as such; kept for DL4J's files.
    ascending : bool, default True
        From the least to the greatest.
    """

    action = "calculateSortedRank"
    new_column_name: str
    sort_on_column: str
    comparator: Any = None
    ascending: bool = True

    def schema_after(self, schema: Schema) -> Schema:
        schema.get_index_of_column(self.sort_on_column)
        return schema.new_schema([*schema.columns, LongMetaData(self.new_column_name, 0)])

    def apply(self, data: Any, schema: Schema) -> Any:
        column = schema.get_meta_data(self.sort_on_column)
        keys: list[Any] = texts(data, column)
        if isinstance(column, NumberMetaData):
            keys = numbers(data, column.name).tolist()
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=not self.ascending)
        ranks = [0] * len(keys)
        for rank, row in enumerate(order):
            ranks[row] = rank
        return data.assign(**{self.new_column_name: ranks})
