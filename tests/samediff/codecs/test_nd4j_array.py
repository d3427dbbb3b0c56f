"""ND4J's array files: every type and layout as recorded, byte for byte back; damaged ones give typed errors."""
from __future__ import annotations

import io
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.codecs.data_stream import DataInput, DataOutput
from dl4py.samediff.errors import FileFormatError, LimitError, TruncatedFileError
from dl4py.samediff.files import Nd4j, read_array, write_array

RECORDED = Path(__file__).parents[2] / "golden" / "files"
CASES = [a for a in json.loads((RECORDED / "arrays" / "case.json").read_text())["arrays"]
         if a["file"] not in ("empty_0.bin", "utf8.bin")]


def written(array, order="c"):
    stream = io.BytesIO()
    write_array(stream, array, order)
    return stream.getvalue()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["file"])
def test_recorded_array(case):
    path = RECORDED / "arrays" / case["file"]
    got = Nd4j.read_binary(path)
    assert got.dtype == DataType[case["type"]].numpy and list(got.shape) == case["shape"] and got.dtype.isnative
    if case.get("values_c_order") is not None:
        np.testing.assert_array_equal(got.astype(float).ravel(), [float(v) for v in case["values_c_order"]])
    assert written(got, "k") == path.read_bytes()


@pytest.mark.parametrize("name", ["GZIP", "NOOP"])
def test_compressed_array(name):
    with np.load(RECORDED / "compressed" / "arrays.npz") as arrays:
        want = arrays[f"compressed_{name}.values"]
    np.testing.assert_array_equal(Nd4j.read_binary(RECORDED / "compressed" / f"compressed_{name}.array"), want)


@pytest.mark.parametrize("order", ["c", "f", "k"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (1, 4), (4, 1), (2, 3, 4), (0, 3), (1, 1, 2, 1)])
def test_round_trip(shape, order):
    x = np.random.default_rng(0).normal(size=shape)
    for array in (x, x.T, x[..., ::2] if shape else x, x.astype(">f4")):
        got = read_array(io.BytesIO(written(array, order)))
        np.testing.assert_array_equal(got, array)
        assert got.flags.writeable


@pytest.mark.parametrize(("mode", "number", "kind"), [
    ("JAVACPP", ">i", "INT"), ("HEAP", ">i", "INT"), ("JAVACPP", ">q", "INT"), ("LONG_SHAPE", ">q", "LONG")])
def test_old_headers(mode, number, kind):
    out = io.BytesIO()
    data = DataOutput(out)
    data.write_utf(mode)
    out.write(struct.pack(number, 8))
    data.write_utf(kind)
    out.write(struct.pack(">8i" if kind == "INT" else ">8q", 2, 2, 1, 1, 2, 0, 1, 99))
    data.write_utf(mode)
    out.write(struct.pack(number, 2))
    data.write_utf("DOUBLE")
    out.write(struct.pack(">2d", 1.5, -2.5))
    np.testing.assert_array_equal(read_array(io.BytesIO(out.getvalue())), [[1.5], [-2.5]])


GOOD = written(np.arange(6, dtype=np.float32).reshape(2, 3))


def changed(at, value):
    return GOOD[:at] + value + GOOD[at + len(value):]


def number(index, value):      # of the shape buffer
    return changed(18 + 8 + 6 + 8 * index, struct.pack(">q", value))


@pytest.mark.parametrize("length", range(0, len(GOOD), 7))
def test_every_cut_is_truncated(length):
    with pytest.raises(TruncatedFileError, match="ends inside"):
        read_array(io.BytesIO(GOOD[:length]))


@pytest.mark.parametrize(("data", "error", "text"), [
    (changed(2, b"MAPPED_DATA_TYPE"), FileFormatError, "unknown allocation mode"),
    (changed(18, struct.pack(">q", -1)), FileFormatError, "-1 elements"),
    (changed(18, struct.pack(">q", 1 << 40)), FileFormatError, "shape buffer of"),
    (number(0, 3), FileFormatError, "for rank 3"),
    (number(1, -2), FileFormatError, "negative dimensions"),
    (number(1, 1 << 40), LimitError, "at most"),
    (number(1, 1 << 20), FileFormatError, "the data buffer states 6"),
    (number(3, 300), FileFormatError, "reach element"),
    (number(4, -1), FileFormatError, "negative dimensions or strides"),
    (number(5, 16384), FileFormatError, "type bits"),
    (number(7, 100), FileFormatError, "order"),
    (GOOD.replace(b"FLOAT", b"FLOOT"), FileFormatError, "did you mean 'FLOAT'"),
    (b"\xff\xff" + GOOD[2:], LimitError, "at most 64"),
])
def test_bad_header(data, error, text):
    with pytest.raises(error, match=text):
        read_array(io.BytesIO(data))


def test_limit_and_huge_length_take_no_memory():
    with pytest.raises(LimitError, match="at most 5"):
        read_array(io.BytesIO(GOOD), max_elements=5)
    lie = bytearray(written(np.zeros(0, np.float32)))
    lie[-15:-7] = struct.pack(">q", 1 << 30)
    struct.pack_into(">5q", lie, 18 + 8 + 6, 1, 1 << 30, 1, 8192, 1)
    with pytest.raises(TruncatedFileError, match="1073741824 elements"):
        read_array(io.BytesIO(bytes(lie)))


def test_text_and_unknown_order_are_refused():
    with pytest.raises(FileFormatError, match="UTF8"):
        write_array(io.BytesIO(), np.array(["a"]))
    with pytest.raises(FileFormatError, match="order"):
        write_array(io.BytesIO(), np.zeros(2), "x")
    with pytest.raises(FileFormatError, match="UTF8"):
        Nd4j.read_binary(RECORDED / "arrays" / "utf8.bin")


def test_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.bin"
    Nd4j.save_binary(np.arange(3), path)
    with pytest.raises(FileFormatError):
        Nd4j.save_binary(np.array(["text"]), path)
    np.testing.assert_array_equal(Nd4j.read_binary(path), np.arange(3))
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


@pytest.mark.parametrize("text", ["", "plain", "nul\0inside", "ümlaut €", "beyond 😀 plane"])
def test_java_text_round_trip(text):
    out = io.BytesIO()
    DataOutput(out).write_utf(text)
    assert b"\0nul" not in out.getvalue() and DataInput(io.BytesIO(out.getvalue())).read_utf() == text


@pytest.mark.parametrize("order", ["C", "F"])
def test_streams_and_files_keep_values_and_order(order, tmp_path):
    array = np.asarray(np.arange(6.0).reshape(2, 3), order=order)
    stream = io.BytesIO()
    Nd4j.write(array, stream)
    Nd4j.save_binary(array, tmp_path / "a.bin")
    assert stream.getvalue() == (tmp_path / "a.bin").read_bytes()
    stream.seek(0)
    for found in (Nd4j.read(stream), Nd4j.read_binary(tmp_path / "a.bin"), Nd4j.read_binary(str(tmp_path / "a.bin"))):
        np.testing.assert_array_equal(found, array)
        assert found.flags.c_contiguous == (order == "C")
