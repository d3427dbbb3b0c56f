"""Compiled elementwise kernels against NumPy."""
from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from dl4py.samediff.cpu import OperandLayout, OutputReduction, elementwise_kernel
from dl4py.samediff.errors import DataTypeError, GraphError, ShapeError
from dl4py.samediff.expressions.expression import derivative, evaluate, trace

FLOAT = [
    "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin",
    "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "erf", "erfc", "gammaln",
    "negative", "absolute", "sign", "floor", "ceil", "rint", "trunc", "isnan", "isinf", "isfinite", "signbit",
    "logical_not"]
PAIRS = [
    "add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "floor_divide", "remainder", "fmod",
    "arctan2", "hypot", "copysign", "logaddexp", "less", "less_equal", "greater", "greater_equal", "equal",
    "not_equal", "logical_and", "logical_or", "logical_xor"]
INTEGER_PAIRS = [
    "add", "subtract", "multiply", "maximum", "minimum", "floor_divide", "remainder", "bitwise_and", "bitwise_or",
    "bitwise_xor", "left_shift", "right_shift", "less", "equal", "not_equal"]


def kernel(compute, *arrays, reduction=None):
    space = np.broadcast_shapes(*[a.shape for a in arrays])
    exprs = trace(compute, [a.dtype for a in arrays])
    return exprs, elementwise_kernel(exprs, [OperandLayout.of(a.shape, space) for a in arrays], reduction)


def check(compute, *arrays, rtol=2e-6):
    """All outputs of a kernel against the same expressions on NumPy."""
    exprs, compiled = kernel(compute, *arrays)
    space = np.broadcast_shapes(*[a.shape for a in arrays])
    out = [np.empty(space, e.dtype) for e in exprs]
    compiled(*arrays, out=out)
    for k, (e, got) in enumerate(zip(exprs, out)):
        want = np.broadcast_to(evaluate([e], np, arrays)[0], space)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol / 4, err_msg=f"output {k}: {e!r}")
    return compiled


