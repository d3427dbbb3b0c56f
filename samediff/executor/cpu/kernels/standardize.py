# mypy: ignore-errors
"""Rows with mean 0 and deviation 1, forward and backward; 0 where the deviation of a row is 0.

Shapes: x, y, g, dx (rows, columns); gain, bias (columns).
"""
from __future__ import annotations

import numpy as np

from ...cache import kernel


@kernel
def _statistics(row):
    """Mean, and the inverse of the population deviation."""
    n = row.shape[0]
    total = row.dtype.type(0)
    first = row[0] if n else total        # differences from it make the deviation of equal elements exactly 0
    for j in range(n):
        total += row[j] - first
    mean = first + total / row.dtype.type(max(n, 1))
    squares = row.dtype.type(0)
    for j in range(n):
        squares += (row[j] - mean) * (row[j] - mean)
    variance = squares / row.dtype.type(max(n, 1))
    scale = row.dtype.type(0)
    if variance != 0:
        scale = row.dtype.type(1) / np.sqrt(variance)
    return mean, scale


@kernel
def standardize(x, y):
    """y = (x - mean) / deviation for each row."""
    for i in range(x.shape[0]):
        mean, scale = _statistics(x[i])
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * scale


@kernel
def layer_norm(x, gain, bias, y):
    """y = gain * (x - mean) / deviation + bias for each row."""
    for i in range(x.shape[0]):
        mean, scale = _statistics(x[i])
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


@kernel
def standardize_backward(x, g, dx):
    """dx = (g - mean(g) - y * mean(g * y)) / deviation for each row, y its standardized form."""
    for i in range(x.shape[0]):
        mean, scale = _statistics(x[i])
        n = x.dtype.type(max(x.shape[1], 1))
        total = x.dtype.type(0)
        dot = x.dtype.type(0)
        for j in range(x.shape[1]):
            total += g[i, j]
            dot += g[i, j] * (x[i, j] - mean)
        average = total / n
        slope = dot * scale * scale / n
        for j in range(x.shape[1]):
            dx[i, j] = (g[i, j] - average - (x[i, j] - mean) * slope) * scale
