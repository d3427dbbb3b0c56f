"""Products of matrices of whole numbers and truth values, which the op has for floating types alone: multiplied, then summed."""
from __future__ import annotations

import math
from typing import Any

import numpy as np


def is_whole(x: Any) -> bool:
    """Whether elements are whole numbers or truth values."""
    return x.dtype.kind in "biu"  # type: ignore[no-any-return]


def matmul(xp: Any, x: Any, y: Any) -> Any:
    """``x @ y`` in the type of the operands."""
    row, column = x.ndim == 1, y.ndim == 1
    x, y = xp.expand_dims(x, 0) if row else x, xp.expand_dims(y, 1) if column else y
    products = xp.expand_dims(x, -1) * xp.expand_dims(y, -3)
    made = xp.node("any" if x.dtype == np.bool_ else "reduce_sum", [products], dimensions=(-2,), keep_dims=False)
    gone = tuple(axis for axis, left in ((-1, column), (-2, row)) if left)
    return xp.squeeze(made, tuple(a % made.ndim for a in gone)) if gone else made


def tensordot(xp: Any, x: Any, y: Any, axes: Any) -> Any:
    """Contraction over ``axes``, as one product of matrices."""
    over_x, over_y = (range(-axes, 0), range(axes)) if isinstance(axes, int) else axes
    over_x, over_y = (tuple(int(a) % r for a in np.atleast_1d(np.asarray(over))) for over, r in ((over_x, x.ndim), (over_y, y.ndim)))
    free_x, free_y = (tuple(i for i in range(r) if i not in over) for r, over in ((x.ndim, over_x), (y.ndim, over_y)))
    rows, columns = tuple(x.shape[i] for i in free_x), tuple(y.shape[i] for i in free_y)
    inner = math.prod(x.shape[i] for i in over_x)
    first = xp.reshape(xp.transpose(x, (*free_x, *over_x)), (math.prod(rows), inner))
    second = xp.reshape(xp.transpose(y, (*over_y, *free_y)), (inner, math.prod(columns)))
    return xp.reshape(matmul(xp, first, second), (*rows, *columns))
