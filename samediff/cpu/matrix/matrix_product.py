"""Matrix products as instructions of native programs.

Few rows against a transposed matrix are dot products, small and skinny products have tiles of their own, the rest goes to a BLAS library
by address; where there is none, to NumPy from Python. Each takes its share of the rows or columns of the result, so that one product
keeps all threads busy.
"""
# mypy: ignore-errors
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..blas.blas import available, largest_size
from ..native.instruction import Instruction, instruction
from .product_code import WORKSPACE, addresses, blas_addresses

#: Rows up to which a product with a transposed matrix is made of dot products.
DOT_ROWS = 3

#: Multiplications for each element of the operands from which BLAS is faster; half of it where a is read down its columns.
BLAS_FROM = 128


def product(a: Any, b: Any, c: Any) -> Instruction | None:
    """The instruction of c = a b for arrays (*batch, rows, columns) of any layout; None where a copy would be needed.

    Leading axes are those of c, or are repeated as broadcasting does.
    """
    if c.size == 0 or a.shape[-1] == 0 or a.dtype not in (np.float32, np.float64) or a.dtype != b.dtype:
        return None
    if _column_major(c) is not False:
        if _column_major(c) is None:
            return None
        a, b, c = b.swapaxes(-1, -2), a.swapaxes(-1, -2), c.swapaxes(-1, -2)
    transposed_a, transposed_b = _column_major(a), _column_major(b)
    if transposed_a is None or transposed_b is None:
        return None
    x, y = (m.swapaxes(-1, -2) if t else m for m, t in ((a, transposed_a), (b, transposed_b)))
    rows, columns, depth = *c.shape[-2:], a.shape[-1]
    work = _work(math.prod(c.shape[:-2]), rows, columns, depth, c.dtype)
    flags = (int(transposed_a), int(transposed_b))
    made = _by_tiles if _tiles_are_faster(rows, columns, depth, transposed_a) else _by_blas
    if c.ndim > 2:
        x, y = (np.broadcast_to(m, (*c.shape[:-2], *m.shape[-2:])) for m in (x, y))
        x, y, z = (_paired(m) for m in (x, y, c))
        return None if x is None or y is None or z is None else made("many", (x, y, z), flags, work)
    if rows <= DOT_ROWS and transposed_b and not transposed_a:
        from .dot_products import dots
        return instruction(dots, (x, y, c), work=max(work, columns * depth * c.itemsize / 20), parts=True)
    return made("", (x, y, c), flags, work)


def sums_of_products(a: Any, b: Any, totals: Any) -> Instruction | None:
    """The instruction that adds all a[i] b[i] to totals, each to that of its share of the pairs; None as for :func:`product`.

    Shapes: a (pairs, rows, depth), b (pairs, depth, columns), totals (shares, rows, columns), dense. No share waits for another.
    """
    transposed_a, transposed_b = _column_major(a), _column_major(b)
    if transposed_a is None or transposed_b is None:
        return None
    x, y = (m.swapaxes(-1, -2) if t else m for m, t in ((a, transposed_a), (b, transposed_b)))
    pairs, rows, depth, columns = *a.shape, b.shape[-1]
    made = _by_tiles if _tiles_are_faster(rows, columns, depth, transposed_a) else _by_blas
    flags = (int(transposed_a), int(transposed_b))
    return made("sums", (x[None], y[None], totals[None]), flags, _work(pairs, rows, columns, depth, totals.dtype))


def _work(pairs: int, rows: int, columns: int, depth: int, dtype: Any) -> float:
    return pairs * rows * columns * depth / (40 if dtype == np.float64 else 80) + 100


def _tiles_are_faster(rows: int, columns: int, depth: int, transposed_a: bool) -> bool:
    limit = BLAS_FROM / 2 if transposed_a else BLAS_FROM
    return bool(rows * columns * depth < limit * (rows * depth + depth * columns + rows * columns))


def _by_tiles(kind: str, arrays: Any, flags: Any, work: float) -> Instruction:
    from ..threads import parts
    dtype = arrays[0].dtype
    workspace = np.empty((parts(), WORKSPACE), dtype)
    entry = addresses(dtype.itemsize)[_entry(kind, "by_tiles")]
    return Instruction(entry, (*arrays, workspace), (False, False, False, True), flags, work, True)


def _by_blas(kind: str, arrays: Any, flags: Any, work: float) -> Instruction | None:
    if not available() or max(max(*m.shape, m.strides[-2] // m.itemsize) for m in arrays) > largest_size():
        return None
    entry = blas_addresses(arrays[0].dtype.itemsize)[_entry(kind, "by_blas")]
    return Instruction(entry, arrays, (False, False, False), flags, work, True, True)


def _entry(kind: str, by: str) -> str:
    return f"{kind}_{by}" if kind else by


def _column_major(m: Any) -> bool | None:
    """Whether matrices are stored by columns; False by rows, None if neither is contiguous."""
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
