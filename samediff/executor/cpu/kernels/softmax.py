# mypy: ignore-errors
"""Softmax of rows and its gradient.

Shapes: x, y, g, dx (rows, columns).  Other axes are moved last, or other leading axes joined, by the caller.
"""
from __future__ import annotations

import numpy as np

from ...cache import kernel
from ..intrinsics import vmax
from ..mathlib import exp, log


@kernel
def softmax(x, y):
    """y = softmax of each row of x; x and y may be the same array."""
    one = x.dtype.type(1)
    for i in range(x.shape[0]):
        top = x.dtype.type(-np.inf)
        for j in range(x.shape[1]):
            top = vmax(top, x[i, j])
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            e = exp(x[i, j] - top)
            y[i, j] = e
            total += e
        scale = one / total
        for j in range(x.shape[1]):
            y[i, j] *= scale


@kernel
def softmax_backward(y, g, dx):
    """dx = y * (g - sum(g * y)) for each row; dx may be g."""
    for i in range(y.shape[0]):
        dot = y.dtype.type(0)
        for j in range(y.shape[1]):
            dot += g[i, j] * y[i, j]
        for j in range(y.shape[1]):
            dx[i, j] = y[i, j] * (g[i, j] - dot)


@kernel
def log_softmax(x, y):
    """y = x - log(sum(exp(x))) for each row; x and y may be the same array."""
    for i in range(x.shape[0]):
        top = x.dtype.type(-np.inf)
        for j in range(x.shape[1]):
            top = vmax(top, x[i, j])
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            total += exp(x[i, j] - top)
        shift = log(total)
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - top) - shift


@kernel
def log_softmax_backward(y, g, dx):
    """dx = g - exp(y) * sum(g) for each row of the result y; dx may be g."""
    for i in range(y.shape[0]):
        total = y.dtype.type(0)
        for j in range(y.shape[1]):
            total += g[i, j]
        for j in range(y.shape[1]):
            dx[i, j] = g[i, j] - exp(y[i, j]) * total
