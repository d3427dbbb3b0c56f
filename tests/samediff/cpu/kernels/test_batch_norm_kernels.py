"""Batch normalization where rounding, infinities and shares of the work show; products made of dot products."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.cpu.kernels import batch_norm
from dl4py.samediff.cpu.matrix.dot_products import dots

EPSILON = 1e-3


def normalized(x, parts=1, gamma=None, beta=None):
    """y, mean and variance."""
    channels = x.shape[1]
    gamma = np.ones(channels, x.dtype) if gamma is None else gamma
    beta = np.zeros(channels, x.dtype) if beta is None else beta
    y, mean, variance = np.full_like(x, 7), *(np.full(channels, 7, x.dtype) for _ in range(2))
    for part in range(parts):
        batch_norm.batch_normalize_training(x, gamma, beta, y, mean, variance, EPSILON, part, parts)
    return y, mean, variance


@pytest.mark.parametrize("first", [1e4, -3e6, 0.0, 5.0])
@pytest.mark.parametrize("offset", [0.0, 1e3, -4e4])
@pytest.mark.parametrize("space", [1, 9])
def test_far_values_and_far_first_ones_keep_their_digits(space, offset, first, rng):
    x = (offset + rng.normal(size=(64, 3, space))).astype(np.float32)
    x[0, 1, 0] += first
    y, mean, variance = normalized(x)
    wide = x.astype(float)
    m, v = wide.mean((0, 2)), wide.var((0, 2))
    np.testing.assert_allclose(mean, m, rtol=2e-7, atol=1e-6)
    np.testing.assert_allclose(variance, v, rtol=2e-4)
    want = (wide - m[:, None]) / np.sqrt(v + EPSILON)[:, None]
    np.testing.assert_allclose(y, want, atol=2e-4 * np.abs(want).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.1, 1e-3, 3.3e7, -7.7])
@pytest.mark.parametrize("shape", [(3, 2, 1), (7, 2, 1), (3, 2, 11)])
def test_equal_values_are_exactly_their_mean(shape, value, dtype):
    beta = np.array([0.3, -0.7], dtype)
    y, mean, variance = normalized(np.full(shape, value, dtype), beta=beta)
    assert (mean == dtype(value)).all() and not variance.any() and (y == beta[:, None]).all()


@pytest.mark.parametrize("space", [1, 5])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 2])
def test_values_that_are_not_finite_stay_in_their_channel(place, bad, space, rng):
    x = rng.normal(size=(4, 3, space))
    x[place, 1, space - 1 if place else 0] = bad
    y, mean, variance = normalized(x)
    others = [0, 2]
    clean, m, v = normalized(np.ascontiguousarray(x[:, others]))
    np.testing.assert_allclose(y[:, others], clean, rtol=1e-9)
    np.testing.assert_allclose([mean[others], variance[others]], [m, v], rtol=1e-12)
    assert not np.isfinite(mean[1]) and not np.isfinite(variance[1])


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("channels", [1, 15, 16, 17, 33, 100])
@pytest.mark.parametrize("space", [1, 2])
def test_each_channel_is_the_work_of_one_part(space, channels, parts, rng):
    x, dy = (rng.normal(size=(5, channels, space)) for _ in range(2))
    _, mean, variance = normalized(x)
    gamma, owners = rng.normal(size=channels), np.zeros(channels, int)
    firsts = []
    whole = [np.empty_like(x), np.empty(channels), np.empty(channels)]
    batch_norm.batch_normalize_backward(x, dy, mean, variance, gamma, *whole, EPSILON, 0, 1)
    for part in range(parts):
        results = [np.full_like(x, np.nan), *(np.full(channels, np.nan) for _ in range(2))]
        batch_norm.batch_normalize_training(x, gamma, gamma, *results, EPSILON, part, parts)
        mine = ~np.isnan(results[1])
        owners += mine
        firsts += [int(mine.argmax())] if mine.any() else []
        assert (np.isnan(results[0]) == ~mine[:, None]).all() and (np.isnan(results[2]) == ~mine).all()
        np.testing.assert_allclose([results[1][mine], results[2][mine]], [mean[mine], variance[mine]], rtol=1e-12)
        gradients = [np.full_like(x, np.nan), *(np.full(channels, np.nan) for _ in range(2))]
        batch_norm.batch_normalize_backward(x, dy, mean, variance, gamma, *gradients, EPSILON, part, parts)
        for found, wanted, axis in zip(gradients, whole, (1, 0, 0)):
            np.testing.assert_allclose(np.compress(mine, found, axis), np.compress(mine, wanted, axis), rtol=1e-9, atol=1e-13)
            assert np.isnan(np.compress(~mine, found, axis)).all()
    assert (owners == 1).all()
    assert space > 1 or all(c % 16 == 0 for c in firsts)           # cache lines are not shared


@pytest.mark.parametrize("space", [1, 4])
def test_gradients_take_the_place_of_those_that_were_given(space, rng):
    x, dy = (rng.normal(size=(5, 3, space)) for _ in range(2))
    _, mean, variance = normalized(x)
    gamma, apart, sums = rng.normal(size=3), np.empty_like(x), np.empty((4, 3))
    batch_norm.batch_normalize_backward(x, dy, mean, variance, gamma, apart, *sums[:2], EPSILON, 0, 1)
    batch_norm.batch_normalize_backward(x, dy, mean, variance, gamma, dy, *sums[2:], EPSILON, 0, 1)
    np.testing.assert_allclose(dy, apart, rtol=1e-12)
    np.testing.assert_allclose(sums[:2], sums[2:], rtol=1e-12)


def test_statistics_are_copied():
    mean, variance, m, v = np.arange(5.0), np.arange(5.0) + 10, np.zeros(5), np.zeros(5)
    batch_norm.copy_statistics(mean, variance, m, v)
    assert m.tolist() == mean.tolist() and v.tolist() == variance.tolist()


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 9, 17])
def test_products_of_rows(columns, parts, rng):
    for rows, depth in ((1, 1), (3, 5), (2, 16)):
        a, b, c = rng.normal(size=(rows, depth)), rng.normal(size=(columns, depth)), np.full((rows, columns), np.nan)
        for part in range(parts):
            before = c.copy()
            dots(a, b, c, part, parts)
            assert np.isnan(before[~np.isnan(c) & (c != before)]).all()         # nothing is written twice
        np.testing.assert_allclose(c, a @ b.T, rtol=1e-12, atol=1e-12)
