"""Matrix products inside compiled loops: the functions of NumPy's own BLAS library by address.

A step of a recurrent network is a product too small to go back to Python for. NumPy's wheels bring OpenBLAS with 64-bit sizes;
where NumPy uses another library :func:`available` says no, and callers loop in Python.
"""
# mypy: ignore-errors
from __future__ import annotations

import ctypes
import functools

import llvmlite.binding as llvm
from numba import njit
from numba.core import types
from numba.extending import overload

from .blas_threads import libraries

_SYMBOLS = {"dl4py_sgemm": "scipy_cblas_sgemm64_", "dl4py_dgemm": "scipy_cblas_dgemm64_"}
_ROW_MAJOR, _PLAIN, _TRANSPOSED = 101, 111, 112


@functools.cache
def available() -> bool:
    """Whether compiled code can call the library."""
    for library in libraries():
        if all(hasattr(library, name) for name in _SYMBOLS.values()):
            for symbol, name in _SYMBOLS.items():
                llvm.add_symbol(symbol, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
            return True
    return False


def _declared(symbol, scalar):
    i4, i8 = types.int32, types.int64
    return types.ExternalFunction(symbol, types.void(i4, i4, i4, i8, i8, i8, scalar, i8, i8, i8, i8, scalar, i8, i8))


_sgemm, _dgemm = _declared("dl4py_sgemm", types.float32), _declared("dl4py_dgemm", types.float64)


def _call(a, b, turn_b, c, beta):
    """c = a b + beta c."""


@njit
def _row_length(m):
    """Elements from one row to the next; a single row may have any stride, which BLAS would refuse."""
    return max(m.strides[0] // m.itemsize, m.shape[1])


def _body(gemm):
    def body(a, b, turn_b, c, beta):
        gemm(_ROW_MAJOR, _PLAIN, _TRANSPOSED if turn_b else _PLAIN, c.shape[0], c.shape[1], a.shape[1], a.dtype.type(1),
             a.ctypes.data, _row_length(a), b.ctypes.data, _row_length(b), beta, c.ctypes.data, _row_length(c))
    return body


@overload(_call)
def _choose(a, b, turn_b, c, beta):
    return _body(_sgemm if a.dtype == types.float32 else _dgemm)


@njit
def gemm(a, b, turn_b, c, beta):
    """c = a b + beta c for matrices whose rows are contiguous and not empty; ``turn_b``: b is transposed."""
    _call(a, b, turn_b, c, a.dtype.type(beta))


available()             # machine code from the cache names the symbols, so they have to be known before it is loaded
