"""Programs with schemas and processes, as DL4J's users write them: weblogs, joins, analyses, sequences, steps of one's own."""
from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dl4py.networks import TimeUnit
from dl4py.samediff.data import (
    AnalyzeLocal,
    BooleanCondition,
    CategoricalColumnCondition,
    CategoricalMetaData,
    CollectionRecordReader,
    CollectionSequenceRecordReader,
    ConditionalReplaceValueTransform,
    ConditionFilter,
    ConditionOp,
    CSVRecordReader,
    CSVSequenceRecordReader,
    DateTimeFieldType,
    DateTimeZone,
    DeriveColumnsFromTimeTransform,
    DoubleColumnCondition,
    DoubleWritable,
    Filter,
    HtmlAnalysis,
    ImageRecordReader,
    Join,
    LocalTransformExecutor,
    LongWritable,
    MathOp,
    NativeImageLoader,
    Normalize,
    NumericalColumnComparator,
    ReduceOp,
    Reducer,
    Schema,
    SequenceLengthCondition,
    SequenceSchema,
    SequenceSplitTimeSeparation,
    SplitMaxLengthSequence,
    StringSplit,
    Transform,
    TransformProcess,
    TransformProcessRecordReader,
    TransformProcessSequenceRecordReader,
)
from dl4py.samediff.data.transforms.conditions import RecordCondition
from dl4py.samediff.errors import ConfigurationError, DL4PyError, FileFormatError, ShapeError, UnknownNameError

pd = pytest.importorskip("pandas")

TRANSACTIONS = """2016-01-01 17:00:00.000,830a7u3,u323fy8902,1,USA,100.00,Legit
2016-01-01 18:03:01.256,830a7u3,9732498oeu,3,FR,73.20,Legit
2016-01-03 02:53:32.231,78ueoau32,w234e989,1,USA,1621.00,Fraud
2016-01-03 09:30:16.832,t842uocd,9732498oeu,4,USA,43.19,Legit
2016-01-04 23:01:52.920,t842uocd,cza8873bm,10,MX,159.65,Legit
2016-01-05 02:28:10.648,t842uocd,fgcq9803,6,CAN,-26.33,Fraud
2016-01-05 10:15:36.483,rgc707ke3,tn342v7,2,USA,0.90,Legit
"""


def transactions() -> Schema:
    return (Schema.Builder().addColumnString("DateTimeString").addColumnsString("CustomerID", "MerchantID")
            .addColumnInteger("NumItemsInTransaction").addColumnCategorical("MerchantCountryCode", ["USA", "CAN", "FR", "MX"])
            .addColumnDouble("TransactionAmountUSD", 0.0, None, False, False).addColumnCategorical("FraudLabel", "Fraud", "Legit").build())


def basic() -> TransformProcess:
    """DL4J's BasicDataVecExample."""
    return (TransformProcess.Builder(transactions()).removeColumns("CustomerID", "MerchantID")
            .filter(ConditionFilter(CategoricalColumnCondition("MerchantCountryCode", ConditionOp.NotInSet, {"USA", "CAN"})))
            .conditionalReplaceValueTransform("TransactionAmountUSD", DoubleWritable(0.0),
                                              DoubleColumnCondition("TransactionAmountUSD", ConditionOp.LessThan, 0.0))
            .stringToTimeTransform("DateTimeString", "YYYY-MM-dd HH:mm:ss.SSS", DateTimeZone.UTC)
            .renameColumn("DateTimeString", "DateTime")
            .transform(DeriveColumnsFromTimeTransform.Builder("DateTime")
                       .addIntegerDerivedColumn("HourOfDay", DateTimeFieldType.hourOfDay()).build())
            .removeColumns("DateTime").build())


