"""Records put together: one for each key."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from ...base.java.java_enum import JavaEnum
from ...base.java.varargs import flat
from ...base.java_names import ConditionalReductionNames, ReducerBuilderNames, ReducerNames
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration, field
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError
from ..records.writables import plain
from .conditions import RecordCondition
from .frames import listed, numbers, pandas, texts
from .meta_data import ColumnMetaData, DoubleMetaData, LongMetaData, NumberMetaData, StringMetaData
from .schema import Schema
from .steps import Step

__all__ = ["ReduceOp", "Reducer"]


class ReduceOp(JavaEnum):
    """Ways to make one value of many."""

    Prod = "Prod"
    Min = "Min"
    Max = "Max"
    Range = "Range"
    Append = "Append"
    Prepend = "Prepend"
    Sum = "Sum"
    Mean = "Mean"
    Stdev = "Stdev"
    UncorrectedStdDev = "UncorrectedStdDev"
    Variance = "Variance"
    PopulationVariance = "PopulationVariance"
    Count = "Count"
    CountUnique = "CountUnique"
    TakeFirst = "TakeFirst"
    TakeLast = "TakeLast"


_OF_NUMBERS: dict[ReduceOp, Callable[[Any], Any]] = {
    ReduceOp.Prod: np.prod, ReduceOp.Min: np.min, ReduceOp.Max: np.max, ReduceOp.Range: np.ptp, ReduceOp.Sum: np.sum,
    ReduceOp.Mean: np.mean,
    ReduceOp.Stdev: lambda x: np.std(x, ddof=1) if len(x) > 1 else np.nan, ReduceOp.UncorrectedStdDev: np.std,
    ReduceOp.Variance: lambda x: np.var(x, ddof=1) if len(x) > 1 else np.nan, ReduceOp.PopulationVariance: np.var,
}
_OF_VALUES: dict[ReduceOp, Callable[[list[Any]], Any]] = {
    ReduceOp.Count: len, ReduceOp.CountUnique: lambda v: len(set(map(str, v))), ReduceOp.TakeFirst: lambda v: v[0],
    ReduceOp.TakeLast: lambda v: v[-1],
}
_OF_TEXTS: dict[ReduceOp, Callable[[list[str]], str]] = {ReduceOp.Append: "".join, ReduceOp.Prepend: lambda v: "".join(v[::-1])}


def reduced(op: ReduceOp, frame: Any, column: ColumnMetaData) -> Any:
    """One value of those of a column."""
    if op in _OF_VALUES:
        return _OF_VALUES[op](listed(frame, column.name))
    if op in _OF_TEXTS:
        return _OF_TEXTS[op](texts(frame, column))
    whole = frame[column.name].dtype.kind == "i"
    return plain(_OF_NUMBERS[op](numbers(frame, column.name, whole).astype(np.int64 if whole else np.float64)))


def column_reduced(op: ReduceOp, column: ColumnMetaData, name: str) -> ColumnMetaData:
    """What is known of such values."""
    if op in (ReduceOp.Count, ReduceOp.CountUnique):
        return LongMetaData(name, 0)
    if op in (ReduceOp.Append, ReduceOp.Prepend):
        return StringMetaData(name)
    if op in (ReduceOp.Min, ReduceOp.Max, ReduceOp.Range, ReduceOp.TakeFirst, ReduceOp.TakeLast):
        return column.renamed(name)
    if op in (ReduceOp.Sum, ReduceOp.Prod):
        return column.unbounded(name) if isinstance(column, NumberMetaData) else column.renamed(name)
    return DoubleMetaData(name)


@configuration(tag="")
class ConditionalReduction(Configuration, ConditionalReductionNames):
    """Several values of the rows that fulfil a condition.

    Parameters
    ----------
    column_name : str
        The column.
    output_names : tuple of str
        The names of the values.
    reductions : tuple of ReduceOp
        How each is made.
    condition : RecordCondition
        What is asked of the rows.
    """

    column_name: str
    output_names: Convertible[tuple[str, ...]]
    reductions: Convertible[tuple[ReduceOp, ...]]
    condition: RecordCondition


@configuration(tag="")
class Reducer(Step, ReducerNames):
    """One record for each value of the key columns; made by its builder.

    Parameters
    ----------
    key_columns : tuple of str
        The key; without any all records become one.
    default_op : ReduceOp
        For columns that no other is said for.
    op_map : dict
        Ways for columns: several of a column make several columns.
    custom_reductions : dict
        Of DL4J's files; ways of one's own in Java, which are refused where they would be used.
    conditional_reductions : dict
        Values of some rows.
    ignore_invalid_in_columns : tuple of str
        Columns whose invalid values do not count.

    Notes
    -----
    Source: DataVec's ``Reducer``. Names of what is made are ``op(column)``.
    """

    action = "reducer"
    Builder: ClassVar[type[ReducerBuilder]]  # type: ignore[assignment]  # with methods of its own
    key_columns: Convertible[tuple[str, ...] | None] = None
    default_op: Convertible[ReduceOp] = ReduceOp.TakeFirst
    op_map: Convertible[dict[str, tuple[ReduceOp, ...]]] = field(default_factory=dict)
    custom_reductions: Convertible[dict[str, Any]] = field(default_factory=dict)
    conditional_reductions: Convertible[dict[str, ConditionalReduction]] = field(default_factory=dict)
    ignore_invalid_in_columns: Convertible[tuple[str, ...]] = ()

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        return super()._read(document.get("Reducer", document))

    def to_document(self) -> dict[str, Any]:
        return {"Reducer": super().to_document()}

    def _ways(self, schema: Schema) -> list[tuple[ColumnMetaData, list[tuple[ReduceOp, str]], RecordCondition | None]]:
        """For each column that is no key, how and under which names its values are made, and of which rows."""
        made: list[tuple[ColumnMetaData, list[tuple[ReduceOp, str]], RecordCondition | None]] = []
        for column in schema.columns:
            if column.name in (self.key_columns or ()):
                continue
            if column.name in self.conditional_reductions:
                one = self.conditional_reductions[column.name]
                made.append((column, list(zip(one.reductions, one.output_names)), one.condition))
            else:
                ops = self.op_map.get(column.name) or (self.default_op,)
                made.append((column, [(op, f"{op.name.lower()}({column.name})") for op in ops], None))
        return made

    def schema_after(self, schema: Schema) -> Schema:
        if self.custom_reductions:
            raise ConfigurationError(f"Reducer: the columns {', '.join(self.custom_reductions)} are reduced by classes of Java, which "
                                     "are not here; give op_map or conditional_reductions for them")
        schema.get_index_of_columns(*(self.key_columns or ()), *self.op_map, *self.conditional_reductions)
        ways = {column.name: [column_reduced(op, column, name) for op, name in each] for column, each, _ in self._ways(schema)}
        return Schema(tuple(one for column in schema.columns for one in ways.get(column.name, [column])))

    def apply(self, data: Any, schema: Schema) -> Any:
        if isinstance(data, list):
            raise ConfigurationError("Reducer is for records; reduce_sequence puts the steps of a sequence together")
        keys = list(self.key_columns or ())
        groups = [group for _, group in data.groupby(keys, sort=False)] if keys and len(data) else [data] * bool(len(data))
        return self.rows([self.row(group, schema) for group in groups], schema)

    def row(self, group: Any, schema: Schema) -> dict[str, Any]:
        """The values of one group of rows."""
        values = {key: group[key].iloc[0] for key in self.key_columns or ()}
        for column, each, condition in self._ways(schema):
            rows = group if condition is None else group[condition.holds(group, schema)]
            if column.name in self.ignore_invalid_in_columns:
                rows = rows[[column.is_valid(value) for value in listed(rows, column.name)]]
            for op, name in each:
                values[name] = reduced(op, rows, column) if len(rows) else _nothing(op)
        return values

    def rows(self, rows: list[dict[str, Any]], schema: Schema) -> Any:
        """The frame of such values."""
        after = self.schema_after(schema)
        return pandas().DataFrame({c.name: c.read([row[c.name] for row in rows]) for c in after.columns})


def _nothing(op: ReduceOp) -> Any:
    """The result for no values."""
    return {ReduceOp.Count: 0, ReduceOp.CountUnique: 0, ReduceOp.Sum: 0, ReduceOp.Prod: 1, ReduceOp.Append: "",
            ReduceOp.Prepend: ""}.get(op)


def _reducing(name: str, op: ReduceOp) -> Callable[..., ReducerBuilder]:
    """A method that reduces columns by an op."""
    def add(self: ReducerBuilder, *columns: Any) -> ReducerBuilder:
        return self.multiple_op_columns([op], *columns)
    add.__name__, add.__doc__ = name, f"Reduce columns by `ReduceOp.{op.name}`."
    return add


class ReducerBuilder(MethodBuilder, ReducerBuilderNames):
    """``Reducer.Builder(default_op)``.

    Parameters
    ----------
    default_op : ReduceOp
        For columns that no other is said for.
    """

    def __init__(self, default_op: Any = ReduceOp.TakeFirst) -> None:
        super().__init__()
        self._default, self._keys = default_op, tuple[str, ...]()
        self._ops: dict[str, tuple[ReduceOp, ...]] = {}
        self._conditional: dict[str, ConditionalReduction] = {}
        self._ignored: tuple[str, ...] = ()

    def key_columns(self, *columns: str) -> Self:
        """Make one record for each value of these columns."""
        self._keys = tuple(flat(columns))
        return self

    min_columns = _reducing("min_columns", ReduceOp.Min)
    max_column = _reducing("max_column", ReduceOp.Max)
    max_columns = _reducing("max_columns", ReduceOp.Max)
    sum_columns = _reducing("sum_columns", ReduceOp.Sum)
    prod_columns = _reducing("prod_columns", ReduceOp.Prod)
    mean_columns = _reducing("mean_columns", ReduceOp.Mean)
    stdev_columns = _reducing("stdev_columns", ReduceOp.Stdev)
    uncorrected_stdev_columns = _reducing("uncorrected_stdev_columns", ReduceOp.UncorrectedStdDev)
    variance = _reducing("variance", ReduceOp.Variance)
    population_variance = _reducing("population_variance", ReduceOp.PopulationVariance)
    count_columns = _reducing("count_columns", ReduceOp.Count)
    range_columns = _reducing("range_columns", ReduceOp.Range)
    count_unique_columns = _reducing("count_unique_columns", ReduceOp.CountUnique)
    take_first_columns = _reducing("take_first_columns", ReduceOp.TakeFirst)
    take_last_columns = _reducing("take_last_columns", ReduceOp.TakeLast)
    append_columns = _reducing("append_columns", ReduceOp.Append)
    prepend_columns = _reducing("prepend_columns", ReduceOp.Prepend)

    def multiple_op_colmumns(self, ops: Any, *columns: str) -> Self:
        """Make several values of each column."""
        for op in ops:
            for column in flat(columns):
                self._ops[column] = (*self._ops.get(column, ()), op)
        return self

    multiple_op_columns = multiple_op_colmumns          # DL4J's name has the misprint

    def conditional_reduction(self, column: str, output_names: Any, reductions: Any, condition: RecordCondition) -> Self:
        """Make values of the rows that fulfil a condition."""
        names = (output_names,) if isinstance(output_names, str) else tuple(output_names)
        ops = (reductions,) if isinstance(reductions, ReduceOp) else tuple(reductions)
        if len(names) != len(ops):
            raise ConfigurationError(f"conditional_reduction: {len(names)} names for {len(ops)} values")
        self._conditional[column] = ConditionalReduction(column, names, ops, condition)
        return self

    def set_ignore_invalid(self, *columns: str) -> Self:
        """Leave invalid values of these columns out."""
        self._ignored = (*self._ignored, *flat(columns))
        return self

    def build(self) -> Reducer:
        """Return the reducer."""
        return Reducer(key_columns=self._keys, default_op=self._default, op_map=self._ops, conditional_reductions=self._conditional,
                       ignore_invalid_in_columns=self._ignored)


Reducer.Builder = ReducerBuilder
