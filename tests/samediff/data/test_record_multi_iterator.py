"""Multi data sets from several readers; the arrays were recorded from DL4J 1.0.0-M2.1."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.data import AlignmentMode, CSVRecordReader, CSVSequenceRecordReader, RecordReaderMultiDataSetIterator
from dl4py.samediff.errors import ConfigurationError, FileFormatError, UnknownNameError


def series(folder, lengths, row):
    folder.mkdir()
    for i, length in enumerate(lengths):
        (folder / f"{i}.csv").write_text("".join(row(i, t) for t in range(length)))
    return CSVSequenceRecordReader().initialize(folder)


@pytest.fixture
def readers(tmp_path):
    (tmp_path / "rows.csv").write_text("1,2,0\n3,4,1\n5,6,2\n")
    return (series(tmp_path / "f", (5, 7, 3), lambda i, t: f"{10 * i + t},{t}\n"),
            series(tmp_path / "l", (2, 1, 3), lambda _, t: f"{t % 2}\n"), CSVRecordReader().initialize(tmp_path / "rows.csv"))


def builder(readers, batch=3):
    f, labels, rows = readers
    return (RecordReaderMultiDataSetIterator.Builder(batch).addSequenceReader("f", f).add_sequence_reader("l", labels).add_reader("r", rows)
            .add_input("f").add_input("r", 0, 1).add_input_one_hot("r", 2, 3).add_output_one_hot("l", 0, 2).add_output("r"))


LABELS = {
    AlignmentMode.ALIGN_START: ([[0, 1], [0], [0, 1, 0]], [0, 0, 0]),
    AlignmentMode.ALIGN_END: ([[0, 1], [0], [0, 1, 0]], [3, 6, 0]),
}


@pytest.mark.parametrize("mode", LABELS)
def test_as_dl4j(readers, mode):
    batch = builder(readers).sequence_alignment_mode(mode).build().next()
    x, rows, hot = batch.features
    assert x[1].tolist() == [[10, 11, 12, 13, 14, 15, 16], [0, 1, 2, 3, 4, 5, 6]] and x[2, 0].tolist() == [20, 21, 22, 0, 0, 0, 0]
    assert rows.tolist() == [[1, 2], [3, 4], [5, 6]] and hot.tolist() == np.eye(3).tolist() and x.dtype == np.float32
    assert batch.features_masks[0].tolist() == [[1] * 5 + [0] * 2, [1] * 7, [1] * 3 + [0] * 4]
    assert batch.features_masks[1:] == [None, None] and batch.labels_masks[1] is None
    expected, mask = np.zeros((3, 2, 7)), np.zeros((3, 7))
    for i, (classes, start) in enumerate(zip(*LABELS[mode])):
        for t, c in enumerate(classes):
            expected[i, c, start + t] = mask[i, start + t] = 1
    assert batch.labels[0].tolist() == expected.tolist() and batch.labels_masks[0].tolist() == mask.tolist()
    assert batch.labels[1].tolist() == [[1, 2, 0], [3, 4, 1], [5, 6, 2]]


def test_batches_and_reset(readers):
    it = builder(readers, 2).build()
    assert [b.num_examples() for b in it] == [2, 1] == [b.num_examples() for b in it] and it.batch() == 2
    it.reset()
    assert [it.next(1).num_examples(), it.next().num_examples(), it.has_next()] == [1, 2, False]


def test_random_offsets_move_whole_examples(readers):
    it = builder(readers).time_series_random_offset(True, 3).build()
    one, again = it.next(), next(iter(it))
    assert one == again
    for i, length in enumerate((5, 7, 3)):
        start = int(one.features_masks[0][i].argmax())
        assert one.features_masks[0][i].tolist() == [0] * start + [1] * length + [0] * (7 - start - length)
        assert one.features[0][i, 1, start:start + length].tolist() == list(range(length))
        assert one.labels_masks[0][i].argmax() == start
    assert any(int(one.features_masks[0][i].argmax()) for i in (0, 2))


def test_mistakes(readers):
    f, _, rows = readers
    make = RecordReaderMultiDataSetIterator.Builder
    with pytest.raises(ConfigurationError, match="needs a reader"):
        make(1).build()
    with pytest.raises(ConfigurationError, match="needs an input or an output"):
        make(1).add_reader("r", rows).build()
    with pytest.raises(ConfigurationError, match="a reader 'r' already"):
        make(1).add_reader("r", rows).add_sequence_reader("r", f)
    with pytest.raises(UnknownNameError, match="no reader 's'"):
        make(1).add_reader("r", rows).add_input("s").build()
    with pytest.raises(ConfigurationError, match="columns 2 to 3 of reader 'r', which has 3"):
        make(1).add_reader("r", rows).add_input("r", 2, 3).build().next()
    with pytest.raises(FileFormatError, match="rows.csv, line 1, column 2: expected a class from 0 to 1, got 2"):
        make(3).add_reader("r", rows).add_output_one_hot("r", 2, 2).build().next()
    with pytest.raises(FileFormatError, match="ALIGN_START"):
        builder(readers).sequence_alignment_mode(AlignmentMode.EQUAL_LENGTH).build().next()
