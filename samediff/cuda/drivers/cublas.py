"""Matrix products by cuBLAS, called directly: CuPy refuses its calls while a CUDA graph is recorded.

Arrays here are row-major and cuBLAS is column-major: what it calls a matrix is the transpose of ours, so ``out = a @ b`` is asked for as
``out.T = b.T @ a.T``.
"""
from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...base.locks import rlock
from ...errors import DeviceError
from ...plans.actions import MatrixProduct

#: cudaDataType of the elements.
TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 14}

#: cublasComputeType_t: sums are made in float32 (float64 for float64), factors are not rounded unless TF32 is allowed.
COMPUTE_FLOAT, COMPUTE_DOUBLE, COMPUTE_TF32 = 68, 70, 77

#: cublasMath_t: sums of parts are not rounded to 16 bits either.
NO_ROUNDED_SUMS = 16

#: Bytes of a handle's workspace, as NVIDIA recommends for the newest devices; with it graphs can be recorded and results repeat.
WORKSPACE = 32 << 20

#: So many calls may stand for one product before addresses are listed on the device.
MOST_CALLS = 4

_INT, _LONG, _POINTER = ctypes.c_int, ctypes.c_longlong, ctypes.c_void_p
_HEAD = (_POINTER, _INT, _INT, _INT, _INT, _INT, _POINTER)         # handle, two transpositions, m, n, k, alpha
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "cublasCreate_v2": (_POINTER,),
    "cublasDestroy_v2": (_POINTER,),
    "cublasSetStream_v2": (_POINTER, _POINTER),
    "cublasSetWorkspace_v2": (_POINTER, _POINTER, ctypes.c_size_t),
    "cublasSetMathMode": (_POINTER, _INT),
    "cublasGemmStridedBatchedEx": (*_HEAD, _POINTER, _INT, _INT, _LONG, _POINTER, _INT, _INT, _LONG, _POINTER,
                                   _POINTER, _INT, _INT, _LONG, _INT, _INT, _INT),
    "cublasGemmBatchedEx": (*_HEAD, _POINTER, _INT, _INT, _POINTER, _INT, _INT, _POINTER, _POINTER, _INT, _INT, _INT, _INT, _INT),
}


@dataclass(frozen=True)
class GemmOperand:
    """A matrix in memory: its address, whether it is column-major, and the distance of its rows (columns) in elements."""

    address: int
    transposed: bool
    leading: int


@dataclass(frozen=True)
class BatchAxis:
    """A batch axis: its size, and the steps of a, b and out along it, in elements."""

    size: int
    steps: tuple[int, int, int]


@dataclass(frozen=True)
class GemmLayout:
    """A product as cuBLAS takes it: row-major ``out`` (m, n), any ``a`` (m, k) and ``b`` (k, n) of elements of ``size`` bytes."""

    size: int
    m: int
    n: int
    k: int
    a: GemmOperand
    b: GemmOperand
    out: GemmOperand
    axes: tuple[BatchAxis, ...]


def fits(array: Any) -> bool:
    """Whether cuBLAS can take the last two axes as they are in memory."""
    return _matrix(array, 0) is not None


