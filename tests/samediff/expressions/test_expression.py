"""Tracing, evaluation, derivatives and composition of scalar expressions."""
from __future__ import annotations

import gc
import math
import pickle

import ml_dtypes
import numpy as np
import pytest

from dl4py.samediff.errors import DataTypeError, GraphError
from dl4py.samediff.expressions import expression as ex
from dl4py.samediff.expressions.arrays import xp as numpy_xp
from dl4py.samediff.expressions.scalar import BINARY, COMPARE, FUNCTIONS, LOGICAL, UNARY_FLOAT, UNARY_SAME, UNARY_TEST

FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
INTS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "invert"}
PLAIN = sorted((BINARY | COMPARE | LOGICAL) - BITS - {"polygamma"})


def inside(name: str, n: int = 7) -> np.ndarray:
    """Float64 points inside the domain of a function."""
    low, high = {"log": (0.1, 3), "log2": (0.1, 3), "log10": (0.1, 3), "log1p": (-0.9, 3), "sqrt": (0.1, 3),
                 "arcsin": (-0.9, 0.9), "arccos": (-0.9, 0.9), "arctanh": (-0.9, 0.9), "arccosh": (1.1, 4),
                 "gammaln": (0.3, 4), "digamma": (0.6, 4), "cbrt": (0.2, 3), "power": (0.3, 2)}.get(name, (-2.3, 2.4))
    return np.linspace(low, high, n)


def run(compute, *arrays, **attributes):
    exprs = ex.trace(compute, [a.dtype for a in arrays], **attributes)
    return ex.evaluate(exprs, np, arrays)[0], exprs[0]


def slope(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / (2 * h)


def close(dtype):
    return {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-14}.get(np.dtype(dtype), 2e-2)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", sorted(UNARY_FLOAT | (UNARY_SAME - {"invert"}) | UNARY_TEST))
def test_unary_functions_give_the_values_of_numpy(name, dtype):
    x = inside(name).astype(dtype)
    got, expr = run(lambda xp, x: getattr(xp, name)(x), x)
    want = np.asarray(getattr(numpy_xp, name)(x.astype(np.float64)))
    assert got.dtype == expr.dtype == (np.bool_ if name in UNARY_TEST else dtype)
    np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=close(dtype), atol=close(dtype))


@pytest.mark.parametrize("dtype", FLOATS + INTS)
@pytest.mark.parametrize("name", PLAIN)
def test_binary_functions_give_the_values_and_types_of_numpy(name, dtype):
    integer = np.dtype(dtype).kind in "iu"
    x, y = (np.array([1, 2, 3, 7, 5], dtype), np.array([2, 1, 3, 2, 4], dtype))
    got, expr = run(lambda xp, x, y: getattr(xp, name)(x, y), x, y)
    want = getattr(np, name)(x, y)
    if integer and want.dtype.kind == "f":
        assert got.dtype == np.float64
    else:
        assert got.dtype == expr.dtype == want.dtype
    np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=1e-2 if want.dtype.itemsize < 4 else 1e-6)


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("name", sorted(BITS))
def test_bit_functions(name, dtype):
    x, y = np.array([1, 6, 3], dtype), np.array([2, 1, 3], dtype)
    args = (x,) if name == "invert" else (x, y)
    got, _ = run(lambda xp, *a: getattr(xp, name)(*a), *args)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, getattr(np, name)(*args))


def test_operators_and_numpy_functions_trace_alike():
    def body(xp, x, y):
        z = -x + 2 * y - x / (1 + y * y) + x**3 + 0.5**y + abs(x) + x % 2 + x // 2
        z = z + np.exp(-x) + np.where((x > y) & ~(x >= 1) | (y != 0), 1, xp.clip(x, -1, 0.5)) + xp.square(y)
        return z + xp.where(x <= y, x, y) * (x < 0) + xp.reciprocal(2 + y) + xp.asarray(0.25)

    x, y = np.linspace(-2, 2, 9), np.linspace(1.5, -1, 9)
    np.testing.assert_allclose(run(body, x, y)[0], body(np, x, y), rtol=1e-14)


@pytest.mark.parametrize("dtype", FLOATS)
def test_python_numbers_and_conditions_do_not_widen(dtype):
    x = np.array([-1, 2], dtype)
    for body in (lambda xp, x: 0.5 * x + 1, lambda xp, x: xp.where(x > 0, 1.0, 0.0) * x, lambda xp, x: (x > 0) * 0.5,
                 lambda xp, x: xp.where(x > 0, 1, 0) * x, lambda xp, x: x**2.5, lambda xp, x: xp.maximum(x, 0),
                 lambda xp, x: np.float64(2).item() * x):
        assert run(body, x)[0].dtype == dtype


