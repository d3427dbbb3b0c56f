"""Pooling, im2col and batch-norm kernels against plain NumPy."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.cpu.kernels import batch_norm, im2col, pooling

TYPES = [np.float32, np.float64]
ONE_TYPE = [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)]       # each is compiled for itself
WINDOWS = [  # image (h, w), kernel, stride, padding, dilation
    ((4, 4), (2, 2), (2, 2), (0, 0), (1, 1)),
    ((5, 7), (3, 2), (1, 1), (1, 1), (1, 1)),
    ((7, 5), (3, 3), (2, 3), (1, 0), (2, 1)),
    ((1, 1), (1, 1), (1, 1), (0, 0), (1, 1)),
    ((3, 3), (5, 5), (1, 2), (2, 2), (1, 1)),
]


def out_size(size, k, s, p, d):
    return (size + 2 * p - d * (k - 1) - 1) // s + 1


def patches(x, kernel, stride, padding, dilation, fill):
    """(batch, channels, kh, kw, oh, ow) in the plainest way."""
    n, c, h, w = x.shape
    oh, ow = (out_size(*v) for v in zip((h, w), kernel, stride, padding, dilation))
    found = np.full((n, c, *kernel, oh, ow), fill, x.dtype)
    for p, q, i, j in np.ndindex(*kernel, oh, ow):
        r, s = i * stride[0] - padding[0] + p * dilation[0], j * stride[1] - padding[1] + q * dilation[1]
        if 0 <= r < h and 0 <= s < w:
            found[:, :, p, q, i, j] = x[:, :, r, s]
    return found


def axes(window):
    """What kernels take: a depth of one cell comes first."""
    _, kernel, stride, padding, dilation = window
    return (1, *kernel), (1, *stride), (0, *padding), (1, *dilation)


def planes(array, behind=2):
    """Channels of all images as planes of depth 1; ``behind`` axes are spatial."""
    return array.reshape(-1, 1, *array.shape[-behind:])


def columned(array):
    return array.reshape(-1, 1, *array.shape[2:4], 1, *array.shape[4:])


@pytest.fixture(params=WINDOWS, ids=str)
def window(request):
    return request.param


@pytest.mark.parametrize("dtype", ONE_TYPE)
@pytest.mark.parametrize("batch", [1, 3])
def test_im2col_and_its_transpose(window, batch, dtype, rng):
    image, kernel, stride, padding, dilation = window
    x = rng.normal(size=(batch, 2, *image)).astype(dtype)
    want = patches(x, kernel, stride, padding, dilation, 0)
    columns = np.full_like(want, 9)
    im2col.im2col(planes(x), columned(columns), axes(window))
    np.testing.assert_array_equal(columns, want)
    weight, back = rng.normal(size=want.shape).astype(dtype), np.full_like(x, 9)
    im2col.col2im(columned(weight), planes(back), axes(window))
    probe = rng.normal(size=x.shape).astype(dtype)  # <im2col(probe), weight> = <probe, col2im(weight)>
    left = (patches(probe, kernel, stride, padding, dilation, 0).astype(float) * weight).sum()
    np.testing.assert_allclose((probe.astype(float) * back).sum(), left, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ONE_TYPE)
def test_max_pooling(window, dtype, rng):
    image, kernel, stride, padding, dilation = window
    x = rng.normal(size=(2, 3, *image)).astype(dtype)
    all_patches = patches(x, kernel, stride, padding, dilation, -np.inf)
    want = all_patches.max((2, 3))
    y, index = np.empty_like(want), np.empty(want.shape, np.int32)
    pooling.max_pool(planes(x), planes(y), planes(index), axes(window))
    np.testing.assert_array_equal(y, want)
    dy, dx = rng.normal(size=y.shape).astype(dtype), np.full_like(x, 9)
    pooling.max_pool_backward(planes(dy), planes(index), planes(dx))
    share = (all_patches == want[:, :, None, None]) * dy[:, :, None, None]
    np.testing.assert_allclose(dx, folded(share.astype(dtype), x, window), rtol=1e-5, atol=1e-6)


def folded(columns, x, window):
    back = np.empty_like(x)
    im2col.col2im(columned(np.ascontiguousarray(columns)), planes(back), axes(window))
    return back


def test_max_pooling_keeps_nan_and_takes_the_first_of_equals():
    x = np.array([[[[1, np.nan, 2, 2]]]], np.float32)
    y, index = np.empty((1, 1, 1, 2), np.float32), np.empty((1, 1, 1, 2), np.int32)
    pooling.max_pool(planes(x), planes(y), planes(index), ((1, 1, 2), (1, 1, 2), (0, 0, 0), (1, 1, 1)))
    assert np.isnan(y[0, 0, 0, 0])
    assert index.ravel().tolist() == [1, 2]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 3, 1), (6, 40, 1), (4, 3, 5), (3, 1, 33), (2, 0, 4)])
def test_batch_normalization(shape, parts, dtype, rng):
    x, dy = (3 + rng.normal(size=shape).astype(dtype) for _ in range(2))
    gamma, beta = rng.normal(size=shape[1]).astype(dtype), rng.normal(size=shape[1]).astype(dtype)
    mean, variance, dgamma, dbeta = (np.empty(shape[1], dtype) for _ in range(4))
    y, dx, epsilon = np.empty_like(x), np.empty_like(x), 1e-3
    for part in range(parts):
        batch_norm.batch_normalize_training(x, gamma, beta, y, mean, variance, epsilon, part, parts)
    wide = x.astype(float)
    m, v = wide.mean((0, 2)), wide.var((0, 2))
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-10}
    np.testing.assert_allclose(mean, m, **tolerance)
    np.testing.assert_allclose(variance, v, **tolerance)
    again = np.empty_like(y)
    batch_norm.batch_normalize(x, mean, variance, gamma, beta, again, epsilon)
    np.testing.assert_allclose(again, y, **tolerance)
    hat = (wide - m[:, None]) / np.sqrt(v + epsilon)[:, None]
    np.testing.assert_allclose(y, hat * gamma[:, None] + beta[:, None], **tolerance)
    for part in range(parts):
        batch_norm.batch_normalize_backward(x, dy, mean, variance, gamma, dx, dgamma, dbeta, epsilon, part, parts)
    np.testing.assert_allclose(dbeta, dy.astype(float).sum((0, 2)), **tolerance)
    np.testing.assert_allclose(dgamma, (dy * hat).sum((0, 2)), **tolerance)
    g = dy.astype(float) * gamma[:, None]
    want = (g - g.mean((0, 2))[:, None] - hat * (g * hat).mean((0, 2))[:, None]) / np.sqrt(v + epsilon)[:, None]
    np.testing.assert_allclose(dx, want, **tolerance)