def test_basic_example():
    process = basic()
    assert process.getFinalSchema().getColumnNames() == [
        "HourOfDay", "NumItemsInTransaction", "MerchantCountryCode", "TransactionAmountUSD", "FraudLabel"]
    wanted = [[17, 1, "USA", 100.0, "Legit"], [2, 1, "USA", 1621.0, "Fraud"], [9, 4, "USA", 43.19, "Legit"], [2, 6, "CAN", 0.0, "Fraud"],
              [10, 2, "USA", 0.9, "Legit"]]
    reader = CSVRecordReader(0, ",").initialize(StringSplit(TRANSACTIONS))
    assert LocalTransformExecutor.execute([row for row, _ in reader.read()], process) == wanted
    through = TransformProcessRecordReader(CSVRecordReader(), process).initialize(StringSplit(TRANSACTIONS))
    assert list(through) == wanted and through.getTransformProcess() is process
    through.reset()
    assert [through.nextRecord().getMetaData().getLineNumber() for _ in wanted] == [1, 3, 4, 6, 7]
    frame = pd.DataFrame([line.split(",") for line in TRANSACTIONS.splitlines()], columns=transactions().getColumnNames())
    assert process.execute(frame).to_numpy().tolist() == wanted
    assert process.get_schema_after_step(0).has_column("DateTimeString") and len(process.get_action_list()) == 7
    raw = process.transform_raw_strings_to_input(*TRANSACTIONS.splitlines()[0].split(","))
    assert raw[3] == 1 and process.execute(raw) == wanted[0]


def test_joins():
    customers = Schema.Builder().addColumnLong("customerID").addColumnString("customerName").build()
    purchases = Schema.Builder().addColumnLong("customerID").addColumnDouble("amount").build()
    left, right = [[1, "Ann"], [2, "Bob"]], [[2, 5.0], [2, 7.0], [3, 9.0]]
    bob = [[2, "Bob", 5.0], [2, "Bob", 7.0]]
    for kind, wanted in ((Join.JoinType.Inner, bob), ("LeftOuter", [[1, "Ann", None], *bob])):
        join = Join.Builder(kind).setJoinColumns("customerID").setSchemas(customers, purchases).build()
        found = LocalTransformExecutor.executeJoin(join, left, right)
        assert [[None if v != v else v for v in row] for row in found] == wanted
        assert join.getOutputSchema().getColumnNames() == ["customerID", "customerName", "amount"]
    with pytest.raises(ConfigurationError, match="set_schemas"):
        Join.Builder("Inner").setJoinColumns("x").build()


def test_analyses():
    schema = Schema.Builder().addColumnDouble("x").addColumnCategorical("k", "a", "b").addColumnString("s").build()
    rows = [[1.0, "a", "p"], [3.0, "b", "qq"], [8.0, "a", ""]]
    found = AnalyzeLocal.analyze(schema, CollectionRecordReader(rows))
    x = found.getColumnAnalysis("x")
    assert (x.get_min_double(), x.get_max_double(), x.getMean(), x.getCountTotal()) == (1.0, 8.0, 4.0, 3)
    assert x.getSampleStdev() == pytest.approx(np.std([1, 3, 8], ddof=1))
    assert found.getColumnAnalysis("k").get_map_of_counts() == {"a": 2, "b": 1}
    assert "count_unique" in str(found)
    for kind, wanted in ((Normalize.MinMax, [0, 2 / 7, 1]), ("MinMax2", [-1, -3 / 7, 1]), ("SubtractMean", [-3, -1, 4]),
                         ("Standardize", np.array([-3, -1, 4]) / x.getSampleStdev()), ("Log2Mean", 0.5 * np.log2([1, 5 / 3, 10 / 3])),
                         ("Log2MeanExcludingMin", 0.5 * np.log2(1 + np.array([0, 2, 7]) / 4.5))):
        process = TransformProcess.Builder(schema).normalize("x", kind, found).build()
        np.testing.assert_allclose([row[0] for row in process.execute(rows)], wanted, 1e-12)
    with pytest.raises(ConfigurationError, match="without numbers"):
        TransformProcess.Builder(schema).normalize("k", "MinMax", found)
    assert TransformProcess.inferCategories(CollectionRecordReader(rows), 1) == ["a", "b"]
    assert TransformProcess.infer_categories(CollectionRecordReader(rows), [1, 2]) == {1: ["a", "b"], 2: ["", "p", "qq"]}


def log() -> Schema:
    return Schema.Builder().addColumnString("host").addColumnTime("time", DateTimeZone.for_id("UTC")).addColumnInteger("bytes").build()


LOG = [["b", 60_000, 5], ["a", 0, 1], ["a", 120_000, 2], ["b", 0, 4], ["a", 30_000, 3]]


