# mypy: ignore-errors
"""Patches of NCHW images as columns, so that a convolution is a matrix product, and back.

Shapes: x (batch, channels, height, width); columns (batch, channels, kh, kw, out_height, out_width), which reshapes
without a copy to (batch, channels * kh * kw, out_height * out_width): ``y[n] = weights(out, c*kh*kw) @ columns[n]``.
Numbers: stride sh sw, padding above and left ph pw, dilation dh dw; the rest follows from the shapes.

Loops run over flat arrays with unsigned places: signed ones are checked for being negative, which costs vector code.
"""
from __future__ import annotations

import numpy as np

from ...cache import kernel
from .window import inside

U = np.uintp


@kernel
def im2col(x, columns, sh, sw, ph, pw, dh, dw):
    """columns[n, c, p, q, i, j] = x[n, c, i*sh - ph + p*dh, j*sw - pw + q*dw], 0 outside."""
    height, width = x.shape[2], x.shape[3]
    kh, kw, rows, across = columns.shape[2], columns.shape[3], columns.shape[4], columns.shape[5]
    zero = x.dtype.type(0)
    source, target = x.reshape(-1), columns.reshape(-1)
    to = 0
    for plane in range(x.shape[0] * x.shape[1]):
        for p in range(kh):
            for q in range(kw):
                low, high = inside(q * dw - pw, sw, width, across)
                for i in range(rows):
                    r = i * sh - ph + p * dh
                    if r < 0 or r >= height:
                        for j in range(across):
                            target[U(to + j)] = zero
                    else:
                        start = (plane * height + r) * width + q * dw - pw
                        for j in range(low):
                            target[U(to + j)] = zero
                        if sw == 1:
                            for j in range(low, high):
                                target[U(to + j)] = source[U(start + j)]
                        else:
                            for j in range(low, high):
                                target[U(to + j)] = source[U(start + j * sw)]
                        for j in range(high, across):
                            target[U(to + j)] = zero
                    to += across


@kernel
def col2im(columns, x, sh, sw, ph, pw, dh, dw):
    """x = columns, added up where patches overlap (the transpose of :func:`im2col`)."""
    height, width = x.shape[2], x.shape[3]
    kh, kw, rows, across = columns.shape[2], columns.shape[3], columns.shape[4], columns.shape[5]
    source, target = columns.reshape(-1), x.reshape(-1)
    target[:] = 0
    at = 0
    for plane in range(x.shape[0] * x.shape[1]):
        for p in range(kh):
            for q in range(kw):
                low, high = inside(q * dw - pw, sw, width, across)
                for i in range(rows):
                    r = i * sh - ph + p * dh
                    if 0 <= r < height:
                        start = (plane * height + r) * width + q * dw - pw
                        if sw == 1:
                            for j in range(low, high):
                                target[U(start + j)] += source[U(at + j)]
                        else:
                            for j in range(low, high):
                                target[U(start + j * sw)] += source[U(at + j)]
                    at += across
