# mypy: ignore-errors
"""Patches of images, each in one run of memory, and back.

Shapes: x (batch, channels, height, width); columns flat, a patch being channels * kh * kw neighbours, its place given by ``steps``
along batch, rows and columns of windows.  ``window`` holds kernel, stride, padding in front and dilation, each of two axes.
"""
from __future__ import annotations

import numpy as np

from ..compiler.sources import kernel
from ..library.address import in_line
from .window_bounds import inside

U = np.uintp


@kernel
def unfold(x, columns, steps, counts, window):
    """Copy each window of the images into columns, with 0 outside the images."""
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = window
    batch, channels, height, width = x.shape
    source = in_line(x)
    for n in range(batch):
        for i in range(counts[0]):
            for j in range(counts[1]):
                to = n * steps[0] + i * steps[1] + j * steps[2]
                low, high = inside(j * sw - pw, dw, width, kw)
                for c in range(channels):
                    for p in range(kh):
                        r = i * sh - ph + p * dh
                        at = ((n * channels + c) * height + r) * width + j * sw - pw
                        for q in range(kw):
                            columns[U(to + q)] = source[U(at + q * dw)] if 0 <= r < height and low <= q < high else 0
                        to += kw


@kernel
def fold(columns, x, steps, counts, window):
    """The transpose of :func:`unfold`: columns added up in the images."""
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = window
    batch, channels, height, width = x.shape
    target = in_line(x)
    target[:] = 0
    for n in range(batch):
        for i in range(counts[0]):
            first, last = inside(i * sh - ph, dh, height, kh)
            for j in range(counts[1]):
                at = n * steps[0] + i * steps[1] + j * steps[2]
                low, high = inside(j * sw - pw, dw, width, kw)
                for c in range(channels):
                    to = ((n * channels + c) * height + i * sh - ph) * width + j * sw - pw
                    for p in range(first, last):
                        for q in range(low, high):
                            target[U(to + p * dh * width + q * dw)] += columns[U(at + p * kw + q)]
                    at += kh * kw
