"""``array * scale + shift`` along axis 1 in one pass: what normalizers and image scalers do to every batch."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..executor.cache import jit
from ..executor.cpu.threads import parts_of, run_parts
from .dataset_arrays import Array

_WORTH = 512                # values from which the compiled loop is worth its call
_SHARED = 1 << 20           # values from which it is worth two threads
_RESULTS: dict[Any, Any] = {np.dtype(t): np.dtype(r) for t, r in (
    (np.float32, np.float32), (np.float64, np.float64), (np.uint8, np.float32))}


def along_axis_1(values: Array, rank: int) -> Array:
    """A row of statistics in the shape that broadcasts along axis 1."""
    return np.asarray(values, np.float64).reshape(1, -1, *[1] * (rank - 2))


def is_plain(array: Array) -> bool:
    """Whether compiled loops can read the array as it lies in memory."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned and array.dtype in _RESULTS and type(array) is np.ndarray


@functools.cache
def _loop(dtype: Any, rank: int) -> Callable[..., None]:
    from numba import from_dtype, types

    from ..executor.cpu.kernels.affine import affine_planes, affine_rows
    one, other = from_dtype(dtype), from_dtype(_RESULTS[dtype])
    row = types.Array(types.float64, 1, "C", readonly=True)
    signature = types.Array(one, rank, "C", readonly=True), row, row, types.Array(other, rank, "C")
    made: Callable[..., None] = jit(affine_rows if rank == 2 else affine_planes, signature, nogil=True)
    return made


@functools.cache
def _moments(dtype: Any) -> Callable[..., None]:
    from numba import from_dtype, types

    from ..executor.cpu.kernels.affine import moments
    rows, row = types.Array(from_dtype(dtype), 2, "C", readonly=True), types.float64[::1]
    made: Callable[..., None] = jit(moments, (rows, types.int64, row, row, row), nogil=True)
    return made


def affine(array: Array, scale: Array, shift: Array) -> Array:
    """A new array, computed in float64 and rounded once: of the type of ``array`` where that is a float type, else float32.

    Parameters
    ----------
    array : shape (examples, columns, …)
    scale, shift : float64, shape (columns,), contiguous
    """
    if array.size < _WORTH or not is_plain(array):
        out = array * along_axis_1(scale, array.ndim) + along_axis_1(shift, array.ndim)
        return np.asarray(out).astype(array.dtype if array.dtype.kind == "f" else np.float32, copy=False)
    made = np.empty(array.shape, _RESULTS[array.dtype])
    if array.ndim == 2:
        x, y, loop = array, made, _loop(array.dtype, 2)
    else:
        planes = (array.shape[0], array.shape[1], -1)
        x, y, loop = array.reshape(planes), made.reshape(planes), _loop(array.dtype, 3)
    if array.size < _SHARED:
        loop(x, scale, shift, y)
    else:
        run_parts(lambda _, a, b: loop(x[a:b], scale, shift, y[a:b]), parts_of(len(x), 8 * array.size))
    return made


def column_moments(x: Array) -> tuple[Array, Array]:
    """Means and sums of squared deviations of the columns of a plain array of rank 2, in float64."""
    mean, squares, own = (np.empty(x.shape[1]) for _ in range(3))
    _moments(x.dtype)(x, max(1, (1 << 12) // max(1, x.shape[1])), mean, squares, own)
    return mean, squares
