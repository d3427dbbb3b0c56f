"""Rows taken from arrays, and rows of arrays changed, at indices."""
from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ...base.spec import Shape, TensorSpec
from ..cache.sources import function_of, jit
from ..code.fused import writable
from ..code.operators import TYPE_NAMES

Change = Literal["add", "sub", "mul", "div", "max", "min", "update"]

_CHECK = """
    n = ARRAY.shape[1]
    for k in range(i.size):
        if i[k] < 0 or i[k] >= n:
            return False
"""

_TAKE = """
def kernel(x, i, y):
CHECK
    for a in range(x.shape[0]):
        for k in range(i.size):
            source, target = a * x.strides[0] + i[k] * x.strides[1], a * y.strides[0] + k * y.strides[1]
            for c in range(x.shape[2]):
                put(y, target + c * SIZE, at(x, source + c * SIZE))
    return True
"""

#: Equal indices are served in their order, so that results do not depend on anything else.
_CHANGE = """
def kernel(u, i, y):
CHECK
    for a in range(y.shape[0]):
        for k in range(i.size):
            source, target = a * u.strides[0] + k * u.strides[1], a * y.strides[0] + i[k] * y.strides[1]
            for c in range(y.shape[2]):
                v = at(y, target + c * SIZE)
                w = at(u, source + c * SIZE)
                put(y, target + c * SIZE, T(COMBINED))
    return True
"""

_POSITIONS = """
def kernel(i, sizes, p):
    for k in range(i.shape[0]):
        place = 0
        for j in range(i.shape[1]):
            if i[k, j] < 0 or i[k, j] >= sizes[j]:
                return False
            place = place * sizes[j] + i[k, j]
        p[k] = place
    return True
"""

_COMBINED: dict[str, str] = {"add": "v + w", "sub": "v - w", "mul": "v * w", "div": "v / w", "update": "w",
                             "max": "v if v > w else w", "min": "v if v < w else w"}


def _type(spec: TensorSpec) -> Any:
    """The element type of kernels that only move elements."""
    return {"HALF": np.dtype(np.uint16), "BFLOAT16": np.dtype(np.uint16), "BOOL": np.dtype(np.uint8)}.get(spec.dtype.name, spec.dtype.numpy)


def _jitted(source: str, dtype: Any, index: Any, ranks: tuple[int, int, int]) -> Any:
    numba: Any = importlib.import_module("numba")
    from ..code import address, intrinsics
    names = {**{name: d.type for d, name in TYPE_NAMES.items()}, "at": address.at, "put": address.put, "vmax": intrinsics.vmax,
             "vmin": intrinsics.vmin}
    types = [numba.types.Array(numba.from_dtype(d), rank, "A" if rank == 3 else "C") for d, rank in zip((dtype, index, dtype), ranks)]
    return jit(function_of(source, "kernel", names), numba.boolean(*types), error_model="numpy", nogil=True, fastmath={"contract"})


@functools.lru_cache(maxsize=256)
def _take_kernel(dtype: Any, index: Any) -> Any:
    source = _TAKE.replace("CHECK", _CHECK.replace("ARRAY", "x")).replace("SIZE", str(dtype.itemsize))
    return _jitted(source, dtype, index, (3, 1, 3))


@functools.lru_cache(maxsize=256)
def _change_kernel(change: Change, dtype: Any, index: Any) -> Any:
    combined = f"v{change}(v, w)" if dtype.kind == "f" and change in ("max", "min") else _COMBINED[change]
    source = _CHANGE.replace("CHECK", _CHECK.replace("ARRAY", "y")).replace("SIZE", str(dtype.itemsize))
    return _jitted(source.replace("COMBINED", combined).replace("T(", TYPE_NAMES[dtype] + "("), dtype, index, (3, 1, 3))


@functools.lru_cache(maxsize=8)
def _position_kernel(index: Any) -> Any:
    numba: Any = importlib.import_module("numba")
    types = [numba.types.Array(numba.from_dtype(d), r, "C") for d, r in ((index, 2), (np.dtype(np.int64), 1), (np.dtype(np.int64), 1))]
    return jit(function_of(_POSITIONS, "kernel", {}), numba.boolean(*types), nogil=True)


def _index(spec: TensorSpec) -> Any:
    return np.dtype(np.int32) if spec.dtype.name == "INT" else np.dtype(np.int64)


def _flat(indices: Any, dtype: Any, shape: Any = -1) -> Any:
    return np.array(indices, dtype, order="C", copy=None if indices.flags.carray else True).reshape(shape)


def _dense(x: Any, view: Shape, dtype: Any) -> Any:
    """An array for kernels that want neighbours of the last axis next to each other."""
    x = x.reshape(view)
    if not x.flags.carray:
        x = writable(x) if x.flags.aligned and x.strides[2] == x.itemsize else x.copy()
    return x if x.dtype == dtype else x.view(dtype)


def _into(out: Any, view: Shape, dtype: Any, work: Callable[[Any], Any]) -> bool:
    """Whether ``work`` filled an array that has other strides than it wants, such as a gradient in column order."""
    dense = _dense(out, view, dtype)
    done = bool(work(dense))
    if done and not np.may_share_memory(dense, out):
        out[...] = dense.view(out.dtype).reshape(out.shape)
    return done


def _sides(shape: Shape, axis: int) -> Shape:
    """(outer, n, inner) around an axis."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1:])


def take(axis: int, x: TensorSpec, indices: TensorSpec) -> Callable[..., bool] | None:
    """``call(x, indices, out)``: the slices of x at the indices; False, with nothing stored, when an index is out of range."""
    shape, dtype, index = x.shape or (), _type(x), _index(indices)
    if not shape or dtype not in TYPE_NAMES or 0 in shape or 0 in (indices.shape or ()):
        return None
    outer, n, inner = _sides(shape, axis)
    kernel, target = _take_kernel(dtype, index), (outer, math.prod(indices.shape or ()), inner)

    def call(x: Any, indices: Any, out: Any) -> bool:
        return _into(out, target, dtype, lambda y: kernel(_dense(x, (outer, n, inner), dtype), _flat(indices, index), y))
    return call


def change(how: Change, axis: int, y: TensorSpec, indices: TensorSpec) -> Callable[..., bool] | None:
    """``call(updates, indices, y)``: slices of y changed in place, in the order of the indices; False as in :func:`take`."""
    shape, dtype, index = y.shape or (), _type(y) if how == "update" else y.dtype.numpy, _index(indices)
    if not shape or dtype not in TYPE_NAMES or y.dtype.name == "BOOL" or 0 in shape or 0 in (indices.shape or ()):
        return None
    if how == "div" and dtype.kind != "f":
        return None
    view = _sides(shape, axis)
    kernel, source = _change_kernel(how, dtype, index), (view[0], math.prod(indices.shape or ()), view[2])

    def call(updates: Any, indices: Any, y: Any) -> bool:
        return _into(y, view, dtype, lambda rows: kernel(_dense(updates, source, dtype), _flat(indices, index), rows))
    return call


def places(shape: Shape, indices: TensorSpec) -> Callable[[Any], Any] | None:
    """``call(indices)``: the rows, counted in c order, that index vectors address in an array of ``shape``; None when out of range."""
    given = indices.shape or ()
    if 0 in given or 0 in shape or given[-1] == 0:
        return None
    index, count = _index(indices), math.prod(given[:-1])
    kernel, sizes = _position_kernel(index), np.array(shape[:given[-1]], np.int64)

    def call(indices: Any) -> Any:
        found = np.empty(count, np.int64)
        return found if kernel(_flat(indices, index, (count, -1)), sizes, found) else None
    return call
