"""Cross-entropy kernels against NumPy."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.executor.cpu.kernels import cross_entropy

TYPES = [np.float32, np.float64]
SHAPES = [(0, 3), (1, 1), (5, 7), (3, 33)]


def tolerance(dtype):
    return {"rtol": 2e-5, "atol": 2e-6} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-13}


def probabilities(x):
    x = x.astype(np.float64)
    e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_entropy_with_any_labels(shape, dtype, rng):
    z, labels = 4 * rng.normal(size=shape).astype(dtype), rng.random(shape).astype(dtype)
    scale = rng.random(shape[0]).astype(dtype)
    p = probabilities(z)
    want = -(labels * np.log(p)).sum(1)
    slope = (p * labels.sum(1, keepdims=True) - labels) * scale[:, None]
    losses, gradient = np.empty(shape[0], dtype), np.empty_like(z)
    cross_entropy.softmax_cross_entropy(z, labels, losses)
    np.testing.assert_allclose(losses, want, **tolerance(dtype))
    cross_entropy.softmax_cross_entropy_gradient(z, labels, scale, gradient)
    np.testing.assert_allclose(gradient, slope, **tolerance(dtype))
    losses[:] = 0
    cross_entropy.softmax_cross_entropy_both(z, labels, scale, losses, z)
    np.testing.assert_allclose(losses, want, **tolerance(dtype))
    np.testing.assert_allclose(z, slope, **tolerance(dtype))


def test_masked_logits_and_nan():
    z = np.array([[0, -np.inf, 1], [np.nan, 0, 0]], np.float32)
    labels = np.array([[1, 0, 0], [1, 0, 0]], np.float32)
    losses = np.empty(2, np.float32)
    cross_entropy.softmax_cross_entropy(z, labels, losses)
    assert losses[0] == pytest.approx(np.log1p(np.e), rel=1e-6)
    assert np.isnan(losses[1])
