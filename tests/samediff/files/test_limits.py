"""Limits of files from strangers: what lies at a limit is read, or fails for another reason; one more is refused for its size."""
from __future__ import annotations

import contextlib
import io
import struct
import zipfile

import numpy as np
import pytest

from dl4py.samediff.codecs.data_stream import DataInput
from dl4py.samediff.codecs.flatbuffers.sdnb import write_sdnb
from dl4py.samediff.codecs.nd4j_array import write_array
from dl4py.samediff.errors import DL4PyError, FileFormatError, LimitError, TruncatedFileError
from dl4py.samediff.files import any_graph
from dl4py.samediff.files.any_graph import read_any
from dl4py.samediff.files.multi_normalizers import read_hybrid, read_multi_min_max, read_multi_standardize, read_stats
from dl4py.samediff.graph.graph import SameDiff

LIMITS = any_graph.FlatLimits()


def source(*numbers, begin=b""):
    return DataInput(io.BytesIO(begin + b"".join(struct.pack(">i", n) for n in numbers)), "it")


# Normalizers

PARTS = 1 << 16


@pytest.mark.parametrize("read", [read_multi_standardize, read_multi_min_max])
@pytest.mark.parametrize(("inputs", "outputs", "text"), [
    (PARTS + 1, 0, "65537 inputs; expected 0 to 65536"), (-1, 0, "-1 inputs; expected 0 to 65536"),
    (1, PARTS + 1, "65537 outputs; expected -1 to 65536"), (1, -2, "-2 outputs; expected -1 to 65536"),
    (PARTS, 0, None), (PARTS, PARTS, None), (1, -1, None), (1, 0, None)])
def test_numbers_of_inputs_and_outputs(read, inputs, outputs, text):
    with pytest.raises(FileFormatError, match=text or "ends inside") as caught:
        read(source(inputs, outputs, begin=b"\1"))
    assert isinstance(caught.value, TruncatedFileError) == (text is None)


@pytest.mark.parametrize(("numbers", "text"), [
    ((PARTS + 1,), "65537 statistics of features; expected 0 to"), ((-1,), "-1 statistics of features"),
    ((0, PARTS + 1), "65537 statistics of labels"), ((1, 0, 3), "unknown kind of statistics 3; expected 1"),
    ((0, 0, 3), "unknown strategy 3; expected 0"), ((0, 0, -1), "unknown strategy -1"),
    ((0, 0, 0, 0, PARTS + 1), "65537 strategies of features"),
    ((0, 0, 0, 1, 0, -1), "-1 strategies of labels"), ((PARTS,), None), ((0, 0, 0, 0, PARTS), None), ((1, 0, 1), None), ((1, 0, 2), None)])
def test_numbers_of_statistics_and_strategies(numbers, text):
    with pytest.raises(FileFormatError, match=text or "ends inside"):
        read_hybrid(source(*numbers))


def test_nothing_is_a_normalizer_too():
    found = read_hybrid(source(0, 0, 0, 1, 0, 0))
    assert found.fitted and not found.stats["features"] and None not in found.strategies["features"]
    assert found.strategies["labels"].keys() == {None}


@pytest.mark.parametrize(("columns", "refused"), [(1 << 28, False), ((1 << 28) + 1, True)])
def test_columns_of_statistics(columns, refused):
    stream = io.BytesIO()
    write_array(stream, np.zeros((1, 3), np.float32))
    data = bytearray(stream.getvalue())
    at = data.find(struct.pack(">qqq", 2, 1, 3))
    data[at + 16:at + 24] = struct.pack(">q", columns)
    with pytest.raises(FileFormatError) as caught:
        read_stats(DataInput(io.BytesIO(bytes(data)), "it"))
    assert isinstance(caught.value, LimitError) == refused


def test_statistics_of_different_lengths():
    stream = io.BytesIO()
    for n in (3, 4):
        write_array(stream, np.zeros((1, n), np.float32))
    with pytest.raises(FileFormatError, match=r"two arrays of statistics of shapes \(1, 3\) and \(1, 4\)"):
        read_stats(DataInput(io.BytesIO(stream.getvalue()), "it"))


# Archives

def graph():
    sd, stream = SameDiff.create(), io.BytesIO()
    sd.constant("c", np.ones(2))
    write_sdnb(stream, sd.as_flat_graph())
    return stream.getvalue()


def archive(method=zipfile.ZIP_STORED, more=(), **entries):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as made:
        for name, data in (*entries.items(), *more):
            made.writestr(name, data)
    return stream.getvalue()


def claiming(data, name, size, packed):
    """The archive, whose directory gives other sizes for an entry."""
    changed = bytearray(data)
    at = data.find(b"PK\x01\x02")
    while data[at + 46:at + 46 + len(name)] != name:
        at = data.find(b"PK\x01\x02", at + 1)
    changed[at + 20:at + 28] = struct.pack("<II", packed, size)
    return bytes(changed)


def refused(data):
    """What is said of an archive as too large; None where that is not its fault."""
    with contextlib.suppress(DL4PyError):
        try:
            read_any(io.BytesIO(data), LIMITS)
        except LimitError as error:
            return str(error)
    return None


@pytest.mark.parametrize(("count", "text"), [(1000, None), (1001, "has 1001 entries, at most 1000")])
def test_entries_of_archives(count, text):
    found = refused(archive(more=[(f"n{i}", b"") for i in range(count - 1)], model=graph()))
    assert found is None if text is None else text in found


@pytest.mark.parametrize(("size", "packed", "fits"), [
    (16 << 20, 1, True), ((16 << 20) + 1, 1, False), (3_000_000_000, 30_000_000, True), (3_000_000_001, 30_000_000, False)])
def test_what_entries_claim_to_inflate_to(size, packed, fits):
    found = refused(claiming(archive(zipfile.ZIP_DEFLATED, model=graph(), notes=bytes(9)), b"notes", size, packed))
    assert (found is None) == fits and (fits or f"entry notes inflates from {packed} to {size} bytes" in found)


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_what_archives_claim_to_inflate_to(more, fits):
    whole = graph()
    data = archive(model=whole, a=b"a", b=b"b", c=b"c")
    left = (10 << 30) - len(whole)
    for name, size in ((b"a", 4_000_000_000), (b"b", 4_000_000_000), (b"c", left - 8_000_000_000 + more)):
        data = claiming(data, name, size, size)
    found = refused(data)
    assert (found is None) == fits and (fits or f"inflates to more than {10 << 30} bytes" in found)
