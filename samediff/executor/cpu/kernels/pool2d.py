# mypy: ignore-errors
"""Two-dimensional pooling of NCHW arrays, forward and backward.

Shapes: x, dx (batch, channels, height, width); y, dy, index (batch, channels, out_height, out_width).
Numbers: kernel kh kw, stride sh sw, padding above and left ph pw, dilation dh dw.  Padding below and right follows
from the shape of y.  Cells outside the image take no part, unless ``whole`` divides by the whole window.

Each cell of the window is applied to a whole row of outputs, over flat arrays with unsigned places (vector code).
"""
from __future__ import annotations

import numpy as np

from ...cache import kernel
from .window import inside

U = np.uintp


@kernel
def max_pool2d(x, y, index, kh, kw, sh, sw, ph, pw, dh, dw):
    """y = largest value of each window, index (int32) = its place in the image (the first of equal ones)."""
    height, width = x.shape[2], x.shape[3]
    rows, across = y.shape[2], y.shape[3]
    source, target, places = x.reshape(-1), y.reshape(-1), index.reshape(-1)
    to = 0
    for plane in range(x.shape[0] * x.shape[1]):
        for i in range(rows):
            for j in range(across):
                target[U(to + j)] = -np.inf
                places[U(to + j)] = -1
            for p in range(kh):
                r = i * sh - ph + p * dh
                if r < 0 or r >= height:
                    continue
                for q in range(kw):
                    offset = q * dw - pw
                    low, high = inside(offset, sw, width, across)
                    start = (plane * height + r) * width + offset
                    place = r * width + offset
                    for j in range(low, high):
                        v = source[U(start + j * sw)]
                        best = target[U(to + j)]
                        known = places[U(to + j)]
                        better = (v > best) | (known < 0) | (v != v)  # NaN wins
                        target[U(to + j)] = v if better else best
                        places[U(to + j)] = np.int32(place + j * sw) if better else known
            to += across


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
        for i in range(rows):
            for j in range(across):
                target[U(to + j)] = 0
            for p in range(kh):
                r = i * sh - ph + p * dh
                if r < 0 or r >= height:
                    continue
                for q in range(kw):
                    low, high = inside(q * dw - pw, sw, width, across)
                    start = (plane * height + r) * width + q * dw - pw
                    for j in range(low, high):
                        target[U(to + j)] += source[U(start + j * sw)]
            for j in range(across):
                target[U(to + j)] /= down[i] * over[j]
            to += across


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
