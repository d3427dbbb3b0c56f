"""``array * scale + shift`` along axis 1 in one pass: what normalizers and image scalers do to every batch."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...cpu.cache.sources import jit
from ...cpu.threads import parts_of, run_parts
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


def is_worth(array: Array) -> bool:
    """The same of arrays that are large enough to gain by it."""
    return array.size >= _WORTH and is_plain(array)


@functools.cache
def _loop(dtype: Any, rank: int) -> Callable[..., None]:
    from numba import from_dtype, types

    from ...cpu.kernels.affine import affine_planes, affine_rows
    one, other = from_dtype(dtype), from_dtype(_RESULTS[dtype])
    row = types.Array(types.float64, 1, "C", readonly=True)
    signature = types.Array(one, rank, "C", readonly=True), row, row, types.Array(other, rank, "C")
    made: Callable[..., None] = jit(affine_rows if rank == 2 else affine_planes, signature, nogil=True)
    return made


@functools.cache
def _moments(dtype: Any, rank: int) -> Callable[..., None]:
    from numba import from_dtype, types

    from ...cpu.kernels.affine import moments, plane_moments
    values, row = types.Array(from_dtype(dtype), rank, "C", readonly=True), types.float64[::1]
    made: Callable[..., None]
    if rank == 2:
        made = jit(moments, (values, types.int64, row, row, row), nogil=True)
    else:
        made = jit(plane_moments, (values, row, row), nogil=True, fastmath={"reassoc"})      # sums as vectors
    return made


def affine(array: Array, scale: Array, shift: Array) -> Array:
    """A new array, computed in float64 and rounded once: of the type of ``array`` where that is a float type, else float32.

    Parameters
    ----------
    array : shape (examples, columns, …)
    scale, shift : float64, shape (columns,), contiguous
    """
    if not is_worth(array):
        out = array * along_axis_1(scale, array.ndim) + along_axis_1(shift, array.ndim)
        return np.asarray(out).astype(array.dtype if array.dtype.kind == "f" else np.float32, copy=False)
    made = np.empty(array.shape, _RESULTS[array.dtype])
    if array.ndim == 2:
        x, y, loop = array, made, _loop(array.dtype, 2)
    else:
        x, y, loop = _planes(array), _planes(made), _loop(array.dtype, 3)
    if array.size < _SHARED:
        loop(x, scale, shift, y)
    else:
        run_parts(lambda _, a, b: loop(x[a:b], scale, shift, y[a:b]), parts_of(len(x), 8 * array.size))
    return made


def _planes(array: Array) -> Array:
    return array.reshape(array.shape[0], array.shape[1], -1)


def moments(x: Array) -> tuple[int, Array, Array]:
    """How many values each column (axis 1) of a plain array has, their mean and their sum of squared deviations, in float64."""
    mean, squares = np.empty(x.shape[1]), np.empty(x.shape[1])
    if x.ndim == 2:
        _moments(x.dtype, 2)(x, max(1, (1 << 12) // x.shape[1]), mean, squares, np.empty(x.shape[1]))
    else:
        _moments(x.dtype, 3)(_planes(x), mean, squares)
    return x.size // x.shape[1], mean, squares


def extremes(x: Array) -> tuple[Array, Array]:
    """Smallest and largest value of each column (axis 1) of a plain array."""
    axes = 0 if x.ndim == 2 else (0, 2)
    values = x if x.ndim == 2 else _planes(x)
    return values.min(axis=axes), values.max(axis=axes)
