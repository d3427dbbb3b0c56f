# mypy: ignore-errors
"""Matrix products that are made of dot products."""
from __future__ import annotations

from ..compiler.sources import kernel


@kernel
def _dot(x, w, row, column, depth):
    s = x.dtype.type(0)
    for k in range(depth):
        s += x[row, k] * w[column, k]
    return s


@kernel
def _four_dots(x, w, row, column, depth, c):
    s0 = s1 = s2 = s3 = x.dtype.type(0)
    for k in range(depth):
        v = x[row, k]
        s0 += v * w[column, k]
        s1 += v * w[column + 1, k]
        s2 += v * w[column + 2, k]
        s3 += v * w[column + 3, k]
    c[row, column], c[row, column + 1], c[row, column + 2], c[row, column + 3] = s0, s1, s2, s3


@kernel
def dots(a, b, c, part, parts):
    """c = a b' with both given by rows: columns of the result are shared out."""
    rows, columns = c.shape
    low, high = columns * part // parts, columns * (part + 1) // parts
    for i in range(rows):
        j = low
        while j + 4 <= high:
            _four_dots(a, b, i, j, a.shape[1], c)
            j += 4
        while j < high:
            c[i, j] = _dot(a, b, i, j, a.shape[1])
            j += 1
