"""Elementwise functions at zeros, denormals, infinities, NaN, huge and tiny numbers: plans against the reference executor."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.device.devices import device
from dl4py.samediff.expressions.arrays import centred
from dl4py.samediff.families.families import Elementwise
from dl4py.samediff.ir.op import OPS
from tests.helpers.randomgraphs import reference
from tests.samediff.ops.rows.op_table import ROWS, Row

RELATIVE = {DataType.FLOAT: 1e-4, DataType.DOUBLE: 1e-8, DataType.HALF: 3e-3, DataType.BFLOAT16: 0.1}


def special(dtype: DataType) -> Any:
    """Numbers of a type at which functions have something special."""
    limits = ml_dtypes.finfo(dtype.numpy)
    least, tiny, most = float(limits.smallest_subnormal), float(limits.tiny), float(limits.max) / 4
    positive = [0.0, least, tiny / 3, tiny**0.9, tiny**0.5, 1e-3, 0.5, 1.0, 1.5, 2.5, 3.0, 10.0, most**0.5, most, np.inf]
    return np.array([*positive, *(-v for v in positive), np.nan]).astype(dtype.numpy)


def floats(row: Row) -> list[int]:
    """The inputs that are floating numbers."""
    return [i for i, a in enumerate(row.arrays()) if a is not None and a.dtype.kind == "f"]


CASES = [r for r in ROWS if issubclass(OPS[r.op_id], Elementwise) and OPS[r.op_id].__module__.startswith("dl4py.")
         and 0 < len(floats(r)) < 3 and r.op_id != "floordiv"]         # its quotients are denormal: the floor is that of 0


def inputs(row: Row, values: Any) -> dict[str, Any]:
    """All special values, or all pairs of them; other inputs repeat what the row has."""
    chosen = floats(row)
    grid = np.meshgrid(*[values] * len(chosen))
    return {f"x{i}": grid[chosen.index(i)].reshape(-1) if i in chosen else np.resize(a, grid[0].size)
            for i, a in enumerate(row.arrays()) if a is not None}


def without_denormals(feeds: dict[str, Any]) -> dict[str, Any]:
    """The same with 0 in their place."""
    return {n: np.where(abs(a) < ml_dtypes.finfo(a.dtype).tiny, a * 0, a).astype(a.dtype)
            if a.dtype.kind in "fV" else a for n, a in feeds.items()}


def equal(got: Any, wanted: Any, dtype: DataType) -> Any:
    """Where two arrays hold the same, up to rounding; numbers below the normal ones count as 0."""
    if wanted.dtype != dtype.numpy:
        return (got == wanted) | ((got != got) & (wanted != wanted))
    limits = ml_dtypes.finfo(dtype.numpy)
    least = float(limits.tiny) * 1.01 if got.dtype.itemsize > 2 else float(limits.eps)
    got, wanted = got.astype(np.longdouble), wanted.astype(np.longdouble)
    with np.errstate(all="ignore"):
        near = abs(got - wanted) <= np.maximum(RELATIVE[dtype] * abs(wanted), least)
    return near | (got == wanted) | (np.isnan(got) & np.isnan(wanted))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", RELATIVE)
def test_plans_compute_what_the_reference_computes(dtype):
    """Inside of plans denormal results become 0: what comes of that is the result for 0."""
    different = []
    for row in CASES:
        sd, feeds = SameDiff.create(), inputs(row, special(dtype))
        made = sd.add_op(row.op(), [sd.placeholder(n, DataType.of(a.dtype), -1) for n, a in feeds.items()])
        names = [v.name() for v in (made if isinstance(made, (list, tuple)) else [made])]
        with np.errstate(all="ignore"):
            wanted, of_zero = (reference(sd, f, names) for f in (feeds, without_denormals(feeds)))
        found = sd.output(feeds, *names)
        for name in names:
            right = equal(found[name], wanted[name], dtype) | equal(found[name], of_zero[name], dtype)
            for k in np.flatnonzero(~right)[:1]:
                given = [a[k] for a in feeds.values()]
                different.append(f"{row.op_id}{given}: {found[name][k]}, reference {wanted[name][k]}")
    assert not different


@pytest.mark.parametrize("name", ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "tanh", "sign", "expm1"])
@pytest.mark.parametrize("dtype", [DataType.FLOAT, DataType.DOUBLE])
def test_functions_take_denormals_as_they_are(name, dtype):
    sd = SameDiff.create()
    x = sd.placeholder("x", dtype, -1)
    y = getattr(sd.math, name)(x)
    given = (np.array([3.0, 5.0, 1e4]) * np.finfo(dtype.numpy).smallest_subnormal).astype(dtype.numpy)
    with np.errstate(all="ignore"):
        wanted = reference(sd, {"x": given}, [y.name()])[y.name()]
    tiny = np.finfo(dtype.numpy).tiny
    np.testing.assert_allclose(y.eval({"x": given}), wanted, rtol=1e-6, atol=tiny)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("where", ["plan", "reference", "emulated"])
def test_brief_types_and_numbers_without_a_sign(where, monkeypatch):
    """Quotients of truth values, bfloat16 beside other types, segments of it, means whose differences leave the type, unsigned indices."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference" if where == "reference" else "plan")

    def run(call: Any, *arrays: Any) -> Any:
        sd = SameDiff()
        y = call(sd, *(sd.placeholder(f"x{i}", DataType.of(a.dtype), *a.shape) for i, a in enumerate(arrays)))
        with device("emulated" if where == "emulated" else "cpu"):
            return [sd.output_single({f"x{i}": a for i, a in enumerate(arrays)}, y.name()).tolist()]
    brief, whole = np.array([2, 3, 5], ml_dtypes.bfloat16), np.array([7, 0, 5], np.uint64)
    truth = np.array([True, True, False])
    assert run(lambda sd, a, b: a.rdiv(b), whole, truth) == [[0, 0, 0]]
    assert run(lambda sd, a, b: b.div(a), whole.astype(np.int32), truth) == [[False, False, False]]
    for other in (np.int16, np.int32, np.int64, np.float16):
        assert run(lambda sd, a, b: a + b, whole.astype(other), brief) == [[9, 3, 10]]
    ids = np.array([0, 0, 1], np.int32)
    assert run(lambda sd, x, i: sd.segment_max(x, i), brief, ids) == [[3, 5]]
    assert run(lambda sd, x, i: sd.unsorted_segment_min(x, i, 2), brief, ids) == [[2, 5]]
    row = np.array([[1, 2, 3]], np.float32)
    assert run(lambda sd, x, n: sd.reverse_sequence(x, n, 1, 0), row, np.array([2], np.uint64)) == [[[2, 1, 3]]]
    assert run(lambda sd, a, b: sd.math.confusion_matrix(a, b), *np.array([[0, 1], [1, 1]], np.uint8)) == [[[0, 1], [0, 1]]]
    sd = SameDiff()
    constant = sd.constant(brief) * 2
    with device("emulated" if where == "emulated" else "cpu"):
        assert sd.output_single({}, constant.name()).tolist() == [4, 6, 10]


def test_what_is_centred():
    mean, rest = centred(np.array([60000, -60000], np.float16), (0,))
    assert mean.tolist() == [0] and rest.tolist() == [60000, -60000]
    with np.errstate(invalid="ignore"):
        assert centred(np.array([np.inf, 1], np.float32), (0,))[0].tolist() == [np.inf]
