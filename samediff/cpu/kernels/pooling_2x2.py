# mypy: ignore-errors
"""Pooling of 2 x 2 windows that do not overlap and lie inside, forward and backward: no places are kept.

Shapes: x, dx (planes, height, width); y, dy (planes, rows, across). Vectors have ``lanes`` elements: as many as the CPU has,
or half of that; rows of y are no shorter, and the last vector of a row may overlap the one before.
"""
from __future__ import annotations

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from ..matrix.tiles import VECTOR
from .pooling_vectors import largest_of_pairs, put_at_largest, put_at_pairs, sum_of_pairs

inline = function(forceinline=True, error_model="numpy")


@inline
def _vectors(across, lanes):
    """Number of vectors per row, and the start of the last one."""
    return (across + lanes - 1) // lanes, across - lanes


@inline
def _clear(dx, rows, across):
    """Zeros behind the last window of a plane."""
    dx[2 * rows:] = 0
    if 2 * across < dx.shape[1]:
        dx[:, 2 * across:] = 0


@kernel
def max_pairs(x, y, lanes, part, parts):
    """y = largest cell of each window, NaN if there is one."""
    zero, size, (planes, rows, across) = x.dtype.type(0), x.itemsize, y.shape
    whole, line = lanes * size == VECTOR, x.shape[2] * size
    count, last = _vectors(across, lanes)
    for n in range(planes * part // parts, planes * (part + 1) // parts):
        for i in range(rows):
            top, target = x.ctypes.data + (n * x.shape[1] + 2 * i) * line, y.ctypes.data + (n * rows + i) * across * size
            for v in range(count):
                at = min(v * lanes, last) * size
                if whole:
                    largest_of_pairs(zero, 1, top + 2 * at, top + line + 2 * at, target + at)
                else:
                    largest_of_pairs(zero, 2, top + 2 * at, top + line + 2 * at, target + at)


@kernel
def max_pairs_back(x, dy, dx, lanes, part, parts):
    """dx = dy at the first of the largest cells of each window, 0 elsewhere."""
    zero, size, (planes, rows, across) = x.dtype.type(0), x.itemsize, dy.shape
    whole, line = lanes * size == VECTOR, x.shape[2] * size
    count, last = _vectors(across, lanes)
    for n in range(planes * part // parts, planes * (part + 1) // parts):
        _clear(dx[n], rows, across)
        for i in range(rows):
            row, given = (n * x.shape[1] + 2 * i) * line, dy.ctypes.data + (n * rows + i) * across * size
            for v in range(count):
                at = min(v * lanes, last) * size
                up, out = x.ctypes.data + row + 2 * at, dx.ctypes.data + row + 2 * at
                if whole:
                    put_at_largest(zero, 1, up, up + line, given + at, out, out + line)
                else:
                    put_at_largest(zero, 2, up, up + line, given + at, out, out + line)


@kernel
def sum_pairs(x, y, share, lanes, part, parts):
    """y = sum of each window times the share."""
    zero, size, (planes, rows, across) = x.dtype.type(0), x.itemsize, y.shape
    whole, line, share = lanes * size == VECTOR, x.shape[2] * size, x.dtype.type(share)
    count, last = _vectors(across, lanes)
    for n in range(planes * part // parts, planes * (part + 1) // parts):
        for i in range(rows):
            top, target = x.ctypes.data + (n * x.shape[1] + 2 * i) * line, y.ctypes.data + (n * rows + i) * across * size
            for v in range(count):
                at = min(v * lanes, last) * size
                if whole:
                    sum_of_pairs(zero, 1, top + 2 * at, top + line + 2 * at, share, target + at)
                else:
                    sum_of_pairs(zero, 2, top + 2 * at, top + line + 2 * at, share, target + at)


@kernel
def spread_pairs(dy, dx, share, lanes, part, parts):
    """dx = dy times the share at each cell of its window, 0 elsewhere."""
    zero, size, (planes, rows, across) = dx.dtype.type(0), dx.itemsize, dy.shape
    whole, line, share = lanes * size == VECTOR, dx.shape[2] * size, dx.dtype.type(share)
    count, last = _vectors(across, lanes)
    for n in range(planes * part // parts, planes * (part + 1) // parts):
        _clear(dx[n], rows, across)
        for i in range(rows):
            given, to = dy.ctypes.data + (n * rows + i) * across * size, dx.ctypes.data + (n * dx.shape[1] + 2 * i) * line
            for v in range(count):
                at = min(v * lanes, last) * size
                if whole:
                    put_at_pairs(zero, 1, given + at, share, to + 2 * at, to + 2 * at + line)
                else:
                    put_at_pairs(zero, 2, given + at, share, to + 2 * at, to + 2 * at + line)