def layout(product: MatrixProduct, address: Callable[[Any], int]) -> GemmLayout:
    """Memory layout of the arrays of a product.

    Parameters
    ----------
    product : of arrays that :func:`fits`
    address : of an array's first element
    """
    a, b, out = (_matrix(x, address(x)) for x in (product.a, product.b, product.out))
    if a is None or b is None or out is None:
        raise DeviceError("Product: rows or columns of a matrix have to be contiguous, got strides "
                          f"{product.a.strides}, {product.b.strides}, {product.out.strides}")
    (m, n), k = product.out.shape[-2:], product.a.shape[-1]
    size = product.out.itemsize
    axes = [BatchAxis(count, (sa // size, sb // size, so // size)) for count, sa, sb, so in
            zip(product.out.shape[:-2], product.a.strides, product.b.strides, product.out.strides)]
    if out.transposed:          # the transposed product
        a, b, out, m, n = _transposed(b), _transposed(a), _transposed(out), n, m
        axes = [replace(axis, steps=(axis.steps[1], axis.steps[0], axis.steps[2])) for axis in axes]
    return _with_more_rows(GemmLayout(size, m, n, k, a, b, out, _joined(axes)))


def _matrix(array: Any, address: int) -> GemmOperand | None:
    (rows, columns), size = array.shape[-2:], array.itemsize
    if not array.size:
        return GemmOperand(address, False, max(columns, 1))
    row, column = array.strides[-2] // size, array.strides[-1] // size
    if (column == 1 or columns <= 1) and (row >= max(columns, 1) or rows <= 1):
        return GemmOperand(address, False, row if rows > 1 else max(columns, 1))
    if (row == 1 or rows <= 1) and (column >= max(rows, 1) or columns <= 1):
        return GemmOperand(address, True, column if columns > 1 else max(rows, 1))
    return None


def _transposed(x: GemmOperand) -> GemmOperand:
    return GemmOperand(x.address, not x.transposed, x.leading)


def _joined(axes: list[BatchAxis]) -> tuple[BatchAxis, ...]:
    """The axes with contiguous neighbours merged, the longest last."""
    joined: list[BatchAxis] = []
    for axis in sorted((x for x in axes if x.size != 1), key=lambda x: -x.steps[2]):
        if joined and all(outer == inner * axis.size for outer, inner in zip(joined[-1].steps, axis.steps)):
            joined[-1] = BatchAxis(joined[-1].size * axis.size, axis.steps)
        else:
            joined.append(axis)
    return tuple(sorted(joined, key=lambda x: x.size))


def _with_more_rows(found: GemmLayout) -> GemmLayout:
    """One matrix for a batch whose right factor is the same and whose rows follow each other."""
    for i, axis in enumerate(found.axes):
        if axis.steps == (found.m * found.a.leading, 0, found.m * found.out.leading) and not found.a.transposed:
            return _with_more_rows(replace(found, m=found.m * axis.size, axes=found.axes[:i] + found.axes[i + 1:]))
    return found


class Cublas:
    """The library, and a handle for each stream of one device.

    Parameters
    ----------
    library : the functions of cuBLAS
    memory : ``memory(bytes)`` is an array on the device
    address : of an array's first element
    tf32 : whether factors of float32 may be rounded to 10 bits behind the point, which is many times faster
    """

    def __init__(self, library: Any, memory: Callable[[int], Any], address: Callable[[Any], int], tf32: bool = False) -> None:
        self._library, self._memory, self._address = library, memory, address
        self.tf32 = tf32
        self._handles: dict[int, tuple[ctypes.c_void_p, Any]] = {}
        self._lock = rlock()
        for name, types in _ARGUMENTS.items():
            getattr(library, name).argtypes = types

    def handle(self, stream: int) -> ctypes.c_void_p:
        """The handle of a stream; made at the first call, which must not come while a graph is recorded."""
        found = self._handles.get(stream)
        if found is None:
            with self._lock:
                found = self._handles.get(stream) or self._made(stream)
                self._handles[stream] = found
        return found[0]

    def forget(self, stream: int) -> None:
        """Destroy the handle of a stream that no longer exists."""
        with self._lock:
            found = self._handles.pop(stream, None)
        if found:
            self._call("cublasDestroy_v2", found[0])

    def _made(self, stream: int) -> tuple[ctypes.c_void_p, Any]:
        handle, workspace = ctypes.c_void_p(), self._memory(WORKSPACE)
        self._call("cublasCreate_v2", ctypes.addressof(handle))
        self._call("cublasSetStream_v2", handle, stream)
        self._call("cublasSetWorkspace_v2", handle, self._address(workspace), WORKSPACE)       # a new stream would reset it
        self._call("cublasSetMathMode", handle, NO_ROUNDED_SUMS)
        return handle, workspace

    def _call(self, name: str, *args: Any) -> None:
        status = getattr(self._library, name)(*args)
        if status:
            raise DeviceError(f"cuBLAS: {name} failed with status {status}")

    def prepare(self, product: MatrixProduct, upload: Callable[[list[int]], Any]) -> Callable[[int], None]:
        """A call that puts the product into a stream.

        Parameters
        ----------
        product : of arrays that :func:`fits`
        upload : 64-bit integers as an array on the device
        """
        found = layout(product, self._address)
        if not found.m or not found.n or any(not axis.size for axis in found.axes):
            return lambda stream: None
        name = product.out.dtype.name
        scale = ctypes.c_double if name == "float64" else ctypes.c_float
        numbers = scale(product.alpha), scale(product.beta)
        compute = COMPUTE_DOUBLE if name == "float64" else COMPUTE_TF32 if name == "float32" and self.tf32 else COMPUTE_FLOAT
        outer, inner = found.axes[:-1], found.axes[-1] if found.axes else BatchAxis(1, (0, 0, 0))
        if math.prod(axis.size for axis in outer) > MOST_CALLS:
            calls, kept = self._listed(found, name, compute, numbers, upload)
        else:
            calls, kept = [self._strided(found, name, compute, numbers, starts, inner) for starts in _starts(found, outer)], None

        def run(stream: int) -> None:
            handle = self.handle(stream)
            for function, args in calls:
                self._call(function, handle, *args)
        run.__dict__["kept"] = numbers, kept            # cuBLAS has their addresses
        return run

    def _head(self, found: GemmLayout, numbers: Any) -> tuple[Any, ...]:
        return int(found.b.transposed), int(found.a.transposed), found.n, found.m, found.k, ctypes.addressof(numbers[0])

    def _strided(self, found: GemmLayout, name: str, compute: int, numbers: Any, starts: tuple[int, ...], axis: BatchAxis) -> Any:
        a, b, out = starts
        kind, steps = TYPES[name], axis.steps
        return "cublasGemmStridedBatchedEx", (
            *self._head(found, numbers), b, kind, found.b.leading, steps[1], a, kind, found.a.leading, steps[0],
            ctypes.addressof(numbers[1]), out, kind, found.out.leading, steps[2], axis.size, compute, -1)

    def _listed(self, found: GemmLayout, name: str, compute: int, numbers: Any, upload: Callable[[list[int]], Any]) -> Any:
        """One batched call for matrices at arbitrary addresses."""
        kind, starts = TYPES[name], _starts(found, found.axes)
        places = upload([place for which in (1, 0, 2) for place in (start[which] for start in starts)])
        b, a, out = (self._address(places) + 8 * len(starts) * i for i in range(3))
        return [("cublasGemmBatchedEx", (*self._head(found, numbers), b, kind, found.b.leading, a, kind, found.a.leading,
                                         ctypes.addressof(numbers[1]), out, kind, found.out.leading, len(starts), compute, -1))], places


def _starts(found: GemmLayout, axes: tuple[BatchAxis, ...]) -> list[tuple[int, ...]]:
    """The addresses of a, b and out for every index of the axes."""
    return [tuple(x.address + found.size * sum(i * axis.steps[which] for i, axis in zip(index, axes))
                  for which, x in enumerate((found.a, found.b, found.out)))
            for index in itertools.product(*(range(axis.size) for axis in axes))]
