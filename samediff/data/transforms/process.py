"""Transform processes: a schema and the steps that records go through."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self

from ...base.java_names import TransformProcessBuilderNames, TransformProcessNames
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError, FileFormatError, ShapeError
from ..records.writables import DoubleWritable, IntWritable, LongWritable, plain
from . import column_steps, number_steps, sequence_steps, text_steps, time_steps
from .analysis import DataAnalysis, Normalize, normalizer
from .conditions import RecordCondition
from .frames import frame_of, records_of
from .meta_data import ColumnType
from .reducer import Reducer
from .schema import Schema
from .steps import ConditionFilter, Filter, Step, Transform

__all__ = ["TransformProcess"]

#: The classes of steps by the key of DL4J's JSON.
_KINDS: dict[str, type[Step]] = {
    "transform": Transform, "filter": Filter, "convertToSequence": sequence_steps.ConvertToSequence,
    "convertFromSequence": sequence_steps.ConvertFromSequence, "sequenceSplit": sequence_steps.SequenceSplit, "reducer": Reducer,
    "calculateSortedRank": sequence_steps.CalculateSortedRank,
}


@configuration(tag="")
class TransformProcess(Configuration, TransformProcessNames):
    r"""A list of steps that records go through; made by its builder.

    Parameters
    ----------
    initial_schema : Schema
        Of the records that come in.
    action_list : tuple of Step
        What is done.

    Notes
    -----
    Source: DataVec's ``TransformProcess``. Steps go over data frames as a whole; `execute` takes one record or a frame.

    Examples
    --------
    >>> schema = Schema.Builder().add_columns_string("name").add_column_double("x").add_column_categorical("kind", "a", "b").build()
    >>> process = (TransformProcess.Builder(schema).remove_columns("name").double_math_op("x", "Multiply", 2)
    ...            .categorical_to_integer("kind").build())
    >>> process.get_final_schema().get_column_names(), process.execute(["one", 1.5, "b"])
    (['x', 'kind'], [3.0, 1])
    """

    initial_schema: Schema
    action_list: Convertible[tuple[Any, ...]] = ()
    Builder: ClassVar[type[TransformProcessBuilder]]  # type: ignore[assignment]  # with methods of its own

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        given = [(key, step) for action in document.get("actionList", ()) for key, step in action.items() if step is not None]
        unknown = next((key for key, _ in given if key not in _KINDS), None)
        if unknown is not None:
            raise FileFormatError(f"the process has an action {unknown!r}; known are {', '.join(_KINDS)}")
        return cls(Schema.from_document(document["initialSchema"]), tuple(_KINDS[key].from_document(step) for key, step in given))

    def to_document(self) -> dict[str, Any]:
        return {"actionList": [{step.action: step.to_document()} for step in self.action_list],
                "initialSchema": self.initial_schema.to_document()}

    def validate(self) -> None:
        wrong = next((step for step in self.action_list if not isinstance(step, Step)), None)
        if wrong is not None:
            raise ConfigurationError(f"a transform process takes steps: classes derived from Transform or Filter; got {wrong!r:.80}")
        self.get_final_schema()

    def schemas(self) -> list[Schema]:
        """The schema before each step, and that behind the last one."""
        found = [self.initial_schema]
        for k, step in enumerate(self.action_list):
            try:
                found.append(step.schema_after(found[-1]))
            except (ConfigurationError, LookupError) as error:
                error.add_note(f"in step {k} of the transform process: {step!r:.120}")
                raise
        return found

    def get_final_schema(self) -> Schema:
        """The schema behind the last step."""
        return self.schemas()[-1]

    def get_schema_after_step(self, step: int) -> Schema:
        """The schema behind that step, from 0."""
        found = self.schemas()
        return found[min(step + 1, len(found) - 1)]

    def get_action_list(self) -> list[Any]:
        """The steps."""
        return list(self.action_list)

    def run(self, data: Any) -> Any:
        """What becomes of a frame, or of the frames of sequences: a frame, or a list of frames."""
        for k, (step, schema) in enumerate(zip(self.action_list, self.schemas())):
            try:
                data = step.apply(data, schema)
            except Exception as error:
                error.add_note(f"in step {k} of the transform process: {step!r:.120}")
                raise
        return data

    def execute(self, records: Any) -> Any:
        """What becomes of a data frame: a data frame, or a list of them where the process makes sequences. Of one record (a list of
        values): its values, None where it is left out.
        """
        if hasattr(records, "columns") or (records and isinstance(records[0], (list, tuple))):
            made = self.run(frame_of(records, self.initial_schema))
            return made if hasattr(records, "columns") else [records_of(f) for f in made] if isinstance(made, list) else records_of(made)
        self._one_by_one()
        found = records_of(self.run(frame_of([records], self.initial_schema)))
        return found[0] if found else None

    def _one_by_one(self) -> None:
        wrong = next((step for step in self.action_list if step.action not in ("transform", "filter")), None)
        if wrong is not None:
            raise ConfigurationError(f"the process has {type(wrong).__name__}, which is no matter of one record: give execute a data frame "
                                     "or a list of records")

    def execute_sequence(self, sequence: Any) -> Any:
        """What becomes of a sequence, a list of records: a list of records, None where it is left out."""
        split = next((step for step in self.action_list if isinstance(step, sequence_steps.SequenceSplit)), None)
        if split is not None:
            raise ConfigurationError(f"the process has {type(split).__name__}, which makes several sequences of one: give all to "
                                     "LocalTransformExecutor.execute_sequence_to_sequence")
        found = self.run([frame_of(sequence, self.initial_schema)])
        if isinstance(found, list):
            return records_of(found[0]) if found else None
        return records_of(found) or None

    execute_sequence_to_sequence = execute_sequence

    def execute_to_sequence(self, record: Any) -> Any:
        """What becomes of one record in a process that makes sequences."""
        found = self.run(frame_of([record], self.initial_schema))
        return records_of(found[0]) if found else None

    def transform_raw_strings_to_input_list(self, values: Iterable[str]) -> list[Any]:
        """The values of a record that is given as texts."""
        given = list(values)
        if len(given) != self.initial_schema.num_columns():
            raise ShapeError(f"{len(given)} values; the schema has {self.initial_schema.num_columns()} columns")
        return [plain(column.read([text]).tolist()[0]) for column, text in zip(self.initial_schema.columns, given)]

    def transform_raw_strings_to_input(self, *values: str) -> list[Any]:
        """The same for values one by one."""
        return self.transform_raw_strings_to_input_list(values)

    @staticmethod
    def infer_categories(reader: Any, columns: Any) -> Any:
        """The texts that a column of a reader's records has, in order; a dictionary of those of several columns."""
        several = not isinstance(columns, int)
        found: dict[int, set[str]] = {column: set() for column in (columns if several else [columns])}
        for record in reader:
            for column in found:
                found[column].add(str(plain(record[column])))
        sorted_names = {column: sorted(names) for column, names in found.items()}
        return sorted_names if several else sorted_names[columns]