def many(names, size=12):
    return [names[i : i + size] for i in range(0, len(names), size)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("names", many(FLOAT), ids=lambda n: n[0])
def test_functions_of_one_argument(names, dtype):
    x = np.array([0.3, 0.9, -0.6, 0.0, -0.0, 1.7, -2.5, 40.0, np.nan, np.inf, -np.inf, 1e-8, 2.5], dtype)
    check(lambda xp, x: tuple(getattr(xp, n)(x) for n in names), x, rtol=2e-6 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("names", many(PAIRS), ids=lambda n: n[0])
def test_functions_of_two_arguments(names, dtype):
    values = [0.3, -0.9, 2.0, 5.5, -7.25, 1.0, 0.0, np.nan, np.inf, -np.inf]
    x, y = (a.astype(dtype).ravel() for a in np.meshgrid(values, values))
    if "floor_divide" in names:  # NumPy's own answers for infinities differ between versions
        keep = np.isfinite(x) & np.isfinite(y)
        x, y = x[keep], y[keep]
    tolerance = 2e-6 if dtype == np.float32 else 1e-13
    check(lambda xp, x, y: tuple(getattr(xp, n)(x, y) for n in names), x, y, rtol=tolerance)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integers_wrap_as_in_numpy(dtype):
    top = np.iinfo(dtype).max
    x, y = np.array([1, 2, 7, top, 5, 100], dtype), np.array([3, 2, 1, 2, 4, 7], dtype)
    check(lambda xp, x, y: tuple(getattr(xp, n)(x, y) for n in INTEGER_PAIRS), x, y)
    check(lambda xp, x: (abs(x), xp.sign(x), ~x, xp.floor(x), -x, x**3, x / 2, x * 3 - 1), x)


def test_bools_and_conversions():
    x, b = np.array([-1.5, 0, 2.7, 100], np.float32), np.array([True, False, True, False])
    check(lambda xp, x, b: (b & (x > 0), b | (x > 0), ~b, b ^ (x > 0), xp.maximum(b, x > 0), b == (x > 0), b * x, b + b,
                            xp.where(b, x, 2), xp.logical_not(x)), x, b)
    check(lambda xp, x, b: tuple(x.astype(t) for t in ("int32", "int64", "float64", "bool", "int8", "uint8"))
          + tuple(b.astype(t) for t in ("float32", "int8")), np.abs(x), b)


@pytest.mark.parametrize("shapes", [
    [(3, 5), (5,)], [(3, 5), (3, 1)], [(3, 5), ()], [(3, 5), (1,), (3, 5)], [(2, 3, 4, 5), (3, 1, 1)], [(7,), (7,)],
    [(2, 1, 4), (1, 3, 1)], [(0, 5), (5,)], [(1, 5), (5,)], [(4, 1), (1, 6), ()], [(), ()], [(65, 33), (33,)],
])
def test_every_broadcast(shapes, rng):
    arrays = [rng.normal(size=s).astype(np.float32) for s in shapes]
    check(lambda xp, *xs: (sum(xs[1:], xs[0]), xp.tanh(xs[0]) * xs[-1]), *arrays)


def test_one_kernel_serves_every_batch_size(rng):
    exprs = trace(lambda xp, x, b: xp.maximum(x + b, 0), ["float32"] * 2)
    layouts = [OperandLayout.of((-1, 6), (-1, 6)), OperandLayout.of((6,), (-1, 6))]
    compiled = elementwise_kernel(exprs, layouts)
    assert elementwise_kernel(exprs, layouts).entry == compiled.entry
    b = rng.normal(size=6).astype(np.float32)
    for n in (0, 1, 2, 33):
        x = rng.normal(size=(n, 6)).astype(np.float32)
        np.testing.assert_array_equal(compiled(x, b, out=np.empty_like(x)), np.maximum(x + b, 0))


@pytest.mark.parametrize("width", [8, 24, 32, 12, 0])
def test_rows_that_end_in_half_a_vector_have_a_kernel_that_knows_it(width, rng):
    exprs = trace(lambda xp, x, b: xp.maximum(x + b, 0), ["float32"] * 2)
    layouts = [OperandLayout.of((-1, width), (-1, width)), OperandLayout.of((width,), (-1, width))]
    compiled = elementwise_kernel(exprs, layouts)
    x, b = (rng.normal(size=s).astype(np.float32) for s in ((5, width), width))
    out = np.empty_like(x)
    made = compiled.instruction(compiled.views([x, b, out]))
    assert (made.entry != compiled.entry) == (width in (8, 24))
    compiled(x, b, out=out)
    np.testing.assert_array_equal(out, np.maximum(x + b, 0))


def test_equal_strides_become_one_loop():
    shape = (2, 3, 4, 5)
    exprs = trace(lambda xp, a, b: a * b, ["float32"] * 2)
    assert elementwise_kernel(exprs, [OperandLayout.same(4), OperandLayout.same(4)]).source.count("for ") == 1
    assert elementwise_kernel(exprs, [OperandLayout.same(4), OperandLayout.of((3, 1, 1), shape)]).source.count("for ") == 3
    assert elementwise_kernel(exprs, [OperandLayout.same(4), OperandLayout.scalar(4)]).source.count("for ") == 1


def test_views_with_strides(rng):
    base = rng.normal(size=(6, 4, 8)).astype(np.float32)
    exprs = trace(lambda xp, a: xp.exp(a), ["float32"])
    for view in (base[:, 1:3], base[:, :, ::2], base.transpose(0, 2, 1), base[::-1]):
        compiled = elementwise_kernel(exprs, [OperandLayout.strided(view.shape, view.strides, view.shape)])
        np.testing.assert_allclose(compiled(view, out=np.empty(view.shape, np.float32)), np.exp(view), rtol=1e-6)
    joined = elementwise_kernel(exprs, [OperandLayout.strided(base[:, 1:3].shape, base.strides, (6, 2, 8))])
    assert joined.source.count("for ") == 2
    target = np.zeros((4, 10), np.float32)
    part = target[:, 2:7]
    slot = OperandLayout.strided(part.shape, part.strides, part.shape)
    compiled = elementwise_kernel(exprs, [OperandLayout.same(2)], output_layouts=[slot])
    x = rng.normal(size=(4, 5)).astype(np.float32)
    compiled.bind(x, out=part)()
    np.testing.assert_allclose(part, np.exp(x), rtol=1e-6)
    assert not target[:, :2].any() and not target[:, 7:].any()


@pytest.mark.sampled(14)
@pytest.mark.parametrize(("kind", "axes", "dtype"), [
    *[("mean", axes, np.float32) for axes in (None, (0,), (1,), (-1,), (0, 2), (1, 2), (0, 1))],
    ("sum", (0, 2), np.float64), ("sum", (1,), np.float32), ("max", (0, 2), np.float32), ("max", (1, 2), np.float64),
    ("min", (0,), np.float32), ("prod", (0, 2), np.float32)])
def test_reductions(kind, axes, dtype, rng):
    for shape in ((3, 4, 5), (1, 1, 1), (2, 3, 67)):
        x = rng.normal(size=shape).astype(dtype)
        b = rng.normal(size=shape[-1:]).astype(dtype)
        _, compiled = kernel(lambda xp, x, b: (x * b, x + b), x, b, reduction=[OutputReduction(kind, axes), None])
        want = getattr(np, kind)((x * b).astype(float), axis=axes)
        for keep in (False, True):
            out = [np.full(np.sum(x, axis=axes, keepdims=keep).shape, 9, dtype), np.empty_like(x)]
            compiled(x, b, out=out)
            np.testing.assert_allclose(out[0].reshape(want.shape), want, rtol=2e-5, atol=1e-6)
            np.testing.assert_array_equal(out[1], x + b)


def test_long_sums_stay_accurate():
    x = np.full(3_000_001, 0.1, np.float32)
    _, compiled = kernel(lambda xp, x: x, x, reduction=OutputReduction("sum"))
    got = compiled(x, out=np.empty((), np.float32))
    np.testing.assert_allclose(got, x.astype(np.float64).sum(), rtol=1e-6)


def test_integer_reductions_and_nan():
    x = np.array([[3, -4, 5]], np.int32)
    for kind, want in (("sum", 4), ("max", 5), ("min", -4), ("prod", -60)):
        _, compiled = kernel(lambda xp, x: x, x, reduction=OutputReduction(kind))
        assert compiled(x, out=np.empty(1, np.int32))[0] == want
    y = np.array([1, np.nan, 2], np.float32)
    _, compiled = kernel(lambda xp, x: x, y, reduction=OutputReduction("max"))
    assert np.isnan(compiled(y, out=np.empty(1, np.float32))[0])


def test_bound_calls_read_memory_each_time_and_work_in_place():
    p, g, rate = np.ones(5, np.float32), np.full(5, 2, np.float32), np.array([0.5], np.float32)
    exprs = trace(lambda xp, p, g, r: p - r * g, ["float32"] * 3)
    step = elementwise_kernel(exprs, [OperandLayout.same(1), OperandLayout.same(1), OperandLayout.scalar(1)]).bind(p, g, rate, out=p)
    step()
    rate[0] = 0.25
    step()
    assert p.tolist() == [-0.5] * 5


def test_in_place_stores_go_through_the_name_of_the_input(rng):
    exprs = trace(lambda xp, a, b: (a + b, a * b), ["float32"] * 2)
    compiled = elementwise_kernel(exprs, [OperandLayout.same(1)] * 2, in_place={1: 0})
    assert "x0[j0] = " in compiled.source and "y1[j0]" not in compiled.source
    a, b = rng.normal(size=(2, 70)).astype(np.float32)
    total, product = a + b, a * b
    out = np.empty_like(a)
    compiled.bind(a, b, out=[out, a])()
    np.testing.assert_array_equal(out, total)
    np.testing.assert_array_equal(a, product)


def test_derivatives_compile(rng):
    x = rng.normal(size=50)
    (y,) = trace(lambda xp, x: xp.where(x > 0, xp.log(x) * xp.sqrt(x), xp.erf(x) * xp.tanh(x)), ["float64"])
    d = derivative(y, 0)
    got = elementwise_kernel([d], [OperandLayout.same(1)])(x, out=np.empty_like(x))
    np.testing.assert_allclose(got, evaluate([d], np, [x])[0], rtol=1e-12)


def test_read_only_and_unused_inputs():
    x = np.arange(4, dtype=np.float32)
    x.flags.writeable = False
    exprs = trace(lambda xp, y, x: x + 1, ["int64", "float32"])
    compiled = elementwise_kernel(exprs, [OperandLayout.same(1)] * 2)
    out = np.empty(4, np.float32)
    compiled.bind(np.arange(3), x, out=out)()
    assert out.tolist() == [1, 2, 3, 4]


def test_what_has_no_kernel_gives_none():
    for body, dtype in ((lambda xp, x: x + 1, "float16"), (lambda xp, x: xp.digamma(x), "float32"),
                        (lambda xp, x: xp.power(x, x), "int32")):
        assert elementwise_kernel(trace(body, [dtype]), [OperandLayout.same(1)]) is None


def test_wrong_operands_are_refused():
    exprs = trace(lambda xp, x, b: x + b, ["float32"] * 2)
    compiled = elementwise_kernel(exprs, [OperandLayout.same(2), OperandLayout.of((3,), (2, 3))])
    x, b, out = np.zeros((2, 3), np.float32), np.zeros(3, np.float32), np.zeros((2, 3), np.float32)
    with pytest.raises(DataTypeError, match="input 0"):
        compiled.bind(x.astype(float), b, out=out)
    for bad in ((x, b[:2], out), (x[:1], b, out), (x, b, out[:1]), (x.T, b, out), (x[:, :, None], b, out)):
        with pytest.raises(ShapeError):
            compiled.bind(*bad[:2], out=bad[2])
    with pytest.raises(ShapeError, match="contiguous"):
        compiled.bind(np.zeros((3, 2), np.float32).T, b, out=out)
    with pytest.raises(ShapeError, match="arrays"):
        compiled.bind(x, out=out)
    with pytest.raises(ShapeError, match="arrays"):
        compiled(x, b, b, out=out)
    with pytest.raises(GraphError, match="median"):
        OutputReduction("median")
    with pytest.raises(ShapeError):
        OperandLayout.of((3,), (2, 4))


def test_importing_the_backend_does_not_load_numba():
    code = "import sys, dl4py.samediff.cpu, dl4py.samediff.expressions.expression; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
