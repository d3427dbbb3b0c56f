"""Data sets in files."""
from __future__ import annotations

import io
import struct

import numpy as np
import pytest

from dl4py.samediff.codecs.data_stream import DataInput
from dl4py.samediff.codecs.java_strings import _ARRAY_LIST, _AS_LIST, read_string_list
from dl4py.samediff.data import DataSet, FileDataSetIterator, FileMultiDataSetIterator, MultiDataSet
from dl4py.samediff.errors import FileFormatError

X, Y = np.arange(12, dtype=np.float32).reshape(2, 2, 3), np.ones((2, 1, 3))


@pytest.mark.parametrize("parts", [(X, Y), (X,), (X, X), (X, Y, np.ones((2, 3)), np.zeros((2, 3)))])
def test_data_set_round_trip(parts, tmp_path):
    data, path = DataSet(*parts), tmp_path / "data.bin"
    data.save(path)
    again = DataSet([[1.0]])
    again.load(path)
    assert again == data


def test_multi_data_set_round_trip():
    data, stream, again = MultiDataSet([X, Y], [Y], [None, np.ones((2, 3))]), io.BytesIO(), MultiDataSet()
    data.save(stream)
    stream.seek(0)
    again.load(stream)
    assert again == data


def test_a_failed_load_changes_nothing():
    data = DataSet(X, Y)
    with pytest.raises(FileFormatError):
        data.load(io.BytesIO(b"\xff"))
    assert data == DataSet(X, Y)


def listed(*strings: bytes) -> bytes:
    return b"".join(b"t" + struct.pack(">H", len(s)) + s for s in strings)


def test_lists_of_text_from_java():
    assert read_string_list(DataInput(io.BytesIO(_AS_LIST + struct.pack(">i", 2) + listed(b"a", b"bc")))) == ["a", "bc"]
    again = b"q" + struct.pack(">i", 0x7E0002)
    repeated = _ARRAY_LIST + struct.pack(">i", 2) + b"w\x04\0\0\0\2" + listed(b"a") + again + b"x"
    assert read_string_list(DataInput(io.BytesIO(repeated))) == ["a", "a"]
    assert read_string_list(DataInput(io.BytesIO(_AS_LIST[:20] + b"?" * 200))) is None
    assert read_string_list(DataInput(io.BytesIO(b"\xac\xed\0\x05sr" + b"?" * 200))) is None


def test_label_names_and_metadata_written_by_java():
    stream, data = io.BytesIO(), DataSet()
    DataSet(X, Y).save(stream)
    texts = [_AS_LIST + struct.pack(">i", 2) + listed(*pair) for pair in ((b"m0", b"m1"), (b"cat", b"dog"))]
    data.load(io.BytesIO(bytes([1 + 2 + 32 + 64]) + stream.getvalue()[1:] + b"".join(texts)))
    assert (data.example_meta_data, data.get_label_names_list()) == (["m0", "m1"], ["cat", "dog"])


def test_files_as_batches(tmp_path):
    for i, data in enumerate(DataSet(X, Y).as_list()):
        data.save(tmp_path / f"{i}.bin")
    it = FileDataSetIterator(tmp_path)
    assert [b.features[0, 0, 0] for b in it] == [0, 6]
    assert [b.features[0, 0, 0] for b in it] == [0, 6]
    MultiDataSet([X], [Y]).save(tmp_path / "0.bin")
    assert FileMultiDataSetIterator(tmp_path / "0.bin").next() == MultiDataSet([X], [Y])
    with pytest.raises(FileNotFoundError):
        FileDataSetIterator([tmp_path / "missing.bin"])
