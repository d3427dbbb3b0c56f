"""Arrays in buffers and files of ``BinarySerde``, compared with what DL4J 1.0.0-M2.1 wrote."""
from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from dl4py import BinarySerde, Nd4j
from dl4py.samediff import DataType
from dl4py.samediff.errors import DL4PyError, FileFormatError, LimitError, TruncatedFileError

ROWS = json.loads((Path(__file__).resolve().parents[2] / "golden" / "serde" / "arrays.json").read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_what_dl4j_writes(row, tmp_path):
    content, path = bytes.fromhex(row["bytes"]), tmp_path / "array.bin"
    path.write_bytes(content)
    for found in (BinarySerde.to_array(content), BinarySerde.toArray(b"ab" + content, 2), BinarySerde.read_from_disk(path)):
        assert DataType.of(found).name == row["type"] and list(found.shape) == row["shape"]
        np.testing.assert_array_equal(found.astype(float).ravel(), row["values"])
    assert BinarySerde.readShapeFromDisk(path) == row["shape_info"]
    if "columns first" not in row["name"] or min(row["shape"]) > 1:      # NumPy's vectors have both orders
        assert BinarySerde.to_byte_buffer(found) == content


@pytest.mark.parametrize("dtype", [t for t in DataType if t.is_numeric], ids=lambda t: t.name)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 4), (4, 1), (2, 3, 4), (0, 3)], ids=str)
def test_round_trips(shape, dtype, rng, tmp_path):
    array = (rng.random(shape) * 50).astype(dtype.numpy)
    for given in (array, array.T, np.asfortranarray(array), array[..., ::-1] if shape else array, array[::2] if shape else array):
        BinarySerde.write_array_to_disk(given, tmp_path / "a")
        found = BinarySerde.read_from_disk(tmp_path / "a")
        assert found.dtype == given.dtype
        np.testing.assert_array_equal(found, given)


def test_what_is_no_array(tmp_path):
    good = BinarySerde.to_byte_buffer(np.ones((2, 3), np.float32))
    for end in range(len(good)):
        with pytest.raises(TruncatedFileError):
            BinarySerde.to_array(good[:end])
    for at, form, number, text in [
            (0, "<i", -1, "rank -1"), (0, "<i", 33, "rank 33"), (8, "<q", 3, "rank 3 in an"), (4, "<i", 9, "type 9"),
            (4, "<i", 0, "type bits"), (16, "<q", -2, "negative"), (16, "<q", 1 << 40, "elements"),
            (32, "<q", 9, "strides"), (64, "<q", 1, "order")]:
        with pytest.raises(LimitError if text == "elements" else FileFormatError, match=text):
            BinarySerde.to_array(good[:at] + struct.pack(form, number) + good[at + struct.calcsize(form):])
    with pytest.raises(DL4PyError, match="UTF8"):
        BinarySerde.to_byte_buffer(Nd4j.create(["a", "b"]))
    BinarySerde.write_array_to_disk(np.ones(2), tmp_path / "kept")
    with pytest.raises(DL4PyError):
        BinarySerde.write_array_to_disk(np.array(["a"]), tmp_path / "kept")
    assert BinarySerde.read_from_disk(tmp_path / "kept").tolist() == [1, 1]
