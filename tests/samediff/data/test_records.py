"""Readers, splits and label generators, one row each: what they read; and data sets of their records."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.samediff.data import (
    BalancedPathFilter,
    CollectionInputSplit,
    CollectionRecordReader,
    CollectionSequenceRecordReader,
    ComposableRecordReader,
    ConcatenatingRecordReader,
    Configuration,
    CSVLineSequenceRecordReader,
    CSVNLinesSequenceRecordReader,
    CSVRecordReader,
    CSVRecordWriter,
    CSVRegexRecordReader,
    CSVSequenceRecordReader,
    CSVVariableSlidingWindowRecordReader,
    DoubleWritable,
    FileRecordReader,
    FileSplit,
    InputStreamInputSplit,
    IntWritable,
    JavaRandom,
    LineRecordReader,
    ListStringRecordReader,
    ListStringSplit,
    NumberedFileInputSplit,
    NumberOfRecordsPartitioner,
    ParentPathLabelGenerator,
    PatternPathLabelGenerator,
    RandomPathFilter,
    RecordReader,
    RecordReaderDataSetIterator,
    RecordReaderMultiDataSetIterator,
    RegexLineRecordReader,
    RegexSequenceRecordReader,
    Schema,
    SequenceRecordReaderDataSetIterator,
    StringSplit,
    SVMLightRecordReader,
    Text,
    TransformProcess,
    TransformProcessRecordReader,
    TransformSplit,
)
from dl4py.samediff.errors import DL4PyError

LINES = "1,2,a\n3,4,b\n5,6,a\n"


def text(content: str = LINES) -> StringSplit:
    return StringSplit(content)


def svm_options() -> Configuration:
    options = Configuration()
    options.setInt(SVMLightRecordReader.NUM_FEATURES, 2)
    options.set(SVMLightRecordReader.APPEND_LABEL, "false")
    options.setBoolean(SVMLightRecordReader.ZERO_BASED_INDEXING, False)
    return options


#: A reader, and the records that it gives.
READ: dict[str, tuple[Any, Any]] = {
    "lines": (lambda: LineRecordReader(1).initialize(text()), [["3,4,b"], ["5,6,a"]]),
    "stream": (lambda: LineRecordReader().initialize(InputStreamInputSplit(Bytes(b"x\ny"))), [["x"], ["y"]]),
    "regex": (lambda: RegexLineRecordReader(r"(\d),(\d),(.)", 0).initialize(text()), [["1", "2", "a"], ["3", "4", "b"], ["5", "6", "a"]]),
    "svm": (lambda: SVMLightRecordReader(3).initialize(text("# all\n1 0:0.5 2:2\n0 qid:3 1:1 # no\n2")),
            [[0.5, 0, 2, 1], [0, 1, 0, 0], [0, 0, 0, 2]]),
    "svm, labels": (lambda: SVMLightRecordReader(2, 3).initialize(text("1,3 0:0.5\n 1:1")), [[0.5, 0, 1, 0, 1], [0, 1, 0, 0, 0]]),
    "svm, options": (lambda: SVMLightRecordReader().initialize(svm_options(), text("1 1:0.5 2:2")), [[0.5, 2]]),
    "collection": (lambda: CollectionRecordReader([(1, Text("a")), (2, "b")]), [[1, "a"], [2, "b"]]),
    "list of texts": (lambda: ListStringRecordReader().initialize(ListStringSplit([["1", "x"]])), [["1", "x"]]),
    "regexs": (lambda: CSVRegexRecordReader(0, ",", '"', [None, None, "(.)(.)"]).initialize(text("1,2,ab")), [["1", "2", "a", "b"]]),
    "side by side": (lambda: ComposableRecordReader(CollectionRecordReader([[1], [2]]), CollectionRecordReader([[3], [4]])),
                     [[1, 3], [2, 4]]),
    "one after the other": (lambda: ConcatenatingRecordReader(CollectionRecordReader([[1]]), CollectionRecordReader([[3]])), [[1], [3]]),
    "sequences": (lambda: CollectionSequenceRecordReader([[[1], [2]], [[3]]]), [[[1], [2]], [[3]]]),
    "a line, a sequence": (lambda: CSVLineSequenceRecordReader().initialize(text("1,2\n3,4")), [[["1"], ["2"]], [["3"], ["4"]]]),
    "lines, a sequence": (lambda: CSVNLinesSequenceRecordReader(2).initialize(text("1,2\n3,4\n5,6")),
                          [[["1", "2"], ["3", "4"]], [["5", "6"]]]),
    "windows": (lambda: CSVVariableSlidingWindowRecordReader(2).initialize(text("1\n2\n3")),
                [[["1"]], [["2"], ["1"]], [["3"], ["2"]], [["3"]]]),
    "tables": (lambda: CSVRecordReader(1).initialize(text("n\n007,1e3\n\n'x',\"a,b\",2")), [["007", "1e3"], ["'x'", "a,b", "2"]]),
    "no table": (lambda: CSVRecordReader(1).initialize(text("n")), []),
    "in Java's spelling": (lambda: Own(), [[1, 2], [3, 4]]),
}


class Bytes:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self) -> bytes:
        return self.data


class Own(RecordReader):
    at = 0

    def hasNext(self):
        return self.at < 2

    def next(self, num=None):
        self.at += 1
        return [2 * self.at - 1, 2 * self.at]

    def reset(self):
        self.at = 0


@pytest.mark.parametrize("name", READ)
def test_readers(name):
    made, wanted = READ[name]
    reader = made()
    assert list(reader) == wanted == list(reader)
    reader.reset()
    found = []
    while reader.hasNext():
        found.append(reader.next())
    assert found == wanted
    with pytest.raises(DL4PyError) if name != "in Java's spelling" else pytest.raises(AssertionError):
        assert reader.next() is None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for animal, count in (("bear", 2), ("deer", 4)):
        (tmp_path / animal).mkdir()
        for k in range(count):
            (tmp_path / animal / f"{animal}_{k}.txt").write_text(f"{k},{len(animal) + k}\n{k + 1},0\n")
    (tmp_path / "note.md").write_text("7")
    return tmp_path


def names(paths: Any) -> list[str]:
    return [Path(p).name for p in paths]


def test_splits(folder):
    assert names(FileSplit(folder, ["txt"]).locations()) == [f"{a}_{k}.txt" for a, n in (("bear", 2), ("deer", 4)) for k in range(n)]
    assert names(FileSplit(folder, None, False)) == ["note.md"] and FileSplit(str(folder), ["txt"]).length() == 6
    mixed = FileSplit(folder, ["txt"], JavaRandom(1))
    first = mixed.locations()
    assert first == mixed.locations() != FileSplit(folder, ["txt"]).locations() and sorted(first) == FileSplit(folder, ["txt"]).locations()
    mixed.reset()
    assert mixed.locations() != first
    assert names(NumberedFileInputSplit(f"{folder}/deer/deer_%d.txt", 1, 2)) == ["deer_1.txt", "deer_2.txt"]
    assert names(CollectionInputSplit([(folder / "note.md").as_uri()])) == ["note.md"]
    parts = FileSplit(folder, ["txt"]).sample(RandomPathFilter(JavaRandom(3), "txt"), 50, 50)
    assert [p.length() for p in parts] == [3, 3] and len({*parts[0].locations(), *parts[1].locations()}) == 6
    balanced = FileSplit(folder).sample(BalancedPathFilter(JavaRandom(3), ["txt"], ParentPathLabelGenerator()))[0].locations()
    assert [p.parent.name for p in balanced].count("bear") == 2 == [p.parent.name for p in balanced].count("deer")
    assert len(FileSplit(folder).sample(BalancedPathFilter(JavaRandom(3), ["txt"], ParentPathLabelGenerator(), 1))[0]) == 2
    assert PatternPathLabelGenerator("_", 1).getLabelForPath(folder / "deer" / "deer_2.txt") == "2"
    with pytest.raises(DL4PyError, match="once"):
        NumberedFileInputSplit("a.csv", 0, 1)
    with pytest.raises(FileNotFoundError, match="no such file"):
        CSVRecordReader().initialize(NumberedFileInputSplit(f"{folder}/no_%d", 0, 1))


def test_files(folder):
    assert list(FileRecordReader().initialize(folder / "note.md")) == [["7"]]
    split = NumberedFileInputSplit(f"{folder}/deer/deer_%d.txt", 0, 1)
    assert list(CSVSequenceRecordReader().initialize(split)) == [[["0", "4"], ["1", "0"]], [["1", "5"], ["2", "0"]]]
    assert list(RegexSequenceRecordReader("(.),(.)").initialize(split))[1] == [["1", "5"], ["2", "0"]]
    reader = CSVRecordReader(1).initialize(split)
    record = reader.nextRecord()
    assert record.getRecord() == ["1", "0"] and record.getMetaData().getLineNumber() == 2
    assert reader.loadFromMetaData([record.getMetaData()])[0].getRecord() == ["1", "0"]
    assert CSVRecordReader(0).initialize(split).next(3) == [["0", "4"], ["1", "0"], ["1", "5"]]


def test_data_sets_of_records():
    records = [[IntWritable(k), DoubleWritable(k / 2), Text(str(k % 2))] for k in range(4)]
    reader = CollectionRecordReader(records)
    table = RecordReaderDataSetIterator.Builder(reader, 4).classification(2, 2).collectMetaData(True).build().next()
    np.testing.assert_array_equal(table.features, [[0, 0], [1, 0.5], [2, 1], [3, 1.5]])
    np.testing.assert_array_equal(table.labels, np.eye(2)[[0, 1, 0, 1]])
    assert [place.record for place in table.example_meta_data] == [0, 1, 2, 3]
    numbers = RecordReaderDataSetIterator.Builder(CollectionRecordReader(records), 3).regression(1).max_num_batches(1).build()
    assert [batch.labels.tolist() for batch in numbers] == [[[0.0], [0.5], [1.0]]]
    series = SequenceRecordReaderDataSetIterator(CollectionSequenceRecordReader([[[1, 0], [2, 1]], [[3, 1]]]), 2, 2, 1).next()
    assert series.features.tolist() == [[[1, 2]], [[3, 0]]] and series.features_mask.tolist() == [[1, 1], [1, 0]]
    both = (RecordReaderMultiDataSetIterator.Builder(2).addReader("r", CollectionRecordReader(records)).addInput("r", 0, 1)
            .addOutputOneHot("r", 2, 2).build().next())
    assert both.features[0].tolist() == [[0, 0], [1, 0.5]] and both.labels[0].tolist() == [[1, 0], [0, 1]]
    with pytest.raises(DL4PyError, match="column 0: expected a number, got 'u'"):
        RecordReaderDataSetIterator(CollectionRecordReader([[1, 0], ["u", 1]]), 2, 1, 2)


def test_records_through_a_process():
    pytest.importorskip("pandas")
    schema = Schema.Builder().addColumnsDouble("x", "y").addColumnCategorical("kind", "a", "b").build()
    process = TransformProcess.Builder(schema).filter(Above("x", 4.0)).categoricalToInteger("kind").removeColumns("x").build()
    reader = TransformProcessRecordReader(CSVRecordReader(), process)
    reader.initialize(text())
    assert list(reader) == [[2, 0], [4, 1]]
    batch = RecordReaderDataSetIterator(reader, 2, 1, 2).next()
    assert batch.features.tolist() == [[2], [4]] and batch.labels.tolist() == [[1, 0], [0, 1]]


def Above(column: str, bound: float) -> Any:
    from dl4py.samediff.data import ConditionFilter, ConditionOp, DoubleColumnCondition
    return ConditionFilter(DoubleColumnCondition(column, ConditionOp.GreaterThan, bound))


def test_values_have_javas_methods(folder):
    reader = CSVRecordReader().initialize(StringSplit("1.5,a\n2,b"))
    first, second = reader.next(), reader.nextRecord().getRecord()
    assert (first[0].toInt(), first[0].toDouble(), str(first[1])) == (1, 1.5, "a")
    assert second[0] == 2 or second[0].toDouble() == 2
    assert list(CollectionRecordReader([[1, 0.5, "x", True, np.zeros(2)]]).next()[4].shape) == [2]
    assert [v.toDouble() for v in CollectionRecordReader([[1, 0.5, True]]).next()] == [1.0, 0.5, 1.0]


@pytest.mark.parametrize("kind", [LineRecordReader, CSVSequenceRecordReader])
def test_places_find_their_records_after_files_are_shuffled(kind, tmp_path):
    for k in range(6):
        (tmp_path / f"{k}.csv").write_text("".join(f"{k},{line}\n" for line in range(2)))
    reader = kind().initialize(FileSplit(tmp_path, None, JavaRandom(3)))
    before = []
    while reader.has_next():
        before.append(reader.next_record())
    places = [one.meta_data for one in before]
    for _ in range(3):
        reader.reset()
        assert reader.load_from_meta_data(places) == before and reader.load_from_meta_data(places[4]) == before[4]


def test_files_beside_those_of_another_split(folder):
    features = FileSplit(folder / "deer", ["txt"])
    beside = TransformSplit.ofSearchReplace(features, "deer_", "label_")
    assert names(beside.locations()) == [f"label_{k}.txt" for k in range(4)] and beside.length() == 4
    assert names(TransformSplit(features, lambda path: path.with_suffix(".csv"))) == [f"deer_{k}.csv" for k in range(4)]
    with pytest.raises(DL4PyError, match="function of paths"):
        TransformSplit(features, "csv")


def test_written_records_are_read_again(tmp_path):
    records = [[IntWritable(1), DoubleWritable(0.5), Text("a, b")], [2, 1.5, "c"]]
    with CSVRecordWriter() as writer:
        writer.initialize(FileSplit(tmp_path / "out.csv"), NumberOfRecordsPartitioner())
        writer.writeBatch(records)
    assert (tmp_path / "out.csv").read_text() == '1,0.5,"a, b"\n2,1.5,c\n'
    assert list(CSVRecordReader().initialize(tmp_path / "out.csv")) == [["1", "0.5", "a, b"], ["2", "1.5", "c"]]
    with pytest.raises(DL4PyError, match="initialize"):
        writer.write([1])