def test_sequences():
    builder = TransformProcess.Builder(log()).convertToSequence("host", NumericalColumnComparator("time"))
    process = builder.splitSequence(SequenceSplitTimeSeparation("time", 1, TimeUnit.MINUTES)).build()
    assert type(process.getFinalSchema()) is SequenceSchema
    found = LocalTransformExecutor.executeToSequence(LOG, process)
    assert [[step[2] for step in sequence] for sequence in found] == [[4, 5], [1, 3], [2]]
    count = (Reducer.Builder(ReduceOp.TakeFirst).keyColumns("host").sumColumns("bytes").countColumns("time").build())
    assert LocalTransformExecutor.execute(LOG, TransformProcess.Builder(log()).reduce(count).build()) == [["b", 2, 9], ["a", 3, 6]]
    per_host = TransformProcess.Builder(log()).convertToSequence("host", NumericalColumnComparator("time", False)).reduceSequence(
        Reducer.Builder("TakeFirst").maxColumn("bytes").build()).build()
    assert LocalTransformExecutor.execute(LOG, per_host) == [["b", 60_000, 5], ["a", 120_000, 3]]
    ranked = TransformProcess.Builder(log()).calculateSortedRank("rank", "bytes", None, False).build()
    assert [row[3] for row in ranked.execute(LOG)] == [0, 4, 3, 1, 2]
    long = TransformProcess.Builder(log()).convertToSequence("host", None).filter(
        SequenceLengthCondition("LessThan", 3)).splitSequence(SplitMaxLengthSequence(2, False)).convertFromSequence().build()
    assert [row[2] for row in LocalTransformExecutor.execute(LOG, long)] == [1, 2, 3]
    padded = TransformProcess.Builder(log()).convertToSequence().trimOrPadSequenceToLength(2, ["", 0, 0]).build()
    assert padded.execute_to_sequence(LOG[0]) == [LOG[0], ["", 0, 0]] and padded.execute(LOG[:1]) == [[LOG[0], ["", 0, 0]]]
    sums = TransformProcess.Builder(SequenceSchema(log().columns)).convertToString("bytes").build()
    reader = TransformProcessSequenceRecordReader(CollectionSequenceRecordReader([LOG[:2]]), sums)
    assert reader.sequenceRecord() == [["b", 60_000, "5"], ["a", 0, "1"]]
    reader.reset()
    assert reader.next_sequence().get_sequence_record()[0][2] == "5"
    apart = TransformProcess.Builder(SequenceSchema(log().columns)).convertFromSequence().build()
    assert LocalTransformExecutor.executeSequenceToSeparate([LOG], apart) == LOG
    with pytest.raises(ConfigurationError, match="is for sequences"):
        TransformProcess.Builder(log()).trimSequence(1, True).build().execute(LOG)


class Doubled(Transform):
    def map(self, record):
        return [record[0], record[1], 2 * record[2]]


class Odd(Filter):
    def removeExample(self, record):
        return record[2] % 2 == 0


class Late(RecordCondition):
    def condition(self, record):
        return record[1] > 50_000


def test_steps_of_ones_own():
    early = ConditionFilter(BooleanCondition.NOT(Late()))
    process = TransformProcess.Builder(log()).filter(Odd()).transform(Doubled()).filter(early).build()
    assert process.execute(LOG) == [["b", 60_000, 10]] and process.execute(LOG[0]) == ["b", 60_000, 10] and process.execute(LOG[1]) is None
    replaced = ConditionalReplaceValueTransform("bytes", LongWritable(7), Late())
    assert [row[2] for row in TransformProcess.Builder(log()).transform(replaced).build().execute(LOG)] == [7, 1, 7, 4, 3]
    assert LongWritable(7).toLong() == 7 == DoubleWritable(7.9).toInt()


def steps() -> Any:
    return TransformProcess.Builder(log())


