# mypy: ignore-errors
"""Two-dimensional pooling of NCHW arrays, forward and backward.

Shapes: x, dx (batch, channels, height, width); y, dy, index (batch, channels, out_height, out_width).
Numbers: kernel kh kw, stride sh sw, padding above and left ph pw, dilation dh dw.  Padding below and right follows
from the shape of y.  Cells outside the image take no part, unless ``whole`` divides by the whole window.
"""
from __future__ import annotations

import numpy as np

from ...cache import kernel


@kernel
def max_pool2d(x, y, index, kh, kw, sh, sw, ph, pw, dh, dw):
    """y = largest value of each window, index (int32) = its place in the image (the first of equal ones)."""
    height, width = x.shape[2], x.shape[3]
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    best = x.dtype.type(-np.inf)
                    place = np.int32(-1)
                    for p in range(kh):
                        r = i * sh - ph + p * dh
                        if r < 0 or r >= height:
                            continue
                        for q in range(kw):
                            s = j * sw - pw + q * dw
                            if s < 0 or s >= width:
                                continue
                            v = x[n, c, r, s]
                            if v > best or place < 0 or (v != v and best == best):  # NaN wins
                                best = v
                                place = np.int32(r * width + s)
                    y[n, c, i, j] = best
                    index[n, c, i, j] = place


@kernel
def max_pool2d_backward(dy, index, dx):
    """dx = dy, added up at the places that were largest."""
    width = dx.shape[3]
    for n in range(dy.shape[0]):
        for c in range(dy.shape[1]):
            dx[n, c] = 0
            for i in range(dy.shape[2]):
                for j in range(dy.shape[3]):
                    k = index[n, c, i, j]
                    if k >= 0:
                        dx[n, c, k // width, k % width] += dy[n, c, i, j]


@kernel
def avg_pool2d(x, y, kh, kw, sh, sw, ph, pw, dh, dw, whole):
    """y = mean of each window."""
    height, width = x.shape[2], x.shape[3]
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    total = x.dtype.type(0)
                    count = 0
                    for p in range(kh):
                        r = i * sh - ph + p * dh
                        if r < 0 or r >= height:
                            continue
                        for q in range(kw):
                            s = j * sw - pw + q * dw
                            if s < 0 or s >= width:
                                continue
                            total += x[n, c, r, s]
                            count += 1
                    y[n, c, i, j] = total / x.dtype.type(kh * kw if whole else max(count, 1))


@kernel
def avg_pool2d_backward(dy, dx, kh, kw, sh, sw, ph, pw, dh, dw, whole):
    """dx = dy, shared out evenly over each window."""
    height, width = dx.shape[2], dx.shape[3]
    for n in range(dy.shape[0]):
        for c in range(dy.shape[1]):
            dx[n, c] = 0
            for i in range(dy.shape[2]):
                for j in range(dy.shape[3]):
                    rows = 0
                    columns = 0
                    for p in range(kh):
                        r = i * sh - ph + p * dh
                        rows += 1 if 0 <= r < height else 0
                    for q in range(kw):
                        s = j * sw - pw + q * dw
                        columns += 1 if 0 <= s < width else 0
                    share = dy[n, c, i, j] / dx.dtype.type(kh * kw if whole else max(rows * columns, 1))
                    for p in range(kh):
                        r = i * sh - ph + p * dh
                        if r < 0 or r >= height:
                            continue
                        for q in range(kw):
                            s = j * sw - pw + q * dw
                            if 0 <= s < width:
                                dx[n, c, r, s] += share
