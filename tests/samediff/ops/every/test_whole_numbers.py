"""Whole numbers at their edges: divided by 0, the smallest over -1, negative powers, long shifts; fused and by array code."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff

TYPES = [DataType.BYTE, DataType.SHORT, DataType.INT, DataType.LONG, DataType.UBYTE, DataType.UINT16, DataType.UINT32, DataType.UINT64]


def truncated(x: int, y: int) -> int:
    return 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def shifted(x: int, by: int, bits: int) -> int:
    return x << by if 0 <= by < bits else 0


def shifted_right(x: int, by: int, bits: int) -> int:
    return x >> by if 0 <= by < bits else -(x < 0)


def power(x: int, y: int) -> int:
    return x ** y if y >= 0 else truncated(1, x ** -y)


def wrapped(values: list[int], dtype: Any) -> Any:
    info = np.iinfo(dtype)
    return np.array([(v - int(info.min)) % (int(info.max) - int(info.min) + 1) + int(info.min) for v in values], dtype)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("executor", ["plan", "reference"])
@pytest.mark.parametrize("kind", TYPES, ids=[t.name for t in TYPES])
def test_edges(kind: DataType, executor: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    dtype: Any = kind.numpy
    info, bits = np.iinfo(dtype), 8 * dtype.itemsize
    signed = info.min < 0
    given = np.array([info.min, info.min, info.max, info.max - 2, 0, 1, 7], dtype)
    x = np.concatenate([given, rng.integers(info.min, info.max, 20, dtype, True)])
    y = np.resize(np.array([-1 if signed else 1, 3, 1, 0, 0, 2, 0, info.max, *([-3, info.min] if signed else [])], dtype), x.shape)
    by = np.resize(np.array([1, 0, bits - 1, bits, bits + 1, 63, 64, 100, *([-1, info.min] if signed else [])], dtype), x.shape)
    sd = SameDiff.create()
    a, b, c = (sd.placeholder(n, kind, -1) for n in "abc")
    pairs, shifts = list(zip(x.tolist(), y.tolist())), list(zip(x.tolist(), by.tolist()))
    expected = {
        a / b: [truncated(i, j) for i, j in pairs], a.rdiv(b): [truncated(j, i) for i, j in pairs], a / 0: [0] * len(x),
        sd.math.floor_div(a, b): [truncated(i, j) for i, j in pairs], sd.op("truncatediv", a, b): [truncated(i, j) for i, j in pairs],
        sd.math.div_no_nan(a, b): [truncated(i, j) for i, j in pairs], a // b: [i // j if j else 0 for i, j in pairs],
        a % b: [i % j if j else 0 for i, j in pairs], sd.math.mod(a, b): [i - j * truncated(i, j) if j else 0 for i, j in pairs],
        a % 0: [0] * len(x), sd.math.rdiv(a, 1): [truncated(1, i) for i, _ in pairs],
        sd.math.pow(a, 2): [i * i for i, _ in pairs], sd.math.pow(a, b % 7): [i ** (j % 7) for i, j in pairs],
        sd.bitwise.left_shift(a, c): [shifted(i, j, bits) for i, j in shifts],
        sd.bitwise.right_shift(a, c): [shifted_right(i, j, bits) for i, j in shifts],
        (a / b + a) * (a % b): [(truncated(i, j) + i) * (i % j if j else 0) for i, j in pairs],
    }
    if signed:
        expected |= {sd.math.pow(a, -1): [power(i, -1) for i, _ in pairs], a / -1: [-i for i, _ in pairs],
                     sd.math.pow(a, b % -3): [power(i, j % -3 if j else 0) for i, j in pairs]}
    found = sd.output({"a": x, "b": y, "c": by}, *(v.name() for v in expected))
    for v, values in expected.items():
        np.testing.assert_array_equal(found[v.name()], wrapped(values, dtype), v.name())


@pytest.mark.slow
def test_small_whole_numbers_are_not_worked_with_in_half_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    for executor in ("plan", "reference"):
        monkeypatch.setenv("DL4PY_EXECUTOR", executor)
        for dtype in (np.int8, np.uint8, np.int16):
            sd = SameDiff.create()
            x = sd.placeholder("x", DataType.of(np.dtype(dtype)), -1)
            y = [sd.math.sqrt(x), sd.math.atan2(x, x), sd.math.reciprocal(x)]
            given = np.array([99, 3, 7], dtype)
            root, angle, inverse = (sd.output({"x": given}, v)[v.name()] for v in y)
            np.testing.assert_allclose(root, np.sqrt(given.astype(np.float64)), 1e-6)
            np.testing.assert_allclose(angle, np.pi / 4, 1e-6)
            np.testing.assert_allclose(inverse, np.ones(3, inverse.dtype) / given if inverse.dtype.kind == "f" else 0, 1e-6)


N = 2**53 + 1
#: Ops of a vector of whole numbers that come by means or products, by name: call on (graph, x, segments), values of x, what comes out.
ON_THE_WAY: dict[str, Any] = {
    "rint": (lambda sd, x, ids: sd.math.rint(x), DataType.LONG, [N, -N, 3], [N, -N, 3]),
    "mergeAvg of one": (lambda sd, x, ids: sd.math.merge_avg(x), DataType.LONG, [N, -N, 3], [N, -N, 3]),
    "mergeAvg": (lambda sd, x, ids: sd.math.merge_avg(x, x, x - 1), DataType.UBYTE, [255, 200, 3], [254, 199, 2]),
    "segmentMean": (lambda sd, x, ids: sd.math.segment_mean(x, ids), DataType.UBYTE, [200, 255, 3], [227, 3]),
    "unsortedSegmentMean": (lambda sd, x, ids: sd.math.unsorted_segment_mean(x, ids, 2), DataType.INT,
                            [2**31 - 1, 2**31 - 3, -8], [2**31 - 2, -8]),
    "exact mean": (lambda sd, x, ids: sd.math.segment_mean(x, ids), DataType.LONG, [N, N, -3], [N, -3]),
    "sqrtN": (lambda sd, x, ids: sd.math.unsorted_segment_sqrt_n(x, ids, 2), DataType.UBYTE, [100, 156, 9], [181, 9]),
    "dot": (lambda sd, x, ids: sd.math.dot(x, x, 0), DataType.BYTE, [100, -128, 3], 26393.0),
    "long dot": (lambda sd, x, ids: sd.math.dot(x, x, 0), DataType.LONG, [2**40, 2**40, 0], 2.0**81),
}


@pytest.mark.parametrize("executor", ["plan", "reference"])
@pytest.mark.parametrize("name", ON_THE_WAY)
def test_nothing_wraps_or_is_rounded_on_the_way_to_what_the_type_holds(name: str, executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    call, kind, values, wanted = ON_THE_WAY[name]
    sd = SameDiff()
    found = call(sd, sd.placeholder("x", kind, -1), sd.constant(np.array([0, 0, 1])))
    assert found.eval({"x": np.array(values, kind.numpy)}).tolist() == wanted


def test_the_mean_of_many_small_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the type cannot count."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    sd = SameDiff()
    mean = sd.math.segment_mean(sd.constant(np.full(512, 7, np.uint8)), sd.constant(np.zeros(512, np.int32)))
    assert mean.eval().tolist() == [7]
