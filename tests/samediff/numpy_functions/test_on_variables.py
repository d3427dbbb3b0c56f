"""NumPy's functions called on variables: the same numbers, with gradients, for open batch sizes; DL4J's ops where there are such."""
from __future__ import annotations

import array
import contextlib
import importlib
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, SDVariable
from dl4py.samediff.errors import DL4PyError, GraphError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(5, 4)).astype(np.float32)
W = np.arange(12, dtype=np.float32).reshape(4, 3)

#: Code that is the same for NumPy and for variables.
CODE = {
    "exp": lambda x: np.exp(x), "softmax": lambda x: np.exp(x - np.max(x, axis=1, keepdims=True)), "mean": lambda x: np.mean(x, axis=0),
    "std": lambda x: np.std(x, axis=1), "method, axis": lambda x: x.mean(axis=0) + x.sum(axis=0, keepdims=True), "T": lambda x: x.T,
    "steps": lambda x: x[::2, 1:], "reversed": lambda x: x[:, ::-1], "new axis": lambda x: x[:, None, ..., 2],
    "columns": lambda x: x[:, [2, 0]],
    "concatenate": lambda x: np.concatenate([x, x * 2], axis=1), "stack": lambda x: np.stack([x, -x], axis=1), "where": lambda x: np.where(
        x > 0, x, 0), "clip": lambda x: np.clip(x, -0.5, 0.5), "array first": lambda x: W.T @ x.T, "array plus": lambda x: W[:, 0] + x,
    "number first": lambda x: np.float32(2) * x, "minus": lambda x: W[0, 0] - x, "compared": lambda x: np.ones(4, np.float32) > x,
    "equal": lambda x: np.equal(x, x), "==": lambda x: x == x[::-1] * 1, "!=": lambda x: x != X,
    "logical": lambda x: np.logical_and(x > 0, x < 1), "reduce": lambda x: np.add.reduce(x, axis=1),
    "maximum": lambda x: np.maximum(x, 0), "einsum": lambda x: np.einsum("bi,ij->bj", x, W), "norm": lambda x: np.linalg.norm(x, axis=1),
    "cumsum": lambda x: np.cumsum(x, axis=1), "swapaxes": lambda x: np.swapaxes(x, 0, 1), "expand": lambda x: np.expand_dims(x, 0),
    "power": lambda x: np.power(x, 2), "types joined": lambda x: np.add(x, (x > 0).astype(np.float64) if isinstance(x, np.ndarray)
                                                                        else (x > 0).cast_to(DataType.DOUBLE)),
    "argmax": lambda x: np.argmax(x, axis=1), "diff": lambda x: np.diff(x, axis=1), "any": lambda x: np.any(x > 1, axis=1),
}


@pytest.mark.parametrize("name", CODE)
def test_as_in_numpy(name):
    sd = SameDiff.create()
    made = CODE[name](sd.placeholder("x", DataType.FLOAT, -1, 4))
    wanted, found = CODE[name](X), sd.output_single({"x": X}, made)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, 2e-6, 1e-6)


def test_gradients_follow():
    sd = SameDiff.create()
    w = sd.var("w", X)
    np.sum(np.square(np.concatenate([w, np.exp(w)], axis=1))).rename("loss").mark_as_loss()
    found = sd.calculate_gradients({}, "w")["w"]
    np.testing.assert_allclose(found, 2 * X + 2 * np.exp(2 * X), 1e-5)


def test_ops_are_those_of_dl4j():
    sd = SameDiff.create()
    x, i = sd.var("x", X), sd.constant(np.arange(1, 5))
    four = np.ones(4, np.float32)
    names = [f(x).op_name() for f in (np.exp, np.tanh, np.abs, np.negative, lambda v: np.add(v, 1), lambda v: four * v)]
    assert names == [f(x).op_name() for f in (sd.math.exp, sd.math.tanh, sd.math.abs, sd.math.neg, lambda v: v + 1, lambda v: v * four)]
    np.testing.assert_allclose(np.divide(i, 2).eval(), [0.5, 1, 1.5, 2])
    assert np.matmul(i, i).eval() == 30


