"""The reader of large tables: the same bits as Python's ``float``, and nothing else than NumPy's reader accepts."""
from __future__ import annotations

import sys

import numpy as np
import pytest

from dl4py.samediff.data import CSVRecordReader, RecordReaderDataSetIterator
from dl4py.samediff.data.readers import arrow_csv
from dl4py.samediff.errors import FileFormatError


@pytest.fixture(params=["with pyarrow", "without"])
def read(request, tmp_path, monkeypatch):
    """Reads text, however short, by either reader."""
    if request.param == "without":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    else:
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(arrow_csv, "SMALL", 0)

    def reading(text: str | bytes, delimiter: str = ",", skip: int = 0):
        path = tmp_path / "numbers.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return CSVRecordReader(skip, delimiter).initialize(path).table()
    return reading


def bits(values) -> list[int]:
    return np.asarray(values, np.float64).reshape(-1).view(np.int64).tolist()


def finite(rng, count: int) -> list[float]:
    drawn = rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    return drawn[np.isfinite(drawn)].tolist()


FORMS = {
    "shortest": lambda rng: [repr(v) for v in finite(rng, 3000)],
    "19 digits": lambda rng: [f"{v:.18e}" for v in finite(rng, 3000)],
    "more digits": lambda rng: [f"{v:.25e}" for v in finite(rng, 3000)],
    "fixed": lambda rng: [f"{v:.20f}" for v in rng.standard_normal(3000)],
    "few digits": lambda rng: [f"{v:.{p}g}" for v, p in zip(rng.standard_normal(5000) * 1e3, rng.integers(1, 18, 5000))],
    "integers": lambda rng: rng.integers(-2**63, 2**63 - 1, 3000).astype(str).tolist(),
    "half way": lambda rng: [f"{2 * m + 1}e{e}" for m, e in zip(rng.integers(2**52, 2**53, 3000), rng.integers(-6, 25, 3000))],
    "exponents": lambda rng: [f"{m}E{e:+d}" for m, e in zip(rng.integers(-10**6, 10**6, 3000), rng.integers(-330, 304, 3000))],
    "corners": lambda rng: ["0", "-0", "-0.0", "+.5", "5.", "1e-400", "-1e400", "4.9e-324", "2.2250738585072011e-308", "inf", "-Infinity",
                            "1.7976931348623157e308", "9007199254740993", "00012", "1e0000000022", "123456789012345678901234567890",
                            "0.000000000000000000000000000001", "8.5e22", "1e23", "18446744073709551615", "18446744073709551616"],
}


@pytest.mark.parametrize("form", FORMS)
def test_the_bits_of_float(read, rng, form):
    texts = FORMS[form](rng)
    table = read("\n".join(texts))
    assert table.shape == (len(texts), 1)
    wrong = [(t, v) for t, v, a, b in zip(texts, table[:, 0], bits(table), bits([float(t) for t in texts])) if a != b]
    assert wrong == []


def test_nan(read):
    assert np.isnan(read("nan,NaN\n-nan,1\n")).tolist() == [[True, True], [True, False]]


@pytest.mark.parametrize(("text", "delimiter", "skip"), [
    ("1,2\n3,4\n", ",", 0), ("1,2\n3,4", ",", 0), ("1,2\r\n3,4\r\n", ",", 0), ("\n\r\n1,2\n\n\n3,4\n\n", ",", 0),
    (" 1 ,\t2\n3\t, 4 \n", ",", 0), ("1 2\n3 4\n", " ", 0), ("1\t2\n3\t4\n", "\t", 0), ("1;2\n3;4\n", ";", 0),
    ("a,b\n\n1,2\n3,4\n", ",", 1), ("a\r\nb\n1,2\n3,4", ",", 2),
])
def test_layouts(read, text, delimiter, skip):
    assert read(text, delimiter, skip).tolist() == [[1, 2], [3, 4]]


ODD = ["", "\n\n", "1,2\n3\n", "1,2\n3,4,5\n", "1,2\n3,\n", "1,2\n,4\n", "1,x\n", '"1",2\n', '"1,2",3\n', "1_0,2\n", "1,2 3\n",
       "1,2\r3,4\r", "1,0x10\n", "１,2\n".encode(), b"\xef\xbb\xbf1,2\n", b"1,2\x00\n", b"1,\xff\n", "1,2e\n", "1,--2\n", "1,.\n",
       "1,\n", "1,1e5e5\n", "x\ry\n1,2\n", "1,nan(1)\n", "1,NULL\n", "1,NA\n", "1,true\n", "1,1e999\n", "# 1,2\n3,4\n",
       "1,2 # 3\n", " \n1,2\n", "1,2\n \n", "1\n\n2\n", "+1,-.5\n", "1 , 2\n"]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("delimiter", [",", " ", ";", "1", "e", ".", "-", "é"])
@pytest.mark.parametrize("skip", [0, 1])
def test_one_reader_as_the_other(tmp_path, monkeypatch, delimiter, skip):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(arrow_csv, "SMALL", 0)
    path = tmp_path / "odd.csv"

    def outcome(text):
        path.write_bytes(text if isinstance(text, bytes) else text.replace(",", delimiter).encode())
        try:
            table = CSVRecordReader(skip, delimiter).initialize(path)
            return table.table().dtype.kind, repr(table.table().tolist()), table.numbers([0]).tolist()
        except FileFormatError as error:
            return str(error)
    fast = [outcome(text) for text in ODD]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert fast == [outcome(text) for text in ODD]


@pytest.mark.parametrize("size", [0, 1 << 40])
def test_large_files_as_small_ones(tmp_path, rng, monkeypatch, size):
    monkeypatch.setattr(arrow_csv, "SMALL", size)
    values = rng.standard_normal((4000, 4)).astype(np.float32)
    labels = rng.integers(0, 3, 4000)
    path = tmp_path / "large.csv"
    np.savetxt(path, np.column_stack([values, labels]), delimiter=",", header="a heading")
    reader = CSVRecordReader(1).initialize(path)
    np.testing.assert_array_equal(reader.table(), np.loadtxt(path, delimiter=",", skiprows=1))
    whole = RecordReaderDataSetIterator(reader, 4000, -1, 3).next()
    np.testing.assert_array_equal(whole.features, values)
    np.testing.assert_array_equal(whole.outcomes(), labels)
    assert whole.features.flags.c_contiguous


@pytest.mark.parametrize(("line", "message"), [
    ("1,oops,0", "line 4001, column 1: expected a number, got 'oops'"), ("1,2", "line 4001: 2 columns, the lines before have 3"),
    ("1,2,7", "line 4001, column 2: expected a class from 0 to 2, got 7"),
])
def test_errors_of_large_files_name_the_place(tmp_path, monkeypatch, line, message):
    monkeypatch.setattr(arrow_csv, "SMALL", 0)
    path = tmp_path / "large.csv"
    path.write_text("1.25000000,2.5000000,1\n" * 4000 + line + "\n")
    with pytest.raises(FileFormatError, match=message):
        RecordReaderDataSetIterator(CSVRecordReader().initialize(path), 10, 2, 3)
