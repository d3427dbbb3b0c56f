# mypy: ignore-errors
"""Patches of images as columns, so that a convolution is a matrix product, and back.

Shapes: x (planes, depth, height, width), a plane being one channel of one image; columns (planes, kd, kh, kw, layers, rows,
across), which reshapes without a copy to (batch, channels * taps, places): ``y[n] = weights(out, channels * taps) @ columns[n]``.
``window`` holds kernel, stride, padding in front and dilation, each of three axes.

Loops run over flat arrays with unsigned places: signed ones are checked for being negative, which costs vector code.
"""
from __future__ import annotations

import numpy as np

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from ..library.address import in_line
from .window_bounds import inside

U = np.uintp
inline = function(forceinline=True, error_model="numpy")


@inline
def _zero(target, low, high):
    for j in range(low, high):
        target[U(j)] = 0


@kernel
def im2col(x, columns, window):
    """columns[n, o, p, q, h, i, j] = x[n, h*sd - pd + o*dd, i*sh - ph + p*dh, j*sw - pw + q*dw], 0 outside."""
    (kd, kh, kw), (sd, sh, sw), (pd, ph, pw), (dd, dh, dw) = window
    depth, height, width = x.shape[1], x.shape[2], x.shape[3]
    layers, rows, across = columns.shape[4], columns.shape[5], columns.shape[6]
    source, target = in_line(x), in_line(columns)
    to = 0
    for plane in range(x.shape[0]):
        for o in range(kd):
            for p in range(kh):
                for q in range(kw):
                    low, high = inside(q * dw - pw, sw, width, across)
                    for h in range(layers):
                        z = h * sd - pd + o * dd
                        top, bottom = inside(p * dh - ph, sh, height, rows) if 0 <= z < depth else (rows, rows)
                        _zero(target, to, to + top * across)
                        to += top * across
                        start = ((plane * depth + z) * height + top * sh + p * dh - ph) * width + q * dw - pw
                        for _ in range(top, bottom):
                            _zero(target, to, to + low)
                            if sw == 1:
                                for j in range(low, high):
                                    target[U(to + j)] = source[U(start + j)]
                            else:
                                for j in range(low, high):
                                    target[U(to + j)] = source[U(start + j * sw)]
                            _zero(target, to + high, to + across)
                            to += across
                            start += sh * width
                        _zero(target, to, to + (rows - bottom) * across)
                        to += (rows - bottom) * across


@kernel
def col2im(columns, x, window):
    """x = columns, added up where patches overlap (the transpose of :func:`im2col`)."""
    (kd, kh, kw), (sd, sh, sw), (pd, ph, pw), (dd, dh, dw) = window
    depth, height, width = x.shape[1], x.shape[2], x.shape[3]
    layers, rows, across = columns.shape[4], columns.shape[5], columns.shape[6]
    source, target = in_line(columns), in_line(x)
    target[:] = 0
    begin = 0
    for plane in range(x.shape[0]):
        for o in range(kd):
            for p in range(kh):
                for q in range(kw):
                    low, high = inside(q * dw - pw, sw, width, across)
                    for h in range(layers):
                        z = h * sd - pd + o * dd
                        top, bottom = inside(p * dh - ph, sh, height, rows) if 0 <= z < depth else (rows, rows)
                        start = ((plane * depth + z) * height + top * sh + p * dh - ph) * width + q * dw - pw
                        at = begin + top * across
                        for _ in range(top, bottom):
                            if sw == 1:
                                for j in range(low, high):
                                    target[U(start + j)] += source[U(at + j)]
                            else:
                                for j in range(low, high):
                                    target[U(start + j * sw)] += source[U(at + j)]
                            at += across
                            start += sh * width
                        begin += rows * across
