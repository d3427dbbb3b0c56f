# mypy: ignore-errors
"""Two-dimensional pooling of NCHW arrays, forward and backward.

Shapes: x, dx (batch, channels, height, width); y, dy, index (batch, channels, out_height, out_width).
Numbers: kernel kh kw, stride sh sw, padding above and left ph pw, dilation dh dw.  Padding below and right follows
from the shape of y.  Cells outside the image take no part, unless ``whole`` divides by the whole window.

Arrays are taken flat with unsigned places: signed ones are checked for being negative, which costs vector code.
"""
from __future__ import annotations

import numpy as np

from ...cache import kernel
from ..intrinsics import select
from .window import inside

U = np.uintp


@kernel
def _pairs(source, top, bottom, target, places, to, outputs, place, width):
    """One row of outputs of a 2 x 2 window with stride 2 that lies inside the image: the usual case, as vector code."""
    for j in range(outputs):
        a, b = source[U(top + 2 * j)], source[U(top + 2 * j + 1)]
        c, d = source[U(bottom + 2 * j)], source[U(bottom + 2 * j + 1)]
        right = (b > a) | (b != b)
        upper, at_upper = select(right, b, a), select(right, np.int32(1), np.int32(0))
        right = (d > c) | (d != d)
        lower, at_lower = select(right, d, c), select(right, np.int32(width + 1), np.int32(width))
        down = (lower > upper) | (lower != lower)
        target[U(to + j)] = select(down, lower, upper)
        places[U(to + j)] = np.int32(place + 2 * j) + select(down, at_lower, at_upper)


@kernel
def max_pool2d(x, y, index, kh, kw, sh, sw, ph, pw, dh, dw):
    """y = largest value of each window, index (int32) = its place in the image (the first of equal ones)."""
    height, width = x.shape[2], x.shape[3]
    rows, across = y.shape[2], y.shape[3]
    source, target, places = x.reshape(-1), y.reshape(-1), index.reshape(-1)
    pairs = kh == 2 and kw == 2 and sw == 2 and dh == 1 and dw == 1 and pw == 0 and 2 * across <= width
    to = 0
    for plane in range(x.shape[0] * x.shape[1]):
        base = plane * height * width
        for i in range(rows):
            top = i * sh - ph
            p0, p1 = inside(top, dh, height, kh)
            if pairs and p0 == 0 and p1 == 2:
                start = base + top * width
                _pairs(source, start, start + width, target, places, to, across, top * width, width)
                to += across
                continue
            for j in range(across):
                left = j * sw - pw
                q0, q1 = (0, kw) if left >= 0 and left + (kw - 1) * dw < width else inside(left, dw, width, kw)
                best = x.dtype.type(-np.inf)
                place = -1
                for p in range(p0, p1):
                    start = (top + p * dh) * width + left
                    for q in range(q0, q1):
                        v = source[U(base + start + q * dw)]
                        better = (v > best) | (place < 0) | (v != v)  # NaN wins
                        best = select(better, v, best)
                        place = select(better, start + q * dw, place)
                target[U(to)] = best
                places[U(to)] = place
                to += 1


@kernel
def max_pool2d_backward(dy, index, dx):
    """dx = dy, added up at the places that were largest."""
    size, cells = dx.shape[2] * dx.shape[3], dy.shape[2] * dy.shape[3]
    source, places, target = dy.reshape(-1), index.reshape(-1), dx.reshape(-1)
    target[:] = 0
    for plane in range(dx.shape[0] * dx.shape[1]):
        for k in range(plane * cells, (plane + 1) * cells):
            if places[U(k)] >= 0:
                target[U(plane * size + places[U(k)])] += source[U(k)]


@kernel
def _shares(size, outputs, window, stride, padding, dilation, whole, shares):
    """How many cells of a one-dimensional window count, for each output."""
    for k in range(outputs):
        count = 0
        for p in range(window):
            s = k * stride - padding + p * dilation
            count += 1 if whole or 0 <= s < size else 0
        shares[k] = max(count, 1)


@kernel
def avg_pool2d(x, y, kh, kw, sh, sw, ph, pw, dh, dw, whole):
    """y = mean of each window."""
    height, width = x.shape[2], x.shape[3]
    rows, across = y.shape[2], y.shape[3]
    source, target = x.reshape(-1), y.reshape(-1)
    down, over = np.empty(rows, x.dtype), np.empty(across, x.dtype)
    _shares(height, rows, kh, sh, ph, dh, whole, down)
    _shares(width, across, kw, sw, pw, dw, whole, over)
    to = 0
    for plane in range(x.shape[0] * x.shape[1]):
        base = plane * height * width
        for i in range(rows):
            top = i * sh - ph
            p0, p1 = inside(top, dh, height, kh)
            for j in range(across):
                left = j * sw - pw
                q0, q1 = (0, kw) if left >= 0 and left + (kw - 1) * dw < width else inside(left, dw, width, kw)
                total = x.dtype.type(0)
                for p in range(p0, p1):
                    start = base + (top + p * dh) * width + left
                    for q in range(q0, q1):
                        total += source[U(start + q * dw)]
                target[U(to)] = total / (down[i] * over[j])
                to += 1


@kernel
def avg_pool2d_backward(dy, dx, kh, kw, sh, sw, ph, pw, dh, dw, whole):
    """dx = dy, shared out evenly over each window."""
    height, width = dx.shape[2], dx.shape[3]
    rows, across = dy.shape[2], dy.shape[3]
    source, target = dy.reshape(-1), dx.reshape(-1)
    down, over = np.empty(rows, dx.dtype), np.empty(across, dx.dtype)
    _shares(height, rows, kh, sh, ph, dh, whole, down)
    _shares(width, across, kw, sw, pw, dw, whole, over)
    share = np.empty(across, dx.dtype)
    target[:] = 0
    at = 0
    for plane in range(dx.shape[0] * dx.shape[1]):
        for i in range(rows):
            for j in range(across):
                share[j] = source[U(at + j)] / (down[i] * over[j])
            for p in range(kh):
                r = i * sh - ph + p * dh
                if r < 0 or r >= height:
                    continue
                for q in range(kw):
                    low, high = inside(q * dw - pw, sw, width, across)
                    start = (plane * height + r) * width + q * dw - pw
                    for j in range(low, high):
                        target[U(start + j * sw)] += share[U(j)]
            at += across
