"""Kernels that are compiled without Numba against Numba's code for the same source."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cpu import Layout, Reduction, elementwise_kernel, lean
from dl4py.samediff.cpu.cache import objects as cache_objects
from dl4py.samediff.cpu.cache import sources as cache
from dl4py.samediff.cpu.native import entry, generated
from dl4py.samediff.cpu.native.program import Segment
from dl4py.samediff.cpu.native.words import Unknown
from dl4py.samediff.cpu.sweeps.sweep import folded, swept
from dl4py.samediff.cpu.sweeps.sweeps import NORMALIZATIONS, REDUCTIONS
from dl4py.samediff.expressions.expression import trace

TYPES = {np.float32: DataType.FLOAT, np.float64: DataType.DOUBLE}


def by_numba(source, names, symbol):
    return lean.machine_code(cache.function_of(source, "entry", names), symbol, entry.FLAGS)


def without_numba(source, names, symbol):
    return cache_objects.of_module(generated.module_of(source, names, symbol, entry.FLAGS["fastmath"]), loops=True)


@pytest.fixture
def both(monkeypatch):
    """``both(make)``: what ``make()`` gives with kernels of either compiler."""
    known = entry.entry_of_source, entry.address_of_generated
    count = 0

    def run(make):
        results = []
        for compiler in (without_numba, by_numba):
            def compiled(source, names, compiler=compiler, **options):
                nonlocal count
                count += 1
                symbol = f"test_{compiler.__name__}_{count}"
                code, needs = compiler(source, names(), symbol)
                assert all(map(cache_objects._is_known, needs))
                return cache_objects.engine().load(code, [symbol])[0], False
            monkeypatch.setattr(entry, "compiled_entry", compiled)
            for one in known:
                one.cache_clear()
            results.append(make())
        return results
    yield run
    for one in known:
        one.cache_clear()


def same(first, second):
    """Equal bits, but for those of NaN."""
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a[a == a]), np.signbit(b[b == b]))


def values(dtype, shape, seed):
    rng = np.random.default_rng(seed)
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind == "i":
        return rng.integers(-50, 50, shape).astype(dtype)
    x = rng.normal(0, 3, shape).astype(dtype)
    x.flat[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 90.0, -110.0]
    return x


def elementwise(both, compute, *dtypes, reductions=None, shapes=((37, 21), (21,), (37, 1))):
    arrays = [values(d, s, k) for k, (d, s) in enumerate(zip(dtypes, shapes))]
    space = np.broadcast_shapes(*[a.shape for a in arrays])
    exprs = trace(compute, [a.dtype for a in arrays])

    def make():
        kernel = elementwise_kernel(exprs, [Layout.of(a.shape, space) for a in arrays], reductions)
        folded = () if reductions is None else reductions[0].axes
        outputs = [np.zeros(tuple(1 if i in folded else n for i, n in enumerate(space)), e.dtype) for e in exprs]
        with np.errstate(all="ignore"):
            kernel(*arrays, out=outputs)
        return outputs
    return both(make)


FLOATS = {
    "arithmetic": lambda xp, x, y, z: (x + y * z - 0.3, x / y, -x, xp.maximum(x, y), xp.minimum(x, z), xp.sign(x)),
    "rounding": lambda xp, x, y, z: (xp.floor(x), xp.ceil(y), xp.rint(x), xp.trunc(x), xp.absolute(x), xp.copysign(x, y)),
    "choice": lambda xp, x, y, z: (xp.where(x > y, z, x), x >= 0, x != x, xp.isinf(x), xp.isfinite(y), xp.logical_not(x < z)),
    "clipped": lambda xp, x, y, z: (xp.sqrt(xp.absolute(x)), xp.clip(x, -1.0, 1.0), xp.where(xp.logical_and(x > 0, y > 0), x, -x))}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FLOATS)
def test_floats(both, name, dtype):
    same(*elementwise(both, FLOATS[name], dtype, dtype, dtype))


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "tanh", "erf"])
def test_functions_of_float32(both, name):
    same(*elementwise(both, lambda xp, x: getattr(xp, name)(x), np.float32))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_whole_numbers(both, dtype):
    same(*elementwise(both, lambda xp, x, y: (x + y, x * y - 3, xp.maximum(x, y), xp.minimum(x, y), -y, x < y), dtype, dtype))
    same(*elementwise(both, lambda xp, x, y: (x & y, x | y, x ^ y, xp.where(x == y, x, y)), dtype, dtype))


@pytest.mark.parametrize("source", [np.float32, np.float64, np.int32, np.int64, np.bool_])
@pytest.mark.parametrize("target", ["float32", "float64", "int32", "int64", "bool"])
def test_conversions(both, source, target):
    shape = (5, 7)
    given = np.arange(-17, 18).reshape(shape).astype(source)

    def make():
        exprs = trace(lambda xp, x: (x.astype(target), xp.where(x != 0, x, x)), [given.dtype])
        outputs = [np.zeros(shape, e.dtype) for e in exprs]
        elementwise_kernel(exprs, [Layout.same(2)])(given, out=outputs)
        return outputs
    same(*both(make))


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "prod"])
def test_reductions(both, kind, axes):
    first, second = elementwise(both, lambda xp, x, y: (xp.clip(x, -2.0, 2.0) * 0.5 + xp.clip(y, 0.0, 1.0),), np.float32, np.float32,
                                reductions=[Reduction(kind, axes)])
    np.testing.assert_allclose(first[0], second[0], rtol=3e-6 if kind in ("sum", "mean", "prod") else 0)


SWEEPS = [("reduce_sum", (1,), np.float32), ("reduce_sum", (0, 2), np.float64), ("reduce_norm2", (0,), np.float32),
          ("amax", (0,), np.float64), ("countNonZero", (1,), np.float32), ("reduce_logsumexp", (0,), np.float32), ("std", (1,), np.float32),
          ("moments", (0,), np.float32), ("softmax", (1,), np.float32), ("softmax", (0,), np.float32), ("softmax_bp", (0, 2), np.float32),
          ("log_softmax_backward", (1,), np.float32), ("standardize_backward", (2,), np.float64),
          ("layer_norm_gain_bias", (2,), np.float32)]


@pytest.mark.parametrize(("name", "axes", "dtype"), SWEEPS)
def test_sweeps(both, name, axes, dtype):
    sweep = {**REDUCTIONS, **NORMALIZATIONS}[name]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(0, 2, (6, 41, 3)).astype(dtype) for _ in range(sweep.inputs)]
    specs = [TensorSpec(a.shape, TYPES[dtype]) for a in arrays]

    def make():
        if name in NORMALIZATIONS:
            kernel, outputs = swept(sweep, axes, specs), [np.zeros(arrays[0].shape, dtype)]
        else:
            shape = tuple(n for i, n in enumerate(arrays[0].shape) if i not in axes)
            result = np.dtype(np.int64) if sweep.folds[-1].counting else np.dtype(dtype)
            kernel = folded(sweep, axes, specs[0], TensorSpec(shape, DataType.LONG if result == np.int64 else TYPES[dtype]))
            outputs = [np.zeros(shape, result) for _ in sweep.results]
        made = kernel.native(*arrays, *outputs)
        Segment([made])()
        return outputs
    first, second = both(make)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6 if dtype == np.float32 else 1e-13, atol=1e-6 if dtype == np.float32 else 1e-14)


REFUSED = ["x = t ** 2", "x = t // part", "x = t % part", "x = t / 1 if t > 0 else np.sin(1.0)", "x = abs(t)", "x = 9223372036854775808",
           "x = t\n    x = 0.5", "x = f4(1.0) % f4(2.0)", "x = min(0.5, 1.0)", "x = u1(t)", "x = t < part < parts",
           "x = (t > 0) + (t > 1)", "x = (t > 0) + 1", "if t > 0:\n        x = 1", "for x in (1, 2):\n        pass", "x = [t]",
           "x = unknown", "return t"]


@pytest.mark.parametrize("text", REFUSED)
def test_what_numba_has_to_compile(text):
    source = f"def entry(t, part, parts):\n    {text}\n"
    names = {"np": np, "f4": np.float32, "u1": np.uint8, "abs": abs}
    with pytest.raises(Unknown):
        generated.module_of(source, names, "test", {"contract"})


def test_division_by_zero_is_left_to_numba():
    exprs = trace(lambda xp, x, y: x // y, [np.dtype(np.int64)] * 2)
    out = elementwise_kernel(exprs, [Layout.same(1)] * 2)(np.array([7, -7, 5]), np.array([2, 2, 0]), out=np.zeros(3, np.int64))
    assert list(out) == [3, -4, 0]
