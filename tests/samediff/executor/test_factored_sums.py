"""Sums of gradients without the factors that stay the same along their axes."""
from __future__ import annotations

import re

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.graph.gradient_check import check_gradient

RNG = np.random.default_rng(0)
X, ROW, OTHER, COLUMN = (RNG.uniform(0.5, 2, s) for s in ((6, 5), (1, 5), (5,), (6, 1)))


def normalized(sd, x, gain, shift):
    """As users write a batch normalization."""
    centred = x - x.mean(True, 0)
    return centred / sd.math.sqrt((centred * centred).mean(True, 0) + 1e-3) * gain + shift


def found(build, arrays, dtype, executor, monkeypatch, training=True):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    variables = [sd.var(f"v{i}", a.astype(dtype)) for i, a in enumerate(arrays)]
    (sd.math.sin(build(sd, *variables)) * sd.constant(np.linspace(-1, 1, 30).reshape(6, 5).astype(dtype))).sum().mark_as_loss()
    return sd.calculate_gradients({}, *[v.name() for v in variables])


FORMS = {
    "norm": (normalized, [X, ROW, OTHER]), "scaled": (lambda sd, x, g: x * g * g, [X, ROW]),
    "vector": (lambda sd, x, g: x * g / 3.0, [X, OTHER]),
    "divided": (lambda sd, x, g: x / g, [X, ROW]), "divided by all": (lambda sd, x, g: g / x, [X, ROW]),
    "columns": (lambda sd, x, g, c: -(x * c) * g * c, [X, ROW, COLUMN]), "number": (lambda sd, x, g: x * g * 0.5, [X, ROW[:, :1]]),
    "twice": (lambda sd, x, g: (x + x) * g + (x - g) * (x - g), [X, ROW]),
    "both": (lambda sd, x, a, b: x * (a * b), [X, ROW, COLUMN]), "alone": (lambda sd, x, g: sd.math.exp(g) * 2.0 + 0.0 * x, [X, ROW])}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_values(form, dtype, monkeypatch):
    build, arrays = FORMS[form]
    ours, reference = (found(build, arrays, dtype, executor, monkeypatch) for executor in ("", "reference"))
    for name, wanted in reference.items():
        tolerance = {"float16": 3e-2, "float32": 2e-5, "float64": 1e-12}[dtype]
        np.testing.assert_allclose(ours[name], wanted, rtol=tolerance, atol=tolerance * max(1, np.abs(wanted).max()))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", FORMS)
def test_second_derivatives(form):
    build, arrays = FORMS[form]
    check_gradient(lambda sd, v: build(sd, *v), arrays, 2, 1e-6)


def steps(build, arrays, dtype=DataType.FLOAT):
    """Lines of the plan of the gradients of all but the first array."""
    sd = SameDiff.create()
    variables = [sd.var(f"v{i}", a.astype(dtype.numpy)) for i, a in enumerate(arrays)]
    sd.math.sin(build(sd, *variables)).mark_as_loss()
    names = [v.name() for v in variables[1:]]
    graph, gradients = sd.create_grad_function(*names), sd.tables.gradients.found
    return graph.explain({}, *[gradients[n].name() for n in names], training=True).splitlines()


def sums(lines):
    """What each sum is of."""
    return [m[1] for m in map(re.compile(r" *\d+ [a-z ]+? +sum_to +(\S+),").match, lines) if m]


def test_gradients_share_sums():
    """Those of gain, mean and deviation all need the sum of the gradient times what is centred."""
    found = sums(steps(normalized, [X, ROW, OTHER]))
    assert len(found) == len(set(found)) == 2, found
    found = sums(steps(lambda sd, x, gain, shift: normalized(sd, x + shift, gain, shift), [X, ROW, OTHER]))
    assert len(found) == len(set(found)), found


def test_a_product_that_nobody_else_reads_is_not_made():
    def build(sd, x, g):
        return x * 2.0 + sd.math.cos(x) * g * 3.0
    (of,) = sums(steps(build, [X, ROW]))
    assert "product" in of
    (of,) = sums(steps(build, [X, ROW], DataType.HALF))            # where a sum without the factor might overflow
    assert "product" not in of