#: What is wrong, and what the error says.
WRONG = {
    "column": (lambda: steps().removeColumns("bites").build(), UnknownNameError, "did you mean 'bytes'"),
    "type": (lambda: steps().doubleMathOp("bytes", MathOp.Add, 1).build(), ConfigurationError, "is of type Integer, not Double"),
    "number": (lambda: steps().convertToDouble("host").build().execute(LOG), FileFormatError, "column 'host', row 0"),
    "time": (lambda: steps().stringToTimeTransform("host", "yyyy", "UTC").build().execute(LOG), FileFormatError,
             "column 'host', row 0: expected a time such as yyyy, got 'b'"),
    "letter": (lambda: steps().stringToTimeTransform("host", "yyyy-qq", "UTC").build().execute(LOG), ConfigurationError, "'q'"),
    "zone": (lambda: DateTimeZone.forID("Nowhere"), UnknownNameError, "Europe/Berlin"),
    "category": (lambda: steps().stringToCategorical("host", ["aa"]).categoricalToInteger("host").build().execute(LOG),
                 FileFormatError, "row 0: 'b' is not one of the categories"),
    "values": (lambda: basic().execute(["a"]), ShapeError, "record 0 has 1 values, the schema 7 columns"),
    "texts": (lambda: basic().transform_raw_strings_to_input("a"), ShapeError, "1 values; the schema has 7 columns"),
    "one record": (lambda: steps().reduce(Reducer.Builder("Sum").build()).build().execute(LOG[0]), ConfigurationError,
                   "give execute a data frame"),
    "no step": (lambda: steps().transform("x").build(), ConfigurationError, "takes steps"),
    "twice": (lambda: Schema.Builder().addColumnsString("a", "a").build(), ConfigurationError, "stands there 2 times"),
    "field": (lambda: DateTimeFieldType("hourOfDays"), UnknownNameError, "did you mean 'hourOfDay'"),
    "reader": (lambda: TransformProcessRecordReader(None, TransformProcess.Builder(log()).convertToSequence().build()), ConfigurationError,
               "LocalTransformExecutor"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    make, kind, said = WRONG[name]
    with pytest.raises(DL4PyError, match=said) as found:
        make()
    assert isinstance(found.value, kind)


def test_small_questions():
    schema = log()
    assert schema.same_types(schema) and schema.get_column_meta_data()[0].get_column_type().name == "String" and len(schema) == 3
    assert schema.differences(transactions())[1].name == "CustomerID"
    assert DateTimeZone.forTimeZone("UTC") == DateTimeZone.for_time_zone("UTC")
    assert CategoricalMetaData("k", "a", "b").isValid("a") and not CategoricalMetaData("k", ["a"]).isValid("c")
    assert "png" in NativeImageLoader().get_allowed_formats() and ImageRecordReader().get_current_file() is None
    assert next(CSVSequenceRecordReader().initialize(__file__).split.locations_iterator()).name == "test_processes.py"


def test_actions_that_nobody_knows_are_not_left_out():
    made = TransformProcess.Builder(Schema.Builder().add_column_double("x").build()).double_math_op("x", "Add", 1).build()
    document = json.loads(made.to_json())
    document["actionList"].append({"shuffle": {}, "transform": None})
    with pytest.raises(FileFormatError, match="'shuffle'; known are transform"):
        TransformProcess.from_json(json.dumps(document))


def test_writables_stay_writables_and_plain_values_plain():
    schema = Schema.Builder().addColumnInteger("n").addColumnString("s").build()
    process = TransformProcess.Builder(schema).integerMathOp("n", MathOp.Add, 1).build()
    reader = CSVRecordReader().initialize(StringSplit("1,a\n2,b"))
    records = []
    while reader.hasNext():
        records.append(reader.next())
    found = LocalTransformExecutor.execute(records, process)
    assert [row[0].toInt() for row in found] == [2, 3] and found[0][1].toString() == "a"
    other = Schema.Builder().addColumnInteger("n").addColumnString("t").build()
    join = Join.Builder(Join.JoinType.Inner).setJoinColumns("n").setSchemas(schema, other).build()
    assert LocalTransformExecutor.executeJoin(join, records, records)[1][0].toDouble() == 2
    assert [type(value) for value in LocalTransformExecutor.execute([[1, "a"]], process)[0]] == [int, str]


def test_statistics_as_a_page(tmp_path):
    schema = Schema.Builder().addColumnsDouble("a", "b").build()
    found = AnalyzeLocal.analyze(schema, [[1.0, 2.0], [3.0, 4.5]])
    HtmlAnalysis.createHtmlAnalysisFile(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page == HtmlAnalysis.create_html_analysis_string(found) and "<td" in page and ">4.5<" in page and "sample_stdev" in page