def test_types_meet_as_in_numpy():
    a, b, c = np.ones(2, np.int32), np.ones(2, np.float32), np.ones(2, bool)
    assert run(lambda xp, a, b: a + b, a, b)[0].dtype == (a + b).dtype == np.float64
    assert run(lambda xp, a: a / 2, a)[0].dtype == np.float64
    assert run(lambda xp, a: a * 2, a)[0].dtype == np.int32
    assert run(lambda xp, b, c: b * c, b, c)[0].dtype == np.float32
    assert run(lambda xp, a: a.astype("float16"), a)[0].dtype == np.float16


def test_attributes_are_constants_and_outputs_may_be_several():
    y, z, one = ex.trace(lambda xp, x, *, alpha: (x * alpha, x + alpha, 1), ["float32"], alpha=2.0)
    values = ex.evaluate([y, z, one], np, [np.array([3.0], np.float32)])
    assert [float(np.ravel(v)[0]) for v in values] == [6.0, 5.0, 1.0]


def test_equal_expressions_are_one_object_and_die_with_their_users():
    first, second = (ex.trace(lambda xp, x: xp.exp(x) + xp.exp(x) * 3.6875, ["float32"])[0] for _ in range(2))
    assert first is second and len(ex.nodes([first])) == 5
    assert pickle.loads(pickle.dumps(first)) is first
    from dl4py.samediff.expressions import scalar_node
    del first, second
    gc.collect()
    assert not any(e.op == "multiply" and ex.is_constant(e.args[1], 3.6875) for e in list(scalar_node._NODES.values()))


def test_signed_zeros_and_nans_are_kept_apart():
    zero, minus = ex.constant(0.0, "float32"), ex.constant(-0.0, "float32")
    assert zero is not minus
    assert ex.constant(math.nan, "float64") is ex.constant(math.nan, "float64")


@pytest.mark.parametrize("body", [
    lambda xp, x: x if x > 0 else -x,
    lambda xp, x: x * 2 if x > 0 and x < 1 else x,
    lambda xp, x: max(x, 0),
])
def test_branching_on_values_names_the_cure_and_the_line(body):
    with pytest.raises(ex.TraceError, match=r"xp\.where") as error:
        ex.trace(body, ["float32"])
    assert "test_expression.py" in str(error.value) and isinstance(error.value, GraphError)


@pytest.mark.parametrize("body", [
    lambda xp, x: xp.sum(x), lambda xp, x: np.sum(x), lambda xp, x: x[0], lambda xp, x: x.shape, lambda xp, x: x.sum(),
    lambda xp, x: np.add.reduce(x), lambda xp, x: len(x), lambda xp, x: np.asarray(x), lambda xp, x: x + np.ones(3),
    lambda xp, x: xp.matmul(x, x), lambda xp, x: xp.exp(x, out=x), lambda xp, x: x @ x if False else xp.dot(x, x),
])
def test_code_that_is_not_elementwise_says_so(body):
    with pytest.raises(ex.NotElementwiseError):
        ex.trace(body, ["float32"])


def test_other_errors_are_clear():
    with pytest.raises(ex.TraceError, match=r"xp\.exp"):
        ex.trace(lambda xp, x: math.exp(x), ["float32"])
    with pytest.raises(ex.NotElementwiseError, match="did you mean 'tanh'"):
        ex.trace(lambda xp, x: xp.tanhh(x), ["float32"])
    with pytest.raises(DataTypeError, match="bitwise_and"):
        ex.trace(lambda xp, x: x & x, ["float32"])
    with pytest.raises(ex.TraceError, match="negative power"):
        ex.trace(lambda xp, x: x**-1, ["int32"])