def test_equality_with_what_holds_numbers_is_never_a_plain_answer():
    x, row = SameDiff.create().var("x", np.array([1.0, -2.0])), [1.0, 2.0]
    held = [np.array(row), np.float16(1), tuple(row), range(2), array.array("d", row), memoryview(np.array(row)), Fraction(1),
            Decimal(1), 1j, type("Tensor", (), {"__array__": lambda self, *args, **options: np.array(row)})()]
    with contextlib.suppress(ImportError):
        pandas, polars = (importlib.import_module(name) for name in ("pandas", "polars"))
        held += [pandas.Series(row), pandas.DataFrame({"a": row}), polars.Series(row)]
        assert (pandas.Series(row) * x).eval().tolist() == [1.0, -4.0] and pandas.Series(row).eq(x).eval().tolist() == [True, False]
    for other in held:
        for compare in (operator.eq, operator.ne):
            with contextlib.suppress(DL4PyError):
                assert isinstance(compare(x, other), SDVariable), other
    assert (x == "x") is False and (x == None) is False and x != {}           # noqa: E711


@pytest.mark.parametrize("call, said", [
    (lambda x: np.unique(x), "np.unique.*depends on values"), (lambda x: np.nonzero(x), "np.nonzero.*depends on values"),
    (lambda x: np.fft.fft2(x), "np.fft.fft2.*no graph node"), (lambda x: np.exp(x, out=np.ones((5, 4), np.float32)), "np.exp with out="),
    (lambda x: np.frexp(x), "np.frexp"), (lambda x: x[x > 0], "truth values|needs whole numbers|index"),
    (lambda x: np.add.at(x, 0, 1), "np.add.at"), (lambda x: np.concatenate([x, SameDiff.create().var("y", X)]), "another graph"),
    (lambda x: np.roll(x, x), "np.roll.*its shift must be known"), (lambda x: x.sum(axis=7), "axis|dimension")])
def test_refused_and_nothing_is_added(call, said):
    sd = SameDiff.create()
    x = sd.var("x", X)
    before = sd.ops()
    with pytest.raises(DL4PyError, match=said):
        call(x)
    assert sd.ops() == before or "truth" in said


@pytest.mark.parametrize("given", [0.5, 2, np.float32(3), np.array([1, 2], np.float32)], ids=str)
def test_outer_forms_with_numbers(given):
    x = SameDiff.create().var("x", X)
    np.testing.assert_allclose(np.subtract.outer(given, x).eval(), np.subtract.outer(given, X), rtol=1e-6)
    np.testing.assert_allclose(np.subtract.outer(x, given).eval(), np.subtract.outer(X, given), rtol=1e-6)


@pytest.mark.parametrize("kind, op_ids", [("BOOL", ["and", "or", "xor", "boolean_not"]),
                                          ("INT", ["bitwise_and", "bitwise_or", "bitwise_xor", "toggle_bits"])])
def test_operators_of_bits_are_dl4js_ops_and_numpys_values(kind, op_ids):
    values, beside = (np.array([True, False]), True) if kind == "BOOL" else (np.array([6, 3], np.int32), 5)
    sd = SameDiff()
    x = sd.placeholder("x", kind, 2)
    calls = [lambda a: a & a[::-1], lambda a: a | a[::-1], lambda a: a ^ a[::-1], lambda a: ~a, lambda a: a & beside, lambda a: beside & a,
             lambda a: a | beside, lambda a: beside | a, lambda a: beside ^ a]
    made = [call(x) for call in calls]
    for call, found in zip(calls, made):
        np.testing.assert_array_equal(found.eval({"x": values}), call(values))
    assert {op.op_name() for op in sd.ops()} - {"strided_slice", "reverse", "array_call"} == set(op_ids)


def test_bits_of_fractions_are_refused():
    x = SameDiff().placeholder("x", "FLOAT", 2)
    for call in (lambda: ~x, lambda: x & x, lambda: x | 1, lambda: 1 ^ x):
        with pytest.raises(GraphError, match="no graph node"):
            call()
