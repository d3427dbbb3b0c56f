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
