# mypy: ignore-errors
"""Convolution of each channel by itself, forward and both gradients.

Shapes: x, dx (batch, channels, depth, height, width); y, dy (batch, channels * multiplier, layers, rows, across); weights, dw
(channels, multiplier, taps).  A plane is copied into a padded buffer and taken flat: what a cell of the kernel sees in
all windows is then one run of memory, ``offsets[tap]`` away, and long loops replace short rows.  ``starts`` are the places of
the first window of each row in the padded plane, ``step`` the distance of windows along a row.  What is computed between
the rows is left out, and zero where it enters sums: weights or images that are not finite may spread there.
"""
from __future__ import annotations

import numpy as np

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from ..library.address import in_line
from .time_loops import share

U = np.uintp
inline = function(forceinline=True, error_model="numpy", fastmath={"contract", "arcp", "nsz", "reassoc"})

#: Cells that are worked on at a time, so that they stay in the nearest cache.
BLOCK = 2048


@inline
def _correlate(source, offset, sign, offsets, weights, w, target, length):
    """target[t] += sum over taps k of weights[w + k] * source[offset + sign * offsets[k] + t]."""
    taps = offsets.size
    for low in range(0, length, BLOCK):
        high = min(low + BLOCK, length)
        for k in range(0, taps - 3, 4):
            e, f, g, h = weights[w + k], weights[w + k + 1], weights[w + k + 2], weights[w + k + 3]
            a, b = offset + sign * offsets[k], offset + sign * offsets[k + 1]
            c, d = offset + sign * offsets[k + 2], offset + sign * offsets[k + 3]
            for t in range(low, high):
                target[U(t)] += (e * source[U(a + t)] + f * source[U(b + t)]) + (g * source[U(c + t)] + h * source[U(d + t)])
        for k in range(taps - taps % 4, taps):
            e, a = weights[w + k], offset + sign * offsets[k]
            for t in range(low, high):
                target[U(t)] += e * source[U(a + t)]


@inline
def _inner(source, offset, other, length):
    """Inner product of ``length`` elements."""
    total = source.dtype.type(0)
    for t in range(length):
        total += source[U(offset + t)] * other[U(t)]
    return total


@inline
def _padded(plane, before, buffer, size):
    """Copy a plane into the inside of a padded one."""
    for z in range(plane.shape[0]):
        for r in range(plane.shape[1]):
            at = ((z + before[0]) * size[1] + r + before[1]) * size[2] + before[2]
            for c in range(plane.shape[2]):
                buffer[U(at + c)] = plane[z, r, c]


@kernel
def depthwise(x, weights, y, buffers, sums, offsets, starts, before, size, step, together, part, parts):
    """y[n, c * multiplier + m] = x[n, c] under weights[c, m]; ``together``: rows that are worked out in one go.

    ``buffers`` and ``sums`` have memory for a padded plane, and for what is worked out in one go, for each part.
    """
    channels = x.shape[1]
    low, high = share(x.shape[0], part, parts)
    multiplier, rows, across = weights.shape[1], starts.size, y.shape[4]
    span = (across - 1) * step + 1
    buffer, found = buffers[part], sums[part]
    buffer[:] = 0
    flat, target = in_line(weights), in_line(y)
    to = low * channels * multiplier * rows * across
    for n in range(low, high):
        for c in range(channels):
            _padded(x[n, c], before, buffer, size)
            for m in range(multiplier):
                for first in range(0, rows, together):
                    at = starts[first]
                    length = starts[first + together - 1] - at + span
                    found[:length] = 0
                    _correlate(buffer, at, 1, offsets, flat, (c * multiplier + m) * offsets.size, found, length)
                    for row in range(first, first + together):
                        begin = starts[row] - at
                        for j in range(across):
                            target[U(to + j)] = found[U(begin + j * step)]
                        to += across


@kernel
def depthwise_data_gradient(weights, dy, dx, buffers, sums, offsets, starts, before, size, step, part, parts):
    """dx = dy through the transposed weights; ``buffers`` and ``sums`` have memory for a padded plane, the first with more in front."""
    channels = dx.shape[1]
    low, high = share(dx.shape[0], part, parts)
    multiplier, across = weights.shape[1], dy.shape[4]
    reach, total = offsets[-1], size[0] * size[1] * size[2]
    spread, found = buffers[part], sums[part]
    spread[:] = 0
    flat, source = in_line(weights), in_line(dy)
    at = low * channels * multiplier * starts.size * across
    for n in range(low, high):
        for c in range(channels):
            found[:] = 0
            for m in range(multiplier):
                for row in range(starts.size):
                    for j in range(across):
                        spread[U(reach + starts[row] + j * step)] = source[U(at + j)]
                    at += across
                _correlate(spread, reach, -1, offsets, flat, (c * multiplier + m) * offsets.size, found, total)
            plane = dx[n, c]
            for z in range(plane.shape[0]):
                for r in range(plane.shape[1]):
                    begin = ((z + before[0]) * size[1] + r + before[1]) * size[2] + before[2]
                    for k in range(plane.shape[2]):
                        plane[z, r, k] = found[U(begin + k)]


@kernel
def depthwise_weight_gradient(x, dy, dw, buffers, sums, offsets, starts, before, size, step, part, parts):
    """dw = sum over images and windows of x times dy; ``buffers`` and ``sums`` have memory for a padded plane and for windows."""
    batch, channels = x.shape[:2]
    multiplier, across = dw.shape[1], dy.shape[4]
    length = starts[-1] + (across - 1) * step + 1
    buffer, spread = buffers[part], sums[part]
    buffer[:] = 0
    spread[:] = 0
    source = in_line(dy)
    low, high = share(channels, part, parts)
    dw[low:high] = 0
    for n in range(batch):
        at = (n * channels + low) * multiplier * starts.size * across
        for c in range(low, high):
            _padded(x[n, c], before, buffer, size)
            for m in range(multiplier):
                for row in range(starts.size):
                    for j in range(across):
                        spread[U(starts[row] + j * step)] = source[U(at + j)]
                    at += across
                for k in range(offsets.size):
                    dw[c, m, k] += _inner(buffer, offsets[k], spread, length)
