"""Where records came from, and readers of users."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataSet
from dl4py.samediff.data import CSVRecordReader, RecordMetaDataLine, RecordReaderDataSetIterator
from dl4py.samediff.errors import ConfigurationError, FileFormatError
from dl4py.samediff.evaluation import Evaluation

ROWS = np.array([[k, k % 3, k % 2] for k in range(6)], float)


class Records:
    """A reader in Java's spelling."""

    def __init__(self, rows=None):
        self.rows, self.k = ROWS.tolist() if rows is None else rows, 3

    def hasNext(self):
        return self.k < len(self.rows)

    def next(self):
        self.k += 1
        return self.rows[self.k - 1]

    def reset(self):
        self.k = 0


@pytest.fixture
def reader(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n\n" + "\n".join(",".join(map(str, row)) for row in ROWS))
    return CSVRecordReader(1).initialize(path)


def test_examples_say_their_line_and_come_back(reader):
    iterator = RecordReaderDataSetIterator(reader, 4, 2, 2)
    assert not iterator.isCollectMetaData()
    assert iterator.next().getExampleMetaData() is None
    iterator.reset()
    iterator.setCollectMetaData(True)
    assert iterator.isCollectMetaData()
    first, second = iterator
    assert [one.getLineNumber() for one in second.getExampleMetaData()] == [7, 8]
    assert first.getExampleMetaData()[0].getLocation().endswith("rows.csv:3")
    again = iterator.loadFromMetaData([second.getExampleMetaData()[1], first.getExampleMetaData()[0]])
    np.testing.assert_array_equal(again.getFeatures(), ROWS[[5, 0], :2])
    assert [[*map(float, one.getRecord())] for one in reader.loadFromMetaData(second.getExampleMetaData())] == ROWS[4:].tolist()
    assert [*map(float, reader.loadFromMetaData(first.getExampleMetaData()[0]).getRecord())] == ROWS[0].tolist()
    iterator.setPreProcessor(type("Twice", (), {"preProcess": lambda self, data: data.setFeatures(data.getFeatures() * 2)})())
    np.testing.assert_array_equal(iterator.loadFromMetaData(again.getExampleMetaData()).getFeatures(), 2 * ROWS[[5, 0], :2])
    found = Evaluation()
    found.eval(first.getLabels(), first.getLabels()[::-1].copy(), first.getExampleMetaData())
    assert all(isinstance(p.getRecordMetaData(), RecordMetaDataLine) for p in found.getPredictionErrors())


def test_readers_of_users():
    iterator = RecordReaderDataSetIterator(Records(), 4, 2, 2)
    wanted = DataSet(ROWS[:, :2], np.eye(2)[ROWS[:, 2].astype(int)])
    np.testing.assert_array_equal(np.concatenate([d.getFeatures() for d in iterator]), wanted.getFeatures())
    np.testing.assert_array_equal(np.concatenate([d.getLabels() for d in iterator]), wanted.getLabels())
    iterator.setCollectMetaData(True)
    iterator.reset()
    assert iterator.next().getExampleMetaData()[2].getLocation() == "Records:2"


def test_readers_that_are_none_and_records_that_do_not_fit():
    for rows, said in (([], "has no records"), ([[1, 2], [3]], "record 1 has 1 values"), ([[1, "a"]], "expected a number, got 'a'"),
                       ([[0, 5]], "Records, record 0, column 1: expected a class")):
        with pytest.raises(FileFormatError, match=said):
            RecordReaderDataSetIterator(Records(rows), 1, 1, 2)
    with pytest.raises(ConfigurationError, match="hasNext in Java's spelling"):
        RecordReaderDataSetIterator(3, 1)
