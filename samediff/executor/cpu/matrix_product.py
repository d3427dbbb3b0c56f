"""Matrix products as instructions of native programs.

Few rows against a transposed matrix are dot products, small and skinny products have tiles of their own, the rest goes to NumPy's BLAS
by address. Each takes its share of the rows or columns of the result, so that one product keeps all threads busy.
"""
# mypy: ignore-errors
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from ..cache import kernel
from .blas import _dgemm, _sgemm, available
from .native.entry import Instruction, instruction
from .small_products import ROOM, multiply

_FLAGS = {"error_model": "numpy", "nogil": True, "fastmath": {"contract"}, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_ROW_MAJOR, _PLAIN, _TRANSPOSED = 101, 111, 112

# One form for all operands, so that one kernel serves them all: the functions look at steps themselves.
_ANY = (False, False, False, True)

#: Rows up to which a product with a transposed matrix is made of dot products.
DOT_ROWS = 3

#: Multiplications for each element of the operands from which BLAS is faster.
BLAS_FROM = 128


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


def _gemm(like, turned_a, turned_b, rows, columns, depth, a, a_step, b, b_step, c, c_step):
    """c = a b at these addresses, in the type of ``like``."""


@overload(_gemm)
def _typed(like, turned_a, turned_b, rows, columns, depth, a, a_step, b, b_step, c, c_step):
    gemm = _sgemm if like.dtype == types.float32 else _dgemm

    def call(like, turned_a, turned_b, rows, columns, depth, a, a_step, b, b_step, c, c_step):
        one, zero = like.dtype.type(1), like.dtype.type(0)
        gemm(_ROW_MAJOR, _TRANSPOSED if turned_a else _PLAIN, _TRANSPOSED if turned_b else _PLAIN, rows, columns, depth,
             one, a, a_step, b, b_step, zero, c, c_step)
    return call


@njit(**_FLAGS)
def _step(m):
    """Elements from one row to the next; a single row may have any stride, which BLAS would refuse."""
    return max(m.strides[0] // m.itemsize, m.shape[1])


@njit(**_FLAGS)
def by_blas(a, b, c, turned_a, turned_b, part, parts):
    """c = a b, each transposed if so asked, the longer side of the result shared out."""
    rows, columns = c.shape
    depth = a.shape[0] if turned_a else a.shape[1]
    item = c.itemsize
    low, high, first, last = 0, rows, 0, columns
    if rows >= columns:
        low, high = rows * part // parts, rows * (part + 1) // parts
    else:
        first, last = columns * part // parts, columns * (part + 1) // parts
    if high > low and last > first:
        a_at = a.ctypes.data + low * (item if turned_a else a.strides[0])
        b_at = b.ctypes.data + first * (b.strides[0] if turned_b else item)
        _gemm(c, turned_a, turned_b, high - low, last - first, depth, a_at, _step(a), b_at, _step(b),
              c.ctypes.data + low * c.strides[0] + first * item, _step(c))


@njit(**_FLAGS)
def by_tiles(a, b, c, work, turned_a, turned_b, part, parts):
    """The same through tiles; ``work`` has :data:`ROOM` elements for each part."""
    multiply(a, turned_a != 0, b, turned_b != 0, c, work, 0, part, parts)


@njit(**_FLAGS)
def many_by_blas(a, b, c, turned_a, turned_b, part, parts):
    """Products of pairs of matrices, arranged along two axes, shared out."""
    inner = c.shape[1]
    count = c.shape[0] * inner
    for i in range(count * part // parts, count * (part + 1) // parts):
        k, m = i // inner, i % inner
        by_blas(a[k, m], b[k, m], c[k, m], turned_a, turned_b, 0, 1)


@njit(**_FLAGS)
def many_by_tiles(a, b, c, work, turned_a, turned_b, part, parts):
    """The same through tiles."""
    inner = c.shape[1]
    count = c.shape[0] * inner
    for i in range(count * part // parts, count * (part + 1) // parts):
        k, m = i // inner, i % inner
        multiply(a[k, m], turned_a != 0, b[k, m], turned_b != 0, c[k, m], work[part:part + 1], 0, 0, 1)


def product(a: Any, b: Any, c: Any) -> Instruction | None:
    """The instruction of c = a b for arrays (*batch, rows, columns) of any layout; None where a copy would be needed.

    Leading axes must agree, or be one run of memory for which one product serves.
    """
    if not available() or c.size == 0 or a.shape[-1] == 0 or a.dtype not in (np.float32, np.float64) or a.dtype != b.dtype:
        return None
    if _turned(c) is not False:
        if _turned(c) is None:
            return None
        a, b, c = b.swapaxes(-1, -2), a.swapaxes(-1, -2), c.swapaxes(-1, -2)
    turned_a, turned_b = _turned(a), _turned(b)
    if turned_a is None or turned_b is None:
        return None
    x, y = (m.swapaxes(-1, -2) if t else m for m, t in ((a, turned_a), (b, turned_b)))
    rows, columns, depth = *c.shape[-2:], a.shape[-1]
    many = math.prod(c.shape[:-2])
    work = many * rows * columns * depth / (40 if c.dtype == np.float64 else 80) + 100
    flags = (int(turned_a), int(turned_b))
    tiles = rows * columns * depth < BLAS_FROM * (rows * depth + depth * columns + rows * columns)
    if c.ndim > 2:
        if a.shape[:-2] != c.shape[:-2] or b.shape[:-2] != c.shape[:-2]:
            return None
        x, y, z = (_paired(m) for m in (x, y, c))
        if x is None or y is None or z is None:
            return None
        if tiles:
            return instruction(many_by_tiles, (x, y, z, _room(c.dtype)), flags, work=work, parts=True, dense=_ANY)
        return instruction(many_by_blas, (x, y, z), flags, work=work, parts=True, products=True, dense=_ANY)
    if rows <= DOT_ROWS and turned_b and not turned_a:
        return instruction(dots, (x, y, c), work=max(work, columns * depth * c.itemsize / 20), parts=True)
    if tiles:
        return instruction(by_tiles, (x, y, c, _room(c.dtype)), flags, work=work, parts=True, dense=_ANY)
    return instruction(by_blas, (x, y, c), flags, work=work, parts=True, products=True, dense=_ANY)


def _room(dtype: Any) -> Any:
    from .native.pool import parts
    return np.empty((parts(), ROOM), dtype)


def _turned(m: Any) -> bool | None:
    """Whether the columns of the matrices are contiguous instead of their rows; None for neither."""
    (rows, columns), (step, item) = m.shape[-2:], m.strides[-2:]
    if (item == m.itemsize or columns == 1) and (step >= columns * m.itemsize or rows == 1):
        return False
    if (step == m.itemsize or rows == 1) and (item >= rows * m.itemsize or columns == 1):
        return True
    return None


def _paired(m: Any) -> Any:
    """The matrices with two axes in front; None where that would be a copy."""
    seen = m.reshape(-1, *m.shape[max(m.ndim - 3, 0):]) if m.ndim != 3 else m[None]
    return seen if np.may_share_memory(seen, m) else None
