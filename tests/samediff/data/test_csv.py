"""Tables from text, and data sets from them."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff.data import CSVRecordReader, FileSplit, NoMoreDataError, RecordReaderDataSetIterator
from dl4py.samediff.errors import ConfigurationError, FileFormatError, UnknownNameError

IRIS = Path(__file__).parents[3] / "examples" / "data" / "iris.csv"
SPECIES = ["setosa", "versicolor", "virginica"]


def reader(tmp_path, text: str, **options) -> CSVRecordReader:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    return CSVRecordReader(**options).initialize(path)


def test_iris():
    it = RecordReaderDataSetIterator(CSVRecordReader(1).initialize(IRIS), 50, -1, label_names=SPECIES)
    batches = list(it)
    assert [b.label_counts() for b in batches] == [{0: 50.0}, {1: 50.0}, {2: 50.0}]
    assert (it.input_columns(), it.total_outcomes(), it.get_labels()) == (4, 3, SPECIES)
    np.testing.assert_allclose(batches[0].features[0], [5.1, 3.5, 1.4, 0.2], rtol=1e-6)
    assert batches[0].features.dtype == batches[0].labels.dtype == np.float32


def test_numeric_classes_regression_and_no_label(tmp_path):
    text = "1,2,0\n3,4,2\n"
    classes = RecordReaderDataSetIterator(reader(tmp_path, text), 2, 2, 3).next()
    assert classes.labels.tolist() == [[1, 0, 0], [0, 0, 1]]
    values = RecordReaderDataSetIterator(reader(tmp_path, text), 2, 1, 2, True).next()
    assert (values.features.tolist(), values.labels.tolist()) == ([[1], [3]], [[2, 0], [4, 2]])
    unlabelled = RecordReaderDataSetIterator(reader(tmp_path, text), 2).next()
    np.testing.assert_array_equal(unlabelled.labels, unlabelled.features)


def test_quotes_delimiters_and_records(tmp_path):
    r = reader(tmp_path, "x;y\n'a;b';1\n\n'c';2\n", skip_num_lines=1, delimiter=";", quote="'")
    assert [r.next(), r.next()] == [["a;b", "1"], ["c", "2"]]
    with pytest.raises(NoMoreDataError):
        r.next()
    r.reset()
    assert r.has_next()


def test_several_files_in_the_order_of_their_names(tmp_path):
    for name, text in (("b.csv", "3,4\n"), ("a.csv", "1,2\n")):
        (tmp_path / name).write_text(text)
    assert CSVRecordReader().initialize(FileSplit(tmp_path)).table().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(("text", "message"), [
    ("1,2,0\n\n1,oops,0\n", r"table\.csv, line 3, column 1: expected a number, got 'oops'"),
    ("1,2,0\n1,2\n", r"table\.csv, line 2: 2 columns, the lines before have 3"),
    ("1,2,0\n1,2,3\n", r"table\.csv, line 2, column 2: expected a class from 0 to 2, got 3"),
    ("1,2,0.5\n", r"line 1, column 2: expected a class from 0 to 2, got 0\.5"),
    ("", "no records"),
])
def test_errors_name_the_place(tmp_path, text, message):
    with pytest.raises(FileFormatError, match=message):
        RecordReaderDataSetIterator(reader(tmp_path, text), 2, 2, 3)


def test_wrong_options(tmp_path):
    with pytest.raises(ConfigurationError, match="initialize"):
        CSVRecordReader().next()
    with pytest.raises(FileNotFoundError):
        CSVRecordReader().initialize(tmp_path / "missing.csv")
    with pytest.raises(ConfigurationError, match="3 columns"):
        RecordReaderDataSetIterator(reader(tmp_path, "1,2,3\n"), 1, 3, 2)
    with pytest.raises(ConfigurationError, match="num_possible_labels"):
        RecordReaderDataSetIterator(reader(tmp_path, "1,2,3\n"), 1, 2)
    with pytest.raises(UnknownNameError, match="did you mean 'cat'"):
        RecordReaderDataSetIterator(reader(tmp_path, "1,car\n"), 1, 1, label_names=["cat", "dog"])


@pytest.mark.parametrize("text", [b"1,2\n\xff,3\n", b"a,\xe4\nb,c\n", b'a,"' + b"x" * 200_000 + b'"\n', b"a,b\nc,\xc3"])
def test_what_is_no_text_is_a_typed_error(text, tmp_path):
    (tmp_path / "t.csv").write_bytes(text)
    with pytest.raises(FileFormatError, match=r"t\.csv: no table of UTF-8 text behind line"):
        CSVRecordReader().initialize(tmp_path / "t.csv").table()
