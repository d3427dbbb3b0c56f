"""Fused groups on the emulator against their evaluation by NumPy."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.cuda.code import layout
from dl4py.samediff.cuda.code.fused import functions_of, fused_launch
from dl4py.samediff.cuda.drivers.emulator import Emulator
from dl4py.samediff.cuda.sources import TYPES
from dl4py.samediff.expressions import expression as ex
from dl4py.samediff.expressions.arrays import xp
from dl4py.samediff.training import Adam
from dl4py.samediff.training.updaters.kernel import UpdateKernel, UpdateRule
from tests.samediff.cuda.support import DRIVERS, needs_compiler

pytestmark = needs_compiler

CLOSE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-13}
rng = np.random.default_rng(12)


def normal(*shape, dtype="float32"):
    return rng.standard_normal(shape).astype(dtype)


def pairs(dtype, n):
    """Two arrays of numbers of all kinds: the ends of the range, small ones; infinities, NaN and others, each beside each."""
    return values(dtype, n, np.repeat), values(dtype, n, np.tile)


def values(dtype, n, spread):
    if dtype == np.bool_:
        return rng.random(n) < 0.5
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        made = rng.integers(low, high, n, dtype=dtype, endpoint=True)
        made[: n // 2] = rng.integers(0 if low == 0 else -9, 9, n // 2)
        made[0], made[1] = low, high
        return made
    made = rng.standard_normal(n) * 3
    special = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -2.5, 3.5, 1e4, -1e-4]
    made[:len(special) ** 2] = spread(special, len(special))
    return made.astype(dtype)


def assert_equal(got, want, where=True, message=""):
    if got.dtype.kind in "iub":
        np.testing.assert_array_equal(got[where], want[where], message)
    else:
        np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), rtol=CLOSE[got.dtype.name], atol=1e-15, err_msg=message)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", TYPES)
def test_all_functions_of_a_type(name):
    dtype = DataType.of(name).numpy
    functions, (x, y) = functions_of(dtype), pairs(dtype, 259)
    outs = [np.zeros(x.shape, e.dtype) for e in functions.values()]
    DRIVERS[0].prepare([fused_launch(list(functions.values()), [x, y], outs)])()
    for (text, e), out in zip(functions.items(), outs):
        a, b, where = x, y, np.ones(x.shape, bool)
        if text == "power" and dtype.kind in "iu":
            where = b >= 0                       # NumPy refuses the others
            b = np.where(where, b, 0)
        if text == "polygamma":
            wide = a.astype("f8")                # SciPy overflows on the way in 16 bits
            where = (wide == np.floor(wide)) & (wide >= 0) & (wide < 20) & (dtype.itemsize > 2)
            out[~where] = 0
        if text.startswith("to ") and out.dtype.kind in "iu" and dtype.kind not in "iub":
            ends = np.iinfo(out.dtype)           # C says nothing of numbers that do not fit
            with np.errstate(invalid="ignore"):
                where = np.isfinite(a) & (a.astype("f8") >= ends.min) & (a.astype("f8") <= ends.max)
        (want,) = ex.evaluate([e], np, [a, b])
        if text == "polygamma":
            want = np.where(where, want, 0).astype(out.dtype)
        assert_equal(out, want, where, text)


def two(xp, x, y):
    return x * y + 2, xp.maximum(x, y) - 1


def check(shape, arrays, outs=None, f=two):
    exprs = ex.trace(f, [a.dtype for a in arrays])
    outs = [np.zeros(shape, e.dtype) for e in exprs] if outs is None else outs
    want = [np.broadcast_to(v, shape).astype(o.dtype) for v, o in zip(ex.evaluate(exprs, np, arrays), outs)]
    launch = fused_launch(exprs, arrays, outs)
    if launch is None:
        assert 0 in shape
        return None
    DRIVERS[0].prepare([launch])()
    for w, o in zip(want, outs):
        assert_equal(o, w)
    return launch.source


@pytest.mark.sampled(6)
@pytest.mark.parametrize("n", [0, 1, 31, 33, 1025, 5000])
def test_sizes_and_scalars(n):
    check((n,), [normal(n), normal(n)])
    check((n,), [normal(n), normal(1)])
    check((n,), [normal(n), normal()])
    check((n,), [normal(n), np.float32(1.5)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("a, b", [(3, 4), (1, 1), (33, 31), (7, 1025), (8, 8), (0, 5), (5, 0)])
def test_broadcasting_and_views(a, b):
    check((a, b), [normal(a, b), normal(b)])
    check((a, b), [normal(a, 1), normal(b)])
    check((a, b), [normal(b, a).T, normal(a, b)])
    check((a, b), [normal(a, b)[::-1], normal(a, b)[:, ::-1]])
    check((a, b), [np.broadcast_to(normal(b), (a, b)), normal(a, b)])
    check((a, b), [normal(a, 2 * b)[:, ::2], normal(a, b)])
    check((a, b), [normal(a, b), normal(a, 2 * b)[:, :b]], [normal(a, b), normal(a, 3 * b)[:, b:2 * b]])


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 5, 7), (2, 16, 8), (4, 1, 6), (2, 3, 2, 5)])
def test_more_dimensions(shape):
    check(shape, [normal(*shape), normal(shape[1], *(1,) * (len(shape) - 2))])
    check(shape, [normal(shape[0], *(1,) * (len(shape) - 1)), normal(*shape[::-1]).transpose()])
    check(shape, [normal(*shape)[:, ::-1], normal(*shape)])


def test_what_lies_alike_is_one_loop():
    dense = check((4, 6), [normal(4, 6), normal(4, 6)])
    assert check((5, 3, 8), [normal(5, 3, 8), normal(5, 3, 8)]) == dense
    assert check((4, 6), [normal(6, 4).T, normal(6, 4).T], [normal(6, 4).T, normal(6, 4).T]) == dense
    rows = check((4, 8), [normal(4, 8), normal(8)])
    assert check((7, 3, 16), [normal(7, 3, 16), normal(16)]) == rows != dense


def test_in_place_and_not_aligned():
    whole, x = normal(1003), normal(1000)
    check((1000,), [whole[3:], x], [whole[3:], x])


def test_types_differ():
    check((33, 8), [normal(33, 8, dtype="float16"), rng.random((33, 8)) < 0.5, normal(8, dtype="float16")],
          f=lambda xp, x, m, y: xp.where(m, x, 0) * y)
    x, y = normal(40, dtype="float16"), np.zeros(40, np.float16)        # an expression of float32 on numbers of 16 bits
    DRIVERS[0].prepare([fused_launch(ex.trace(lambda xp, x: x * x + 1, ["float32"]), [x], [y])])()
    assert_equal(y, (x.astype("f4") ** 2 + 1).astype("f2"))


def test_constants_alone():
    y = np.zeros((3, 5), np.float64)
    DRIVERS[0].prepare([fused_launch([ex.constant(np.pi, "float64")], [], [y])])()
    np.testing.assert_array_equal(y, np.pi)


def test_large_arrays_take_wide_indices(monkeypatch):
    narrow = fused_launch(ex.trace(two, ["float32"] * 2), [normal(5, 6, 8), normal(6, 1)], [normal(5, 6, 8)] * 2).source
    monkeypatch.setattr(layout, "NARROW", 10)
    assert check((5, 6, 8), [normal(5, 6, 8), normal(6, 1)]) != narrow
    check((500,), [normal(500), normal(500)])
    check((5, 6), [normal(6, 5).T[::-1], normal(6)])


def test_indices_are_divided_without_a_division():
    for n in [*range(1, 40), 1000, 2**16, 2**16 + 1, 2**30 + 7, 2**31 - 1]:
        factor, shift = (int(v) for v in layout.divisor(n))
        for i in {0, 1, n - 1, n, 3 * n - 1, 3 * n, 2**31 - 1}:
            if i < 2**31:
                assert (((i * factor) >> 32) + i) >> shift == i // n


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_updaters(dtype):
    made = {}
    for way in ("cpu", "cuda"):
        data = np.random.default_rng(4)
        arrays = [data.standard_normal(77).astype(dtype) * 0.1 for _ in range(4)]
        arrays[3] = abs(arrays[3])
        kernel = UpdateKernel(UpdateRule(Adam(0.01)), arrays[0], arrays[1], arrays[2:])
        if way == "cpu":
            kernel(3, 0, 0.5)
        else:
            kernel.set_rates(3, 0, 0.5)
            scalars = [kernel.numbers[k:k + 1] for k in range(kernel.numbers.size)]
            Emulator(guard=True).prepare([fused_launch(kernel.exprs, [*kernel.arrays, *scalars], [arrays[0], *arrays[2:]])])()
        made[way] = arrays
    for a, b in zip(made["cpu"], made["cuda"]):
        np.testing.assert_allclose(a.astype("f8"), b.astype("f8"), rtol=CLOSE[dtype] * 5)


def test_random_expressions():
    f4 = np.dtype("float32")
    x, y = normal(100), normal(100)
    (e,) = ex.trace(lambda xp, x, y: xp.where(xp.isnan(xp.log(x)), xp.tanh(y), xp.sqrt(abs(x)) + xp.exp(-y * y)).astype(f4), [f4, f4])
    out = np.zeros(100, f4)
    DRIVERS[0].prepare([fused_launch([e], [x, y], [out])])()
    assert_equal(out, ex.evaluate([e], xp, [x, y])[0])
