"""Matrix products inside compiled loops: the functions of NumPy's own BLAS library by address.

A step of a recurrent network is a product too small to go back to Python for. NumPy's wheels bring OpenBLAS with 64-bit sizes;
other libraries have such functions, too, under other names; where there are none :func:`available` says no, and callers loop in Python.
"""
# mypy: ignore-errors
from __future__ import annotations

import ctypes
import functools

import llvmlite.binding as llvm
from llvmlite import ir

from ..compiler.jit_functions import intrinsic, types
from .blas_threads import libraries

#: Names of products with 64-bit sizes: of OpenBLAS in NumPy's wheels and elsewhere, of MKL and BLIS.
_NAMES = ("scipy_cblas_{}gemm64_", "cblas_{}gemm64_", "cblas_{}gemm_64")
_ROW_MAJOR, _PLAIN, _TRANSPOSED = 101, 111, 112


@functools.cache
def address(double):
    """Address of the matrix product of the BLAS library for float32, or for float64 if ``double``; 0 where it cannot be called."""
    for library in libraries():
        for name in _NAMES:
            found = getattr(library, name.format("d" if double else "s"), None)
            if found is not None:
                return ctypes.cast(found, ctypes.c_void_p).value
    return 0


@functools.cache
def available() -> bool:
    """Whether compiled code can call the library; if so, its functions are registered as ``dl4py_sgemm`` and ``dl4py_dgemm``."""
    found = [address(double) for double in (False, True)]
    for symbol, place in zip(("dl4py_sgemm", "dl4py_dgemm"), found):
        if all(found):
            llvm.add_symbol(symbol, place)
    return all(found)


@intrinsic
def product_at(context, array, place, transpose_a, transpose_b, rows, columns, depth, a, a_row, b, b_row, beta, c, c_row):
    """The library's function at an address; it takes numbers of the type of ``array``."""
    scalar = array.dtype

    def call(context, builder, signature, args):
        i4, i8, real = ir.IntType(32), ir.IntType(64), context.get_value_type(scalar)
        kind = ir.FunctionType(ir.VoidType(), [i4] * 3 + [i8] * 3 + [real] + [i8] * 4 + [real] + [i8] * 2)
        _, place, transpose_a, transpose_b, rows, columns, depth, a, a_row, b, b_row, beta, c, c_row = args

        def order(transposed):
            return builder.select(transposed, i4(_TRANSPOSED), i4(_PLAIN))
        builder.call(builder.inttoptr(place, kind.as_pointer()),
                     [i4(_ROW_MAJOR), order(transpose_a), order(transpose_b), rows, columns, depth, ir.Constant(real, 1.0), a, a_row,
                      b, b_row, beta, c, c_row])
        return context.get_dummy_value()
    i8, yes = types.int64, types.boolean
    return types.void(array, i8, yes, yes, i8, i8, i8, i8, i8, i8, i8, scalar, i8, i8), call


available()             # machine code from the cache names the symbols, so they have to be known before it is loaded
