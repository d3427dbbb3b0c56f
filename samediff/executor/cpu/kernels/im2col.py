# mypy: ignore-errors
"""Patches of NCHW images as columns, so that a convolution is a matrix product, and back.

Shapes: x (batch, channels, height, width); columns (batch, channels, kh, kw, out_height, out_width), which reshapes
without a copy to (batch, channels * kh * kw, out_height * out_width): ``y[n] = weights(out, c*kh*kw) @ columns[n]``.
Numbers: stride sh sw, padding above and left ph pw, dilation dh dw; the rest follows from the shapes.
"""
from __future__ import annotations

from ...cache import kernel


@kernel
def im2col(x, columns, sh, sw, ph, pw, dh, dw):
    """columns[n, c, p, q, i, j] = x[n, c, i*sh - ph + p*dh, j*sw - pw + q*dw], 0 outside."""
    height, width = x.shape[2], x.shape[3]
    zero = x.dtype.type(0)
    kh, kw, rows, across = columns.shape[2], columns.shape[3], columns.shape[4], columns.shape[5]
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            for p in range(kh):
                for q in range(kw):
                    first = q * dw - pw
                    low = min(max((-first + sw - 1) // sw, 0), across)  # columns low … high - 1 lie inside
                    high = max(min((width - first + sw - 1) // sw, across), low)
                    for i in range(rows):
                        r = i * sh - ph + p * dh
                        target = columns[n, c, p, q, i]
                        if r < 0 or r >= height:
                            target[:] = zero
                            continue
                        for j in range(low):
                            target[j] = zero
                        if sw == 1:
                            target[low:high] = x[n, c, r, first + low : first + high]
                        else:
                            for j in range(low, high):
                                target[j] = x[n, c, r, j * sw + first]
                        for j in range(high, across):
                            target[j] = zero


@kernel
def col2im(columns, x, sh, sw, ph, pw, dh, dw):
    """x = columns, added up where patches overlap (the transpose of :func:`im2col`)."""
    height, width = x.shape[2], x.shape[3]
    kh, kw, rows, across = columns.shape[2], columns.shape[3], columns.shape[4], columns.shape[5]
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            x[n, c] = 0
            for p in range(kh):
                for q in range(kw):
                    first = q * dw - pw
                    low = min(max((-first + sw - 1) // sw, 0), across)
                    high = max(min((width - first + sw - 1) // sw, across), low)
                    for i in range(rows):
                        r = i * sh - ph + p * dh
                        if r < 0 or r >= height:
                            continue
                        source = columns[n, c, p, q, i]
                        if sw == 1:
                            for j in range(low, high):
                                x[n, c, r, j + first] += source[j]
                        else:
                            for j in range(low, high):
                                x[n, c, r, j * sw + first] += source[j]
