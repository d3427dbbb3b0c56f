"""Time series from files."""
from __future__ import annotations

import pytest

from dl4py.samediff.data import AlignmentMode, CSVSequenceRecordReader, SequenceRecordReaderDataSetIterator
from dl4py.samediff.errors import ConfigurationError, FileFormatError


def reader(folder, *texts: str) -> CSVSequenceRecordReader:
    folder.mkdir(exist_ok=True)
    for i, text in enumerate(texts):
        (folder / f"{i}.csv").write_text(text)
    return CSVSequenceRecordReader().initialize(folder)


def test_one_reader_pads_and_masks(tmp_path):
    it = SequenceRecordReaderDataSetIterator(reader(tmp_path, "1,0\n2,1\n", "3,2\n"), 2, 3, 1)
    batch = it.next()
    assert batch.features.tolist() == [[[1, 2]], [[3, 0]]]
    assert batch.labels.argmax(axis=1).tolist() == [[0, 1], [2, 0]]
    assert batch.features_mask.tolist() == batch.labels_mask.tolist() == [[1, 1], [1, 0]]
    assert (it.input_columns(), it.total_outcomes(), it.has_next()) == (1, 3, False)


def test_regression_keeps_the_values(tmp_path):
    batch = SequenceRecordReaderDataSetIterator(reader(tmp_path, "1,0.5\n2,1.5\n"), 1, -1, 1, True).next()
    assert (batch.labels.tolist(), batch.features_mask) == ([[[0.5, 1.5]]], None)


def test_two_readers_and_alignment(tmp_path):
    x, y = reader(tmp_path / "x", "1\n2\n3\n", "4\n"), reader(tmp_path / "y", "1\n", "0\n")
    batch = SequenceRecordReaderDataSetIterator(x, y, 2, 2, alignment_mode=AlignmentMode.ALIGN_END).next()
    assert batch.features.tolist() == [[[1, 2, 3]], [[4, 0, 0]]]      # the ends of an example meet, as in DL4J
    assert batch.labels_mask.tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.raises(FileFormatError, match="ALIGN_START"):
        SequenceRecordReaderDataSetIterator(x, y, 2, 2).next()


def test_errors(tmp_path):
    it = SequenceRecordReaderDataSetIterator(reader(tmp_path, "1,0\n2,5\n"), 2, 3, 1)
    with pytest.raises(FileFormatError, match=r"0\.csv, line 2: expected one class from 0 to 2, got \[5\.0\]"):
        it.next()
    with pytest.raises(ConfigurationError, match="expected"):
        SequenceRecordReaderDataSetIterator(reader(tmp_path), 2, 3)
