# mypy: ignore-errors
"""Batch normalization over batch and space.

Shapes: x, y, dy, dx (batch, channels, space), with space 1 for feed-forward data; everything else (channels).
y = gamma * (x - mean) / sqrt(variance + epsilon) + beta.  Source: Ioffe and Szegedy, 2015.
Sums over channels are carried in float64. A part has channels of its own: results do not depend on the number of parts.
Means are taken of differences from the first element: where all of a channel are equal, they differ from their mean by exactly 0.

Arrays are taken flat with unsigned places: signed ones are checked for being negative, which costs vector code.
"""
from __future__ import annotations

import numpy as np

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from ..library.address import in_line
from ..library.intrinsics import fabs

U = np.uintp
LINE = 16       # parts of a row of feed-forward data do not share a cache line


@function(forceinline=True, error_model="numpy")
def _channels(channels, space, part, parts):
    """The first channel of a part, and how many it has."""
    first, last = channels * part // parts, channels * (part + 1) // parts
    if space == 1:
        first, last = min((first + LINE - 1) // LINE * LINE, channels), min((last + LINE - 1) // LINE * LINE, channels)
    return first, last - first


@function(forceinline=True, error_model="numpy", fastmath={"contract"})
def _minus(a, b):
    """The difference, kept from being fused with surrounding operations, so that equal numbers give exactly 0."""
    return a - b


@function(error_model="numpy")
def _moved(start, rest, total, count):
    """Whether a first element was too far from the mean for differences from it to keep their digits; the mean takes its place."""
    moved = False
    for c in range(start.size):
        spread = total[c] / count
        if not (rest[c] * rest[c] <= 16 * spread and spread < np.inf):
            start[c] = start[c] + rest[c] if fabs(rest[c]) < np.inf else 0
            moved = True
    return moved


@function(error_model="numpy")
def _wide_spread(flat, center, rest, channel, channels, batch, space):
    """The sum of squares, where float32 does not hold it."""
    total = 0.0
    for n in range(batch):
        at = U((n * channels + channel) * space)
        for k in range(space):
            d = np.float64(flat[at + U(k)]) - center - rest
            total += d * d
    return total


@kernel
def batch_normalize_training(x, gamma, beta, y, mean, variance, epsilon, part, parts):
    """Mean and (biased) variance of each channel, and y by them."""
    batch, channels, space = x.shape
    count = max(batch * space, 1)
    first, width = _channels(channels, space, part, parts)
    flat, result = in_line(x), in_line(y)
    total = np.zeros(width, np.float64)
    start, rest = np.empty(width, x.dtype), np.empty(width, x.dtype)
    scale, shift = np.empty(width, x.dtype), np.empty(width, x.dtype)
    for c in range(width):
        v = flat[U((first + c) * space)]
        start[c] = v if fabs(v) < np.inf else 0
    for again in range(2):
        for n in range(batch):
            at = U((n * channels + first) * space)
            if space == 1:
                for c in range(width):
                    total[c] += _minus(flat[at + U(c)], start[c])
            else:
                for c in range(width):
                    m = start[c]
                    s = x.dtype.type(0)
                    for k in range(space):
                        s += _minus(flat[at + U(k)], m)
                    total[c] += s
                    at += U(space)
        for c in range(width):
            rest[c] = total[c] / count
            total[c] = 0
        for n in range(batch):
            at = U((n * channels + first) * space)
            if space == 1:
                for c in range(width):
                    d = _minus(_minus(flat[at + U(c)], start[c]), rest[c])
                    total[c] += d * d
            else:
                for c in range(width):
                    m, r = start[c], rest[c]
                    s = x.dtype.type(0)
                    for k in range(space):
                        d = _minus(_minus(flat[at + U(k)], m), r)
                        s += d * d
                    total[c] += s
                    at += U(space)
        if again or not _moved(start, rest, total, count):
            break
        total[:] = 0
    for c in range(width):
        if not total[c] < np.inf:
            total[c] = _wide_spread(flat, start[c], rest[c], first + c, channels, batch, space)
        spread = total[c] / count
        mean[first + c] = start[c] + rest[c]
        variance[first + c] = spread
        scale[c] = gamma[first + c] / np.sqrt(spread + epsilon) if spread < np.inf else 0
        shift[c] = beta[first + c] - rest[c] * scale[c]
    for n in range(batch):
        at = U((n * channels + first) * space)
        if space == 1:
            for c in range(width):
                result[at + U(c)] = _minus(flat[at + U(c)], start[c]) * scale[c] + shift[c]
        else:
            for c in range(width):
                m, a, b = start[c], scale[c], shift[c]
                for k in range(space):
                    result[at + U(k)] = _minus(flat[at + U(k)], m) * a + b
                at += U(space)


@kernel
def copy_statistics(mean, variance, m, v):
    """Copy the given statistics to the results."""
    for c in range(mean.size):
        m[c], v[c] = mean[c], variance[c]


@kernel
def batch_normalize(x, mean, variance, gamma, beta, y, epsilon):
    """Normalize x with given statistics, then scale and shift."""
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
def batch_normalize_backward(x, dy, mean, variance, gamma, dx, dgamma, dbeta, epsilon, part, parts):
    """Gradients when the statistics are those of x itself; dx may be dy."""
    batch, channels, space = x.shape
    count = max(batch * space, 1)
    first, width = _channels(channels, space, part, parts)
    flat, given, result = in_line(x), in_line(dy), in_line(dx)
    plain, product, left = np.zeros(width, np.float64), np.zeros(width, np.float64), np.zeros(width, np.float64)
    center, middle, by_dy, by_x = np.empty(width, x.dtype), np.empty(width, x.dtype), np.empty(width, x.dtype), np.empty(width, x.dtype)
    rest = np.empty(width, x.dtype)
    for c in range(width):
        center[c] = mean[first + c]
    for n in range(batch):
        at = U((n * channels + first) * space)
        if space == 1:
            for c in range(width):
                d = flat[at + U(c)] - center[c]
                plain[c] += given[at + U(c)]
                product[c] += given[at + U(c)] * d
                left[c] += d
        else:
            for c in range(width):
                m = center[c]
                s = x.dtype.type(0)
                t = x.dtype.type(0)
                u = x.dtype.type(0)
                for k in range(space):
                    d = flat[at + U(k)] - m
                    s += given[at + U(k)]
                    t += given[at + U(k)] * d
                    u += d
                plain[c] += s
                product[c] += t
                left[c] += u
                at += U(space)
    for c in range(width):
        rest[c] = left[c] / count               # what rounding took from the mean
        spread = np.float64(variance[first + c])
        if not spread < np.inf:
            spread = _wide_spread(flat, center[c], rest[c], first + c, channels, batch, space) / count
        inverse = 1.0 / np.sqrt(spread + epsilon)
        product[c] -= plain[c] * left[c] / count
        dgamma[first + c] = product[c] * inverse
        dbeta[first + c] = plain[c]
        a = gamma[first + c] * inverse
        by_dy[c] = a
        by_x[c] = product[c] * inverse * inverse / count         # without a, which would make it too small for its type
        middle[c] = plain[c] / count
    for n in range(batch):
        at = U((n * channels + first) * space)
        if space == 1:
            for c in range(width):
                d = _minus(_minus(flat[at + U(c)], center[c]), rest[c])
                result[at + U(c)] = (_minus(given[at + U(c)], middle[c]) - d * by_x[c]) * by_dy[c]
        else:
            for c in range(width):
                m, r, g, a, b = center[c], rest[c], middle[c], by_dy[c], by_x[c]
                for k in range(space):
                    result[at + U(k)] = (_minus(given[at + U(k)], g) - _minus(_minus(flat[at + U(k)], m), r) * b) * a
                at += U(space)
