# mypy: ignore-errors
"""Batch normalization over batch and space.

Shapes: x, y, dy, dx (batch, channels, space), with space 1 for feed-forward data; everything else (channels).
y = gamma * (x - mean) / sqrt(variance + epsilon) + beta.  Source: Ioffe and Szegedy, 2015.
Sums over channels are carried in float64.
"""
from __future__ import annotations

import numpy as np

from ...cache import kernel


@kernel
def batch_statistics(x, mean, variance):
    """Mean and (biased) variance of each channel."""
    batch, channels, space = x.shape
    count = max(batch * space, 1)
    total = np.zeros(channels, np.float64)
    for n in range(batch):
        if space == 1:
            for c in range(channels):
                total[c] += x[n, c, 0]
        else:
            for c in range(channels):
                s = x.dtype.type(0)
                for k in range(space):
                    s += x[n, c, k]
                total[c] += s
    for c in range(channels):
        mean[c] = total[c] / count
        total[c] = 0
    for n in range(batch):
        if space == 1:
            for c in range(channels):
                d = x[n, c, 0] - mean[c]
                total[c] += d * d
        else:
            for c in range(channels):
                m = mean[c]
                s = x.dtype.type(0)
                for k in range(space):
                    d = x[n, c, k] - m
                    s += d * d
                total[c] += s
    for c in range(channels):
        variance[c] = total[c] / count


@kernel
def copy_statistics(mean, variance, m, v):
    """Given statistics as results."""
    for c in range(mean.size):
        m[c], v[c] = mean[c], variance[c]


@kernel
def batch_normalize(x, mean, variance, gamma, beta, y, epsilon):
    """y from given statistics."""
    batch, channels, space = x.shape
    scale = np.empty(channels, x.dtype)
    for c in range(channels):
        scale[c] = gamma[c] / np.sqrt(variance[c] + epsilon)
    for n in range(batch):
        if space == 1:
            for c in range(channels):
                y[n, c, 0] = (x[n, c, 0] - mean[c]) * scale[c] + beta[c]
        else:
            for c in range(channels):
                m, a, b = mean[c], scale[c], beta[c]
                for k in range(space):
                    y[n, c, k] = (x[n, c, k] - m) * a + b


@kernel
def batch_normalize_backward(x, dy, mean, variance, gamma, dx, dgamma, dbeta, epsilon):
    """Gradients when the statistics are those of x itself; dx may be dy."""
    batch, channels, space = x.shape
    count = max(batch * space, 1)
    plain = np.zeros(channels, np.float64)
    product = np.zeros(channels, np.float64)
    for n in range(batch):
        if space == 1:
            for c in range(channels):
                plain[c] += dy[n, c, 0]
                product[c] += dy[n, c, 0] * (x[n, c, 0] - mean[c])
        else:
            for c in range(channels):
                m = mean[c]
                s = x.dtype.type(0)
                t = x.dtype.type(0)
                for k in range(space):
                    s += dy[n, c, k]
                    t += dy[n, c, k] * (x[n, c, k] - m)
                plain[c] += s
                product[c] += t
    by_dy = np.empty(channels, x.dtype)
    by_x = np.empty(channels, x.dtype)
    rest = np.empty(channels, x.dtype)
    for c in range(channels):
        inverse = 1.0 / np.sqrt(np.float64(variance[c]) + epsilon)
        dgamma[c] = product[c] * inverse
        dbeta[c] = plain[c]
        a = gamma[c] * inverse
        b = -a * product[c] * inverse * inverse / count
        by_dy[c] = a
        by_x[c] = b
        rest[c] = -a * plain[c] / count
    for n in range(batch):
        if space == 1:
            for c in range(channels):
                dx[n, c, 0] = dy[n, c, 0] * by_dy[c] + (x[n, c, 0] - mean[c]) * by_x[c] + rest[c]
        else:
            for c in range(channels):
                m, a, b, r = mean[c], by_dy[c], by_x[c], rest[c]
                for k in range(space):
                    dx[n, c, k] = dy[n, c, k] * a + (x[n, c, k] - m) * b + r
