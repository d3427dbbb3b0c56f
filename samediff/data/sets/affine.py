"""``array * scale + shift`` along axis 1: what normalizers and image scalers do to every batch."""
from __future__ import annotations

import numpy as np

from ...base.datatype import is_floating
from .dataset_arrays import Array

_BLOCK = 1 << 15            # values that stay in the caches between the steps


def along_axis_1(values: Array, rank: int) -> Array:
    """A row of statistics in the shape that broadcasts along axis 1."""
    return np.asarray(values, np.float64).reshape(1, -1, *[1] * (rank - 2))


def affine(array: Array, scale: Array, shift: Array) -> Array:
    """A new array, computed in float64 and rounded once: of the type of ``array`` where that is a float type, else float32.

    Parameters
    ----------
    array : shape (examples, columns, …)
    scale, shift : float64, shape (columns,)
    """
    factor, term = along_axis_1(scale, array.ndim), along_axis_1(shift, array.ndim)
    made = np.empty(array.shape, array.dtype if is_floating(array.dtype) else np.float32)
    rows = max(1, _BLOCK * len(array) // max(1, array.size))
    for low in range(0, len(array), rows):
        part = array[low:low + rows].astype(np.float64)     # at once: a product of two types converts in small pieces
        part *= factor
        part += term
        made[low:low + rows] = part
    return made