def _step(name: str, kind: type[Step]) -> Callable[..., TransformProcessBuilder]:
    """A method that adds a step, made of its arguments."""
    def add(self: TransformProcessBuilder, *args: Any, **options: Any) -> TransformProcessBuilder:
        return self.transform(kind(*args, **options))
    add.__name__, add.__doc__ = name, f"Add a step, made of these arguments: :class:`{kind.__name__}`."
    return add


class TransformProcessBuilder(MethodBuilder, TransformProcessBuilderNames):
    """``TransformProcess.Builder(schema)``: DL4J's steps, one method each.

    Parameters
    ----------
    initial_schema : Schema
        Of the records that come in.
    """

    def __init__(self, initial_schema: Schema) -> None:
        super().__init__()
        self._schema = initial_schema
        self._steps: list[Step] = []

    def transform(self, step: Any) -> Self:
        """Add any step."""
        self._steps.append(step)
        return self

    remove_columns = _step("remove_columns", column_steps.RemoveColumnsTransform)
    remove_all_columns_except_for = _step("remove_all_columns_except_for", column_steps.RemoveAllColumnsExceptForTransform)
    rename_columns = _step("rename_columns", column_steps.RenameColumnsTransform)
    reorder_columns = _step("reorder_columns", column_steps.ReorderColumnsTransform)
    duplicate_columns = _step("duplicate_columns", column_steps.DuplicateColumnsTransform)
    add_constant_column = _step("add_constant_column", column_steps.AddConstantColumnTransform)
    convert_to_string = _step("convert_to_string", column_steps.ConvertToString)
    convert_to_double = _step("convert_to_double", column_steps.ConvertToDouble)
    convert_to_integer = _step("convert_to_integer", column_steps.ConvertToInteger)
    conditional_replace_value_transform = _step("conditional_replace_value_transform", column_steps.ConditionalReplaceValueTransform)
    conditional_replace_value_transform_with_default = _step(
        "conditional_replace_value_transform_with_default", column_steps.ConditionalReplaceValueTransformWithDefault)
    conditional_copy_value_transform = _step("conditional_copy_value_transform", column_steps.ConditionalCopyValueTransform)
    integer_math_op = _step("integer_math_op", number_steps.IntegerMathOpTransform)
    integer_columns_math_op = _step("integer_columns_math_op", number_steps.IntegerColumnsMathOpTransform)
    long_math_op = _step("long_math_op", number_steps.LongMathOpTransform)
    long_columns_math_op = _step("long_columns_math_op", number_steps.LongColumnsMathOpTransform)
    float_math_op = _step("float_math_op", number_steps.FloatMathOpTransform)
    float_columns_math_op = _step("float_columns_math_op", number_steps.FloatColumnsMathOpTransform)
    float_math_function = _step("float_math_function", number_steps.FloatMathFunctionTransform)
    double_math_op = _step("double_math_op", number_steps.DoubleMathOpTransform)
    double_columns_math_op = _step("double_columns_math_op", number_steps.DoubleColumnsMathOpTransform)
    double_math_function = _step("double_math_function", number_steps.DoubleMathFunctionTransform)
    time_math_op = _step("time_math_op", time_steps.TimeMathOpTransform)
    string_to_time_transform = _step("string_to_time_transform", time_steps.StringToTimeTransform)
    integer_to_categorical = _step("integer_to_categorical", text_steps.IntegerToCategoricalTransform)
    integer_to_one_hot = _step("integer_to_one_hot", text_steps.IntegerToOneHotTransform)
    string_to_categorical = _step("string_to_categorical", text_steps.StringToCategoricalTransform)
    string_remove_whitespace_transform = _step("string_remove_whitespace_transform", text_steps.RemoveWhiteSpaceTransform)
    string_map_transform = _step("string_map_transform", text_steps.StringMapTransform)
    append_string_column_transform = _step("append_string_column_transform", text_steps.AppendStringColumnTransform)
    replace_string_transform = _step("replace_string_transform", text_steps.ReplaceStringTransform)
    first_digit_transform = _step("first_digit_transform", text_steps.FirstDigitTransform)
    trim_sequence = _step("trim_sequence", sequence_steps.SequenceTrimTransform)
    offset_sequence = _step("offset_sequence", sequence_steps.SequenceOffsetTransform)
    sequence_moving_window_reduce = _step("sequence_moving_window_reduce", sequence_steps.SequenceMovingWindowReduceTransform)
    calculate_sorted_rank = _step("calculate_sorted_rank", sequence_steps.CalculateSortedRank)

    def split_sequence(self, step: Step) -> Self:
        """Split sequences."""
        return self.transform(step)

    def reduce(self, reducer: Step) -> Self:
        """Make one record of those that have the same key."""
        return self.transform(reducer)

    def filter(self, what: Filter | RecordCondition) -> Self:
        """Leave out records by a filter; or those that fulfil a condition."""
        return self.transform(ConditionFilter(what) if isinstance(what, RecordCondition) else what)

    def rename_column(self, old_name: str, new_name: str) -> Self:
        """Give a column another name."""
        return self.transform(column_steps.RenameColumnsTransform((old_name,), (new_name,)))

    def duplicate_column(self, column: str, new_name: str) -> Self:
        """Repeat a column."""
        return self.transform(column_steps.DuplicateColumnsTransform((column,), (new_name,)))

    def categorical_to_one_hot(self, *columns: str) -> Self:
        """Make a column of 0 and 1 for each category."""
        return self._each(text_steps.CategoricalToOneHotTransform, columns)

    def categorical_to_integer(self, *columns: str) -> Self:
        """Make numbers of categories."""
        return self._each(text_steps.CategoricalToIntegerTransform, columns)

    def _each(self, kind: Callable[[str], Step], columns: tuple[str, ...]) -> Self:
        for column in columns:
            self.transform(kind(column))
        return self

    def add_constant_double_column(self, new_column_name: str, value: float) -> Self:
        """Add a column of one number."""
        return self.transform(column_steps.AddConstantColumnTransform(new_column_name, ColumnType.Double, DoubleWritable(value)))

    def add_constant_integer_column(self, new_column_name: str, value: int) -> Self:
        """Add a column of one whole number."""
        return self.transform(column_steps.AddConstantColumnTransform(new_column_name, ColumnType.Integer, IntWritable(value)))

    def add_constant_long_column(self, new_column_name: str, value: int) -> Self:
        """Add a column of one whole number."""
        return self.transform(column_steps.AddConstantColumnTransform(new_column_name, ColumnType.Long, LongWritable(value)))

    def normalize(self, column: str, kind: Normalize, analysis: DataAnalysis) -> Self:
        """Normalize a column by what is known of its values."""
        return self.transform(normalizer(column, kind, analysis))

    def convert_to_sequence(self, key_columns: Any = None, comparator: Any = None) -> Self:
        """Make sequences of records: one for each key; without a key one for each record."""
        if key_columns is None:
            return self.transform(sequence_steps.ConvertToSequence(True))
        keys = (key_columns,) if isinstance(key_columns, str) else tuple(key_columns)
        return self.transform(sequence_steps.ConvertToSequence(False, keys, comparator))

    def trim_sequence_to_length(self, max_length: int) -> Self:
        """Cut sequences that are longer."""
        return self.transform(sequence_steps.SequenceTrimToLengthTransform(max_length))

    def trim_or_pad_sequence_to_length(self, length: int, pad: Iterable[Any]) -> Self:
        """Cut sequences that are longer, fill up those that are shorter."""
        return self.transform(sequence_steps.SequenceTrimToLengthTransform(length, "TRIM_OR_PAD", tuple(pad)))

    def reduce_sequence(self, reducer: Reducer) -> Self:
        """Make one record of each sequence."""
        self.transform(sequence_steps.ReduceSequenceTransform(reducer))
        return self.convert_from_sequence()

    def convert_from_sequence(self) -> Self:
        """Make records of the steps of sequences."""
        return self.transform(sequence_steps.ConvertFromSequence())

    def build(self) -> TransformProcess:
        """Return the process."""
        return TransformProcess(self._schema, tuple(self._steps))


TransformProcess.Builder = TransformProcessBuilder
