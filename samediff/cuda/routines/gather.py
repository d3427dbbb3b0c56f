"""Rows taken from arrays at indices, and index vectors as numbers of rows.

No exception can come from a device: where an index is out of range, rows that are taken are NaN (zeros, of integers).
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import Shape, TensorSpec
from ...plans.actions import Action, CudaKernel, KernelLaunch
from ..sources import source, type_name

#: Rows up to which they are numbered by int32.
MOST = 2 ** 31 - 2

#: Types of the size of elements that are moved as they are.
_MOVED = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}

#: The bits of NaN.
_NOTHING = {"HALF": "0x7e00", "BFLOAT16": "0x7fc0", "FLOAT": "0x7fc00000u", "DOUBLE": "0x7ff8000000000000ull"}

#: Indices of a node itself become part of the text up to that number.
_TABLE = 1024


def position_type(*sizes: int) -> tuple[str, Any]:
    """The type of positions in arrays of these sizes: its name in CUDA, and NumPy's type."""
    return ("int", np.int32) if max(sizes, default=0) < 2 ** 30 else ("long long", np.int64)


def sides(shape: Shape, axis: int) -> tuple[int, int, int]:
    """The shape as (outer, n, inner) around an axis."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1:])


def block_for(columns: int, rows: int, threads: int = 256) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Grid and block for rows along y and columns along x, neither more than needed."""
    x = 1
    while x < min(columns, threads):
        x *= 2
    y = threads // x
    return (max(1, min(-(-rows // y), 1 << 16)), max(1, min(-(-columns // x), 1 << 10)), 1), (x, y, 1)


def flat(size: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Grid and block for so many elements."""
    return (max(1, min(-(-size // 256), 1 << 14)), 1, 1), (256, 1, 1)


def take(axis: int, x: TensorSpec, indices: TensorSpec, fixed: Sequence[int] | None = None) -> CudaKernel | None:
    """``call(x, indices, out)``: the slices of x at the indices; with ``fixed`` ones ``call(x, out)``."""
    if not x.is_static or not x.shape or not indices.is_static or x.dtype.code in (-1, 50) or (fixed and len(fixed) > _TABLE):
        return None
    (outer, n, inner), count = sides(x.shape, axis), math.prod(indices.shape or ())
    text, kind = _take_text(x, indices, outer * max(n, count) * inner, fixed)

    def actions(x: Any, *rest: Any) -> list[Action]:
        index, out = rest if fixed is None else (x, rest[0])
        return [_take(text, x, index, out, outer * count, kind(count), kind(n), kind(inner))] if out.size else []
    return CudaKernel(actions)


def _take_text(x: TensorSpec, indices: TensorSpec, size: int, fixed: Sequence[int] | None = None) -> tuple[str, Any]:
    name, kind = position_type(size)
    table = {} if fixed is None else {"TABLE": ", ".join(map(str, fixed))}
    return source("gather", T=_MOVED[x.dtype.numpy.itemsize], X=type_name(indices.dtype), I=name,
                  OUTSIDE=_NOTHING.get(x.dtype.name, "0"), **table), kind


def _take(text: str, x: Any, index: Any, out: Any, rows: int, *sizes: Any) -> KernelLaunch:
    return KernelLaunch(text, "take", *block_for(int(sizes[-1]), rows), (x, index, out, type(sizes[0])(rows), *sizes))


def one_hot(axis: int, depth: int, on: float, off: float, dtype: DataType, indices: TensorSpec,
            outside: float | None = None) -> CudaKernel | None:
    """``call(indices, out)``: a new axis, ``on`` at the index and ``off`` elsewhere; ``outside`` where an index lies beyond the axis."""
    if not indices.is_static or indices.shape is None or dtype.code in (-1, 50) or indices.dtype.code in (-1, 50):
        return None
    outer, inner = math.prod(indices.shape[:axis]), math.prod(indices.shape[axis:])
    name, kind = position_type(outer * depth * inner)
    text = source("one_hot", T=type_name(dtype), X=type_name(indices.dtype), I=name)
    values = [np.float64(v) for v in (on, off, off if outside is None else outside)]

    def actions(indices: Any, out: Any) -> list[Action]:
        if not out.size:
            return []
        return [KernelLaunch(text, "one_hot", *flat(out.size), (indices, out, kind(out.size), kind(depth), kind(inner), *values))]
    return CudaKernel(actions)


def take_nd(x: TensorSpec, indices: TensorSpec) -> CudaKernel | None:
    """``call(x, indices, out, places)``: slices at index vectors, which address the first axes of x."""
    table = rows_of(x, indices)
    if table is None or x.dtype.code in (-1, 50):
        return None
    n, count, inner = table
    place = TensorSpec((count,), DataType.INT)
    text, kind = _take_text(x, place, max(n, count) * inner)

    def actions(x: Any, indices: Any, out: Any, found: Any) -> list[Action]:
        if not out.size:
            return []
        return [places(x.shape[:indices.shape[-1]], indices, found), _take(text, x, found, out, count, kind(count), kind(n), kind(inner))]
    return CudaKernel(actions, (place,))


def equal_rows(last: bool, indices: TensorSpec, out: TensorSpec) -> CudaKernel | None:
    """``call(indices, like, out)``: for each row of the result how many indices equal its own, or (``last``) whether none behind does."""
    if not indices.is_static or not out.is_static or math.prod(indices.shape or ()) > MOST or not out.dtype.is_numeric:
        return None
    text, count = source("equal_rows", T=type_name(out.dtype), X=type_name(indices.dtype), LAST=int(last)), math.prod(indices.shape or ())
    inner = math.prod(out.shape or ()) // count if count else 0
    grid, block = block_for(min(inner, 32), count)

    def actions(indices: Any, like: Any, out: Any) -> list[Action]:
        return [KernelLaunch(text, "equal_rows", grid, block, (indices, out, np.int32(count), np.int64(inner)))] if out.size else []
    return CudaKernel(actions)


def rows_of(x: TensorSpec, indices: TensorSpec) -> tuple[int, int, int] | None:
    """Rows that index vectors can address, how many vectors there are, and elements of a row; None where that is not known."""
    if not x.is_static or not indices.is_static or x.shape is None or not indices.shape or indices.shape[-1] > 8:
        return None
    depth = indices.shape[-1]
    n = math.prod(x.shape[:depth])
    return (n, math.prod(indices.shape[:-1]), math.prod(x.shape[depth:])) if n <= MOST else None


def places(axes: Shape, indices: Any, found: Any) -> KernelLaunch:
    """Numbers of the rows that index vectors into axes of these sizes address, into ``found`` (int32)."""
    sizes = [np.int64(v) for v in (*axes, *[1] * (8 - len(axes)))]
    args = indices, found, np.int64(found.size), np.int32(len(axes)), np.int32(math.prod(axes)), *sizes
    return KernelLaunch(source("row_numbers", X=type_name(indices.dtype)), "places", *flat(found.size), args)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    yield "take", source("gather", T="unsigned int", X="long long", I="int", OUTSIDE="0x7fc00000u")
    yield "take from a table", source("gather", T="unsigned short", X="long long", I="long long", OUTSIDE="0x7e00", TABLE="1, 2")
    yield "one hot", source("one_hot", T="half_t", X="int", I="int")
    yield "equal rows", source("equal_rows", T="half_t", X="int", LAST=1)
    yield "places", source("row_numbers", X="unsigned char")
