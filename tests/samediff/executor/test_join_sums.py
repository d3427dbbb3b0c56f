"""Gradients of a parameter that is used many times are joined before they are summed."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.graph.gradient_check import check_gradient


def chain(sd, x, b, times=4):
    for _ in range(times):
        x = sd.math.tanh(x * 1.01 + b)
    return x


def gradient(monkeypatch, executor, x, b):
    if executor:
        monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    else:
        monkeypatch.delenv("DL4PY_EXECUTOR", raising=False)
    sd = SameDiff.create()
    chain(sd, sd.placeholder("x", DataType.FLOAT, -1, x.shape[1]), sd.var("b", b)).mark_as_loss()
    return sd.calculate_gradients({"x": x}, "x", "b")


@pytest.mark.parametrize("shape", [(8, 5), (5,), (1, 5), (1, 1)])
def test_values_stay(monkeypatch, shape):
    rng = np.random.default_rng(0)
    x, b = rng.standard_normal((8, 5)).astype("f"), rng.standard_normal(shape).astype("f")
    ours = gradient(monkeypatch, None, x, b)
    reference = gradient(monkeypatch, "reference", x, b)
    for name in ours:
        np.testing.assert_allclose(ours[name], reference[name], rtol=2e-6, atol=2e-6)


def test_one_sum_is_left():
    sd = SameDiff.create()
    chain(sd, sd.placeholder("x", DataType.FLOAT, 8, 5), sd.var("b", np.zeros(5, "f"))).mark_as_loss()
    graph, found = sd.create_grad_function("b"), sd.tables.gradients.found
    text = graph.explain({"x": np.ones((8, 5), "f")}, found["b"].name(), training=True)
    assert sum("sum_to" in line for line in text.splitlines()) == 1, text


def test_sums_of_other_sizes_stay_apart():
    """A bias of two branches with batches of their own: their terms cannot be added."""
    rng = np.random.default_rng(1)
    a, c, b = (rng.standard_normal(s) for s in ((3, 4), (5, 4), (4,)))

    def build(sd, v):
        return sd.math.tanh(v[0] + v[2]).sum() + sd.math.tanh(v[1] + v[2]).sum()
    check_gradient(build, [a, c, b], 2, 1e-6)


def test_a_sum_that_is_asked_for_besides():
    sd = SameDiff.create()
    x, b = sd.var("x", np.arange(6.0).reshape(2, 3)), sd.var("b", np.ones(3))
    first = sd.math.sin(x + b)
    loss = (first * sd.math.cos(x - b)).sum("loss")
    (g,) = sd.gradients(loss, b)
    parts = sd.gradients(g.sum(), [b, x])
    values = sd.output({}, g, *parts)
    assert all(np.isfinite(v).all() for v in values.values())
