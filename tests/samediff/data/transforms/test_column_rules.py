"""Columns hold what their type says: numbers that fit, Java's texts; steps say which columns they take."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.networks import TimeUnit
from dl4py.samediff.data import (
    AnalyzeLocal,
    BooleanWritable,
    ConditionOp,
    DateTimeFieldType,
    DeriveColumnsFromTimeTransform,
    DoubleWritable,
    FloatWritable,
    IntegerColumnCondition,
    IntWritable,
    Join,
    LocalTransformExecutor,
    LongWritable,
    MathOp,
    NullWritable,
    NullWritableColumnCondition,
    ReduceOp,
    Reducer,
    Schema,
    SequenceConditionMode,
    SequenceDifferenceTransform,
    SequenceSchema,
    SplitMaxLengthSequence,
    Text,
    TransformProcess,
)
from dl4py.samediff.errors import ConfigurationError, DataTypeError, FileFormatError

pd = pytest.importorskip("pandas")
KINDS = {"i": "Integer", "l": "Long", "d": "Double", "f": "Float", "s": "String", "t": "Time", "b": "Boolean"}


def schema(names, kind=Schema):
    made = kind.Builder()
    for name in names:
        add = getattr(made, f"addColumn{KINDS[name]}")
        add(name, "UTC") if name == "t" else add(name)
    return made.build()


def process(names, *calls, kind=Schema):
    made = TransformProcess.Builder(schema(names, kind))
    for name, *arguments in calls:
        getattr(made, name)(*arguments)
    return made.build()


@pytest.mark.parametrize(("column", "call", "value"), [
    ("i", ("integerMathOp", "i", MathOp.Add, 1), 2**31 - 1), ("i", ("integerMathOp", "i", MathOp.Multiply, 2**20), -2**20),
    ("l", ("longMathOp", "l", MathOp.Add, 1), 2**63 - 1), ("l", ("longMathOp", "l", MathOp.Multiply, -1), -2**63),
    ("l", ("longMathOp", "l", MathOp.Divide, -1), -2**63), ("l", ("convertToInteger", "l"), 2**31),
    ("d", ("convertToInteger", "d"), float("nan")), ("d", ("convertToInteger", "d"), -np.inf), ("s", ("convertToInteger", "s"), "1e99"),
    ("l", ("integerColumnsMathOp", "n", MathOp.Add, "l", "l"), 2**40), ("t", ("timeMathOp", "t", MathOp.Add, 1, TimeUnit.DAYS), 2**63 - 1)])
def test_whole_numbers_that_do_not_fit(column, call, value):
    with pytest.raises(FileFormatError, match="row 0"):
        process(column, call).execute([value])


@pytest.mark.parametrize(("op", "by", "value", "wanted"), [
    (MathOp.Divide, 2, -2**63, -2**62), (MathOp.Modulus, 7, -2**63, -1), (MathOp.ReverseDivide, -2**63, 3, -3074457345618258602),
    (MathOp.ReverseSubtract, -1, -2**63, 2**63 - 1), (MathOp.Divide, 2, -7, -3), (MathOp.Modulus, -3, -7, -1),
    (MathOp.ScalarMax, 2**62, 2**62 - 1, 2**62)])
def test_whole_numbers_are_exact(op, by, value, wanted):
    assert process("l", ("longMathOp", "l", op, by)).execute([value]) == [wanted]


@pytest.mark.parametrize("op", [MathOp.Divide, MathOp.Modulus])
def test_whole_numbers_are_not_divided_by_zero(op):
    with pytest.raises(ConfigurationError, match="by 0"):
        process("i", ("integerMathOp", "i", op, 0)).execute([3])


def test_columns_of_floats_hold_floats():
    made = process("fd", ("floatMathOp", "f", MathOp.Add, 0.1), ("doubleColumnsMathOp", "n", MathOp.Add, "f", "d"),
                   ("convertToString", "f"))
    total = np.float32(0.2) + np.float32(0.1)
    assert made.execute([0.2, 1.0]) == [str(total), 1.0, float(total) + 1.0]


def test_texts_are_those_of_java():
    names = "bdfil"
    made = process(names, *(("convertToString", name) for name in names))
    assert made.execute([True, 1e10, 0.1, -3, 2**40]) == ["true", "1.0E10", "0.1", "-3", "1099511627776"]
    assert process("d", ("appendStringColumnTransform", "d", "!")).execute([float("nan")]) == ["NaN!"]
    assert [str(v) for v in (DoubleWritable(1e-5), FloatWritable(0.1), BooleanWritable(True), IntWritable(7), LongWritable(8), Text("x"),
                             NullWritable.INSTANCE)] == ["1.0E-5", "0.1", "true", "7", "8", "x", "NullWritable"]


def test_writables_hold_their_bits():
    assert FloatWritable(0.1).get() == float(np.float32(0.1)) and FloatWritable(1e40).get() == np.inf
    for kind, bits in ((IntWritable, 32), (LongWritable, 64)):
        assert kind(-1 << bits - 1) == -1 << bits - 1
        with pytest.raises(DataTypeError, match=f"{kind.__name__} holds whole numbers of {bits} bits"):
            kind(1 << bits - 1)


def test_texts_in_files_are_bytes():
    written = process("s", ("conditionalReplaceValueTransform", "s", Text("ä"), NullWritableColumnCondition("s")),
                      ("addConstantLongColumn", "n", 5)).to_json()
    first, second = (step["transform"] for step in json.loads(written)["actionList"])
    assert first["newValue"] == {"@class": "org.datavec.api.writable.Text", "bytes": "w6Q=", "length": 2}
    assert second["fixedValue"] == {"@class": "org.datavec.api.writable.LongWritable", "value": 5}
    assert TransformProcess.from_json(written).execute([None]) == ["ä", 5]
    older = written.replace('"bytes" : "w6Q=",\n        "length" : 2', '"value" : "ä"')
    assert older != written and TransformProcess.from_json(older).execute([None]) == ["ä", 5]


@pytest.mark.parametrize(("names", "call", "message"), [
    ("s", ("categoricalToInteger", "s"), "not Categorical"), ("l", ("integerToOneHot", "l", 0, 2), "not Integer"),
    ("l", ("timeMathOp", "l", MathOp.Add, 1, TimeUnit.DAYS), "not Time"),
    ("t", ("timeMathOp", "t", MathOp.ScalarMax, 1, TimeUnit.DAYS), "MILLI"),
    ("l", ("transform", DeriveColumnsFromTimeTransform.Builder("l").addIntegerDerivedColumn("h", DateTimeFieldType.hourOfDay()).build()),
     "not Time"),
    ("si", ("removeColumns", "i", "s"), "leaves no column")])
def test_steps_are_refused_where_they_are_built(names, call, message):
    with pytest.raises(ConfigurationError, match=message):
        process(names, call)


def test_differences_need_numbers():
    with pytest.raises(ConfigurationError, match="no differences"):
        process("s", ("transform", SequenceDifferenceTransform("s")), kind=SequenceSchema)


@pytest.mark.parametrize(("mode", "kept"), [(None, [[1, 2]]), (SequenceConditionMode.Or, [[1, 2]]),
                                             (SequenceConditionMode.And, [[1, 2], [1, 3]])])
def test_steps_of_sequences_that_fulfil_conditions(mode, kept):
    given = [SequenceConditionMode.Or if mode is None else mode] if mode else []
    condition = IntegerColumnCondition("i", *given, ConditionOp.GreaterThan, 2)
    made = process("i", ("filter", condition), kind=SequenceSchema)
    assert condition.condition is not None and ("sequenceMode" in made.to_json()) is (mode is SequenceConditionMode.And)
    for one in (made, TransformProcess.from_json(made.to_json())):
        found = LocalTransformExecutor.execute_sequence_to_sequence([[[v] for v in values] for values in ([1, 2], [1, 3], [3, 4])], one)
        assert found == [[[v] for v in values] for values in kept]


def test_conditions_without_a_mode_are_not_asked_of_sequences():
    made = process("i", ("filter", NullWritableColumnCondition("i", SequenceConditionMode.NoSequenceMode)), kind=SequenceSchema)
    with pytest.raises(ConfigurationError, match="not asked of sequences"):
        made.execute_sequence([[1]])


def test_nan_is_no_missing_value():
    made = process("ds", ("filter", NullWritableColumnCondition("d")))
    assert made.execute([float("nan"), "a"]) is not None and made.execute([None, "a"]) is None
    frame = pd.DataFrame({"d": [1.0, 2.0], "s": ["a", np.nan]})
    assert process("ds", ("filter", NullWritableColumnCondition("s"))).execute(frame)["s"].tolist() == ["a"]


@pytest.mark.parametrize(("how", "wanted"), [
    ("Inner", [[1, 2**60 + 1, "a"]]), ("LeftOuter", [[1, 2**60 + 1, "a"], [2, 3, None]]),
    ("RightOuter", [[1, 2**60 + 1, "a"], [4, None, "b"]]),
    ("FullOuter", [[1, 2**60 + 1, "a"], [2, 3, None], [4, None, "b"]])])
def test_joins_keep_whole_numbers(how, wanted):
    join = Join.Builder(getattr(Join.JoinType, how)).setJoinColumns("i").setSchemas(schema("il"), schema("is")).build()
    left, right = [[1, 2**60 + 1], [2, 3]], [[4, "b"], [1, "a"]]
    found = LocalTransformExecutor.execute_join(join, left, right)
    assert sorted(found) == wanted and all(type(value) is not float for row in found for value in row)
    frame = LocalTransformExecutor.execute_join(join, pd.DataFrame(left, columns=["i", "l"]), pd.DataFrame(right, columns=["i", "s"]))
    assert sorted(frame["i"].tolist()) == [row[0] for row in wanted]


def test_lengths_of_texts():
    found = AnalyzeLocal.analyze(schema("s"), [["a"], ["abc"], ["ab"]]).get_column_analysis("s")
    assert (found.getMinLength(), found.getMaxLength(), found.getMeanLength(), found.getSampleStdevLength()) == (1, 3, 2.0, 1.0)
    assert found.getSampleVarianceLength() == found.getSampleVariance() == 1.0


def test_one_sequence_is_not_cut_in_silence():
    made = process("i", ("splitSequence", SplitMaxLengthSequence(1, False)), kind=SequenceSchema)
    with pytest.raises(ConfigurationError, match="several sequences of one"):
        made.execute_sequence([[1], [2]])
    assert LocalTransformExecutor.execute_sequence_to_sequence([[[1], [2]]], made) == [[[1]], [[2]]]


def test_sequences_as_records():
    made = process("si", ("reduceSequence", Reducer.Builder(ReduceOp.Sum).keyColumns("s").build()), kind=SequenceSchema)
    assert made.execute_sequence([["a", 1], ["a", 5]]) == [["a", 6]]
    empty = process("si", ("trimSequence", 9, True), ("reduceSequence", Reducer.Builder(ReduceOp.Sum).keyColumns("s").build()),
                    kind=SequenceSchema)
    assert empty.execute_sequence([["a", 1]]) is None


def test_first_steps_have_the_difference_to_the_first():
    made = process("t", ("transform", SequenceDifferenceTransform("t", "n", 2)), kind=SequenceSchema)
    assert made.execute_sequence([[1], [3], [6], [10]]) == [[0], [2], [5], [7]]
    assert [kind.name for kind in made.get_final_schema().get_column_types()] == ["Long"]
