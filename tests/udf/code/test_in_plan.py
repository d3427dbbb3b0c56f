"""User ops whose code has graph nodes run as these in plans."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import ShapeError
from dl4py.udf import user_op

X = np.linspace(-1, 2, 24, dtype=np.float32).reshape(2, 3, 4)


@user_op("test_in_plan.rms")
def rms(xp, x, *, axes: tuple[int, ...] = (-1,)):
    return xp.sqrt(xp.mean(x * x, axis=axes, keepdims=True))


@user_op("test_in_plan.attend")
def attend(xp, q, k, mask=None):
    scores = q @ xp.swapaxes(k, -1, -2)
    scores = xp.exp(scores if mask is None else scores * mask)
    return scores @ k, xp.sum(scores, axis=-1)


@user_op("test_in_plan.noisy")
def noisy(xp, x):
    return xp.sum(x + np.random.normal(size=4), axis=-1)


@user_op("test_in_plan.promised", infer=lambda x: TensorSpec(x.shape[:-1], DataType.DOUBLE))
def promised(xp, x):
    return xp.sum(x, axis=-1)


@user_op("test_in_plan.values")
def values(xp, x):
    return xp.sum(x, axis=0 if xp.sum(x) > 0 else -1)


def graph(op, *rest, **attributes):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, -1, 4)
    made = op(x, *rest, **attributes) if not rest else op(x, x, *rest)
    return sd, [v.name() for v in (made if isinstance(made, list) else [made])]


def in_python(sd, names, x=X):
    return [line for line in sd.explain({"x": x}, *names).splitlines() if " python " in line]


@pytest.mark.parametrize("rows", [2, 1, 0, 5])
def test_reductions_and_products_need_no_python(rows):
    x = np.resize(X, (rows, 3, 4))
    sd, names = graph(rms, axes=(-1, -2))
    np.testing.assert_allclose(sd.output({"x": x}, *names)[names[0]], rms(x, axes=(-1, -2)), 1e-6)
    assert not rows or not in_python(sd, names, x)
    sd = SameDiff.create()
    v = sd.placeholder("x", DataType.FLOAT, -1, -1, 4)
    names = [o.name() for o in attend(v, v)]
    for got, expected in zip(sd.output({"x": x}, *names).values(), attend(x, x)):
        np.testing.assert_allclose(got, expected, 1e-5)
    assert not rows or not in_python(sd, names, x)


@pytest.mark.parametrize("op", [noisy, promised, values])
def test_code_that_is_no_graph_or_not_always_the_same_runs_as_it_is(op):
    sd = SameDiff.create()
    names = [op(sd.placeholder("x", DataType.FLOAT, 2, 3, 4)).name()]
    assert len(in_python(sd, names)) == 1
    first, second = (sd.output({"x": X}, *names)[names[0]] for _ in range(2))
    assert np.array_equal(first, second) == (op is not noisy)
    if op is not noisy:
        np.testing.assert_allclose(first, op(X), 1e-6)


def test_training_is_that_of_the_reference(monkeypatch):
    def gradient():
        sd = SameDiff.create()
        x = sd.var("x", X.astype(np.float64))
        rms(x).sum().mark_as_loss()
        return sd.calculate_gradients({}, "x")["x"]
    fast = gradient()
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    np.testing.assert_allclose(fast, gradient(), 1e-12)


def test_code_that_fails_names_its_line_as_before():
    @user_op("test_in_plan.fails", infer=lambda x: x)
    def fails(xp, x):
        return xp.sum(x, axis=3)
    sd, names = graph(fails)
    with pytest.raises((ShapeError, np.exceptions.AxisError)) as caught:
        sd.output({"x": X}, *names)
    assert any("test_in_plan.fails" in note and "axis=3" in note for note in caught.value.__notes__)
