"""What is normalized over a single value, or over equal ones, has a gradient of exactly 0: optimizers make whole steps of rounding."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff


def by_nodes(sd: Any, x: Any, axis: int) -> Any:
    """A normalization written by hand."""
    rest = x - x.mean(True, axis)
    return rest * sd.math.rsqrt((rest * rest).mean(True, axis) + 1e-5) * 1.3 + 0.2


def less_its_mean(sd: Any, x: Any) -> Any:
    y = x * 1.1
    return (y - y.mean(True, 1)) * 3.3


def by_moments(sd: Any, x: Any) -> Any:
    mean, variance = sd.math.moments(x, 0)
    return (x - mean) / sd.math.sqrt(variance + 1e-5) * 1.3


def softmax_by_nodes(sd: Any, x: Any) -> Any:
    e = sd.math.exp(x - x.max(True, 1))
    return e / e.sum(True, 1)


def layer_norm(sd: Any, x: Any, *dimensions: int) -> Any:
    gain = sd.constant(np.full(x.get_shape()[-1], 1.7, x.dtype.numpy))
    return sd.nn.layer_norm(x, gain, gain, False, *dimensions)


def attention(sd: Any, x: Any) -> Any:
    """Queries, of which each has one key to choose from."""
    key = sd.constant(np.random.default_rng(0).normal(size=(5, 3, 1)).astype(x.dtype.numpy))
    return sd.nn.dot_product_attention(x, key, key, None, True)


#: What is computed of x, and the shape of x.
CASES: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "softmax": (lambda sd, x: sd.nn.softmax(x), (5, 1)),
    "log_softmax": (lambda sd, x: sd.nn.log_softmax(x), (5, 1)),
    "softmax by nodes": (softmax_by_nodes, (5, 1)),
    "less logsumexp": (lambda sd, x: x - sd.math.log_sum_exp(x, True, 1), (5, 1)),
    "attention": (attention, (5, 3, 4)),
    "cross entropy": (lambda sd, x: sd.loss.softmax_cross_entropy(None, sd.constant(np.ones((5, 1), x.dtype.numpy)), x, None), (5, 1)),
    "standardize": (lambda sd, x: sd.math.standardize(x, 1), (5, 1)),
    "standardize, two axes": (lambda sd, x: sd.math.standardize(x, 1, 2), (5, 1, 1)),
    "layer_norm": (lambda sd, x: layer_norm(sd, x, 1), (5, 1)),
    "layer_norm, two axes": (lambda sd, x: layer_norm(sd, x, 1, 2), (5, 1, 1)),
    "variance": (lambda sd, x: sd.math.variance(x, False, 1), (5, 1)),
    "deviation": (lambda sd, x: sd.math.standard_deviation(x, False, 1), (5, 1)),
    "variance of moments": (lambda sd, x: sd.math.moments(x, 1)[1], (5, 1)),
    "batch norm by nodes": (lambda sd, x: by_nodes(sd, x, 0), (1, 5)),
    "layer norm by nodes": (lambda sd, x: by_nodes(sd, x, 1), (5, 1)),
    "by moments": (by_moments, (1, 5)),
    "less its mean": (less_its_mean, (5, 1)),
    "deviation of equal values": (lambda sd, x: sd.math.standard_deviation(x * 0 + 0.1, False, 1), (5, 7)),
    "deviation of equal columns": (lambda sd, x: sd.math.standard_deviation(x * 0 + 0.1, False, 0), (7, 5)),
    "standardize equal values": (lambda sd, x: sd.math.standardize(x * 0 + 0.1, 1), (5, 7)),
}


@pytest.mark.sampled(45)
@pytest.mark.parametrize("executor", ["plan", "reference"])
@pytest.mark.parametrize("dtype", [DataType.FLOAT, DataType.DOUBLE])
@pytest.mark.parametrize("name", CASES)
def test_gradient_is_zero(name, dtype, executor, monkeypatch, rng):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference" if executor == "reference" else "")
    code, shape = CASES[name]
    sd = SameDiff.create()
    x = sd.var("x", rng.normal(size=shape).astype(dtype.numpy))
    y = code(sd, x)
    weights = rng.normal(size=y.eval().shape).astype(dtype.numpy)
    (y * sd.constant(weights)).sum().mark_as_loss()
    assert not sd.calculate_gradients(None, "x")["x"].any()


@pytest.mark.sampled(16)
@pytest.mark.parametrize("executor", ["reference", "plan"])
@pytest.mark.parametrize("dtype", [DataType.FLOAT, DataType.DOUBLE])
@pytest.mark.parametrize("shape, axis", [((37, 3), 0), ((3, 37), 1), ((5, 3, 41), (0, 2)), ((1, 2, 7), 2)])
def test_equal_values_have_no_spread(shape, axis, dtype, executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference" if executor == "reference" else "")
    axes = axis if isinstance(axis, tuple) else (axis,)
    sd = SameDiff.create()
    x = sd.placeholder("x", dtype, *shape)
    mean, variance = sd.math.moments(x, *axes)
    names = [v.name() for v in (mean, variance, sd.math.variance(x, True, *axes), sd.math.standard_deviation(x, False, *axes))]
    value = dtype.numpy.type(1234.1)
    found = sd.output({"x": np.full(shape, value)}, *names)
    assert (found[names[0]] == value).all()
    assert not any(found[n].any() for n in names[1:])