DIFFERENTIABLE = sorted(UNARY_FLOAT | {"absolute", "negative"})


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_first_and_second_derivatives_against_central_differences(name):
    x = inside(name)
    (y,) = ex.trace(lambda xp, x: getattr(xp, name)(1.3 * x) if name not in
                    ("arcsin", "arccos", "arctanh", "log1p", "arccosh") else getattr(xp, name)(x), ["float64"])
    first = ex.derivative(y, 0)
    second = ex.derivative(first, 0)

    def at(e):
        return lambda x: np.broadcast_to(ex.evaluate([e], np, [x])[0], x.shape)
    np.testing.assert_allclose(at(first)(x), slope(at(y), x), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(at(second)(x), slope(at(first), x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("wrt", [0, 1])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "remainder",
                                  "fmod", "arctan2", "hypot", "copysign", "logaddexp"])
def test_partial_derivatives_of_two_arguments(name, wrt):
    a, b = inside(name) + 0.01, inside(name)[::-1] * 0.7 + 0.13
    (y,) = ex.trace(lambda xp, a, b: getattr(xp, name)(a, b), ["float64"] * 2)
    first = ex.derivative(y, wrt)

    def at(e):
        def f(v):
            args = [v, b] if wrt == 0 else [a, v]
            return np.broadcast_to(ex.evaluate([e], np, args)[0], v.shape)
        return f
    point = (a, b)[wrt]
    np.testing.assert_allclose(at(first)(point), slope(at(y), point), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(at(ex.derivative(first, wrt))(point), slope(at(first), point), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", sorted({"sign", "floor", "ceil", "rint", "trunc"}))
def test_piecewise_constant_functions_have_derivative_zero(name):
    assert ex.is_constant(ex.derivative(ex.trace(lambda xp, x: getattr(xp, name)(x), ["float32"])[0], 0), 0)


def d_at(body, *values, wrt=0):
    (y,) = ex.trace(body, ["float64"] * len(values))
    return float(ex.evaluate([ex.derivative(y, wrt)], np, [np.float64(v) for v in values])[0])


def test_conventions_at_kinks():
    assert d_at(lambda xp, x: xp.abs(x), 0.0) == 0
    assert d_at(lambda xp, x: xp.sqrt(x), 0.0) == 0
    assert d_at(lambda xp, x: x**0.5, 0.0) == 0
    assert d_at(lambda xp, x, y: xp.hypot(x, y), 0.0, 0.0) == 0
    for name in ("maximum", "minimum"):
        assert [d_at(lambda xp, x, y, f=name: getattr(xp, f)(x, y), 2.0, 2.0, wrt=w) for w in (0, 1)] == [1, 0]


def test_branches_not_taken_never_leak():
    assert d_at(lambda xp, x: xp.where(x > 0, xp.log(x), 0), -1.0) == 0
    assert d_at(lambda xp, x: xp.log(xp.where(x > 0, x, 0)), -1.0) == 0
    assert d_at(lambda xp, x: xp.where(x == 0, 1, xp.sin(x) / x), 0.0) == 0
    assert d_at(lambda xp, x: xp.where(x > 0, xp.sqrt(x) * xp.log(x), 0) * x, -3.0) == 0
    assert d_at(lambda xp, x: 1 / xp.maximum(x, 0), -1.0) == 0
    (y,) = ex.trace(lambda xp, x: xp.where(x > 0, xp.log(x) ** 2, 0), ["float64"])
    second = ex.derivative(ex.derivative(y, 0), 0)
    assert ex.evaluate([second], np, [np.array([-1.0, 0.0])])[0].tolist() == [0, 0]


def test_derivatives_are_simplified():
    def text(body, n=1, wrt=0):
        return repr(ex.derivative(ex.trace(body, ["float32"] * n)[0], wrt))
    assert text(lambda xp, x: x * 3 + 5) == "3.0"
    assert text(lambda xp, x, y: x * y, 2) == "x1"
    assert text(lambda xp, x: xp.exp(x)) == "exp(x0)"
    assert text(lambda xp, x: xp.where(x > 0, x, 0)) == "where(greater(x0, 0.0), 1.0, 0.0)"
    assert text(lambda xp, x, y: y * 2, 2) == "0.0"
    assert text(lambda xp, x: x**2) == "add(x0, x0)"


def test_derivative_passes_casts_and_ignores_integers():
    (y,) = ex.trace(lambda xp, x, n: (x.astype("float64") * n).astype("float32"), ["float32", "int32"])
    dx = ex.derivative(y, 0)
    assert dx.dtype == np.float32
    assert ex.evaluate([dx], np, [np.float32(2), np.int32(7)])[0] == 7
    assert ex.is_constant(ex.derivative(y, 1), 0)


def test_compose_joins_a_chain():
    outer = ex.trace(lambda xp, a, b: xp.exp(a) * b, ["float32"] * 2)
    inner = ex.trace(lambda xp, x: -x, ["float32"])
    (joined,) = ex.compose(outer, {0: inner[0]})
    assert repr(joined) == "multiply(exp(negative(x0)), x1)"
    assert list(ex.inputs_of([joined])) == [0, 1]


def test_evaluation_runs_on_any_namespace():
    class Recorder:
        @staticmethod
        def cast(value, dtype):
            return f"cast({value}, {dtype})"

        def __getattr__(self, name):
            return lambda *args: f"{name}({', '.join(map(str, args))})"

    (y,) = ex.trace(lambda xp, x: xp.where(x > 0, xp.exp(x), 2), ["float32"])
    assert ex.evaluate([y], Recorder(), ["v"]) == ("where(greater(v, 0.0), exp(v), 2.0)",)


def test_long_chains_do_not_recurse():
    def body(xp, x):
        for _ in range(3000):
            x = xp.sin(x)
        return x
    (y,) = ex.trace(body, ["float64"])
    assert np.isfinite(ex.evaluate([ex.derivative(y, 0)], np, [np.array([0.5])])[0]).all()
    assert "3001 nodes" in repr(y)


def test_every_function_has_a_derivative_or_none_by_intent():
    from dl4py.samediff.expressions.derivative import PARTIALS
    from dl4py.samediff.expressions.scalar import FLAT
    assert FUNCTIONS - set(PARTIALS) - FLAT == BITS | {"maximum", "minimum"}
