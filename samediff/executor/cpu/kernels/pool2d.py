# mypy: ignore-errors
"""Two-dimensional pooling of NCHW arrays, forward and backward.

Shapes: x, dx (batch, channels, height, width); y, dy, index (batch, channels, out_height, out_width).
Numbers: kernel kh kw, stride sh sw, padding above and left ph pw, dilation dh dw.  Padding below and right follows
from the shape of y.  Cells outside the image take no part, unless ``whole`` divides by the whole window.

Arrays are taken flat with unsigned places: signed ones are checked for being negative, which costs vector code.
"""
from __future__ import annotations

import numpy as np
from numba import njit

from ...cache import kernel
from ..intrinsics import select, vmax
from .window import inside

U = np.uintp
inline = njit(forceinline=True, error_model="numpy", fastmath={"contract"})


@inline
def _pairs(source, top, bottom, target, places, to, outputs, place, width):
    """A row of outputs of a 2 x 2 window with stride 2 inside the image: the usual case, in registers."""
    for j in range(outputs):
        a, b = source[U(top + 2 * j)], source[U(top + 2 * j + 1)]
        c, d = source[U(bottom + 2 * j)], source[U(bottom + 2 * j + 1)]
        upper, lower = vmax(a, b), vmax(c, d)
        target[U(to + j)] = vmax(upper, lower)
        right, under = select(b > a, np.int32(1), np.int32(0)), select(d > c, np.int32(width + 1), np.int32(width))
        places[U(to + j)] = np.int32(place + 2 * j) + select(lower > upper, under, right)


@inline
def _added(source, at, step, target, to, low, high):
    """One cell of the window, for a row of outputs."""
    for j in range(low, high):
        target[U(to + j)] += source[U(at + j * step)]


@kernel
def max_pool2d(x, y, index, kh, kw, sh, sw, ph, pw, dh, dw):
    """y = largest value of each window (NaN wins), index (int32) = place in the image of the largest number.

    Of equal ones the first.  A window without a number above minus infinity has no place, or any: its gradient is lost.
    """
    height, width = x.shape[2], x.shape[3]
    rows, across = y.shape[2], y.shape[3]
    source, target, places = x.reshape(-1), y.reshape(-1), index.reshape(-1)
    pairs = kh == 2 and kw == 2 and sw == 2 and dh == 1 and dw == 1 and pw == 0 and 2 * across <= width
    to = 0
    for plane in range(x.shape[0] * x.shape[1]):
        for i in range(rows):
            if pairs and 0 <= i * sh - ph < height - 1:
                row = (i * sh - ph) * width
                at = plane * height * width + row
                _pairs(source, at, at + width, target, places, to, across, row, width)
                to += across
                continue
            first, last = inside(i * sh - ph, dh, height, kh)
            for j in range(across):
                left, right = inside(j * sw - pw, dw, width, kw)
                best, place = x.dtype.type(-np.inf), np.int32(-1)
                for p in range(first, last):
                    row = (i * sh - ph + p * dh) * width + j * sw - pw
                    for q in range(left, right):
                        v = source[U(plane * height * width + row + q * dw)]
                        place = select(v > best, np.int32(row + q * dw), place)
                        best = vmax(best, v)
                target[U(to + j)], places[U(to + j)] = best, place
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
            first, last = inside(i * sh - ph, dh, height, kh)
            for p in range(first, last):
                at = (plane * height + i * sh - ph + p * dh) * width
                for q in range(kw):
                    shift = q * dw - pw
                    low, high = inside(shift, sw, width, across)
                    if sw == 1:
                        _added(source, at + shift, 1, target, to, low, high)
                    elif sw == 2:
                        _added(source, at + shift, 2, target, to, low, high)
                    else:
                        _added(source, at + shift, sw, target, to, low, high)
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
                share[U(j)] = source[U(at + j)] / (down[i] * over[j])
            first, last = inside(i * sh - ph, dh, height, kh)
            for p in range(first, last):
                to = (plane * height + i * sh - ph + p * dh) * width
                for q in range(kw):
                    shift = to + q * dw - pw
                    low, high = inside(q * dw - pw, sw, width, across)
                    if sw == 1:
                        for j in range(low, high):
                            target[U(shift + j)] += share[U(j)]
                    else:
                        for j in range(low, high):
                            target[U(shift + j * sw)] += share[U(j)]
            at += across
