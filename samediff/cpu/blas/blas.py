"""Matrix products inside compiled loops: the functions of a BLAS library by address.

A step of a recurrent network is a product too small to go back to Python for. NumPy's wheels bring OpenBLAS with 64-bit sizes, other
libraries have such functions, too, under other names. Where NumPy has none of these, SciPy's ``cython_blas`` knows the library that it was
built with, whose sizes have 32 bits. Without SciPy :func:`available` says no: products are own tiles, or calls from Python.
"""
# mypy: ignore-errors
from __future__ import annotations

import ctypes
import functools

import llvmlite.binding as llvm
from llvmlite import ir

from ..compiler import objects
from ..compiler.jit_functions import intrinsic, types
from .blas_threads import libraries

#: Names of products with 64-bit sizes: of OpenBLAS in NumPy's wheels and elsewhere, of MKL and BLIS.
_NAMES = ("scipy_cblas_{}gemm64_", "cblas_{}gemm64_", "cblas_{}gemm_64")
_ROW_MAJOR, _PLAIN, _TRANSPOSED = 101, 111, 112


@functools.cache
def address(double):
    """Address of the matrix product of the BLAS library for float32, or for float64 if ``double``; 0 where it cannot be called."""
    return _of_numpy(double) or _of_scipy(double)


def _of_numpy(double):
    for library in libraries():
        for name in _NAMES:
            found = getattr(library, name.format("d" if double else "s"), None)
            if found is not None:
                return ctypes.cast(found, ctypes.c_void_p).value
    return 0


@functools.cache
def owner() -> str:
    """The package whose library compiled code calls."""
    return "numpy" if _of_numpy(False) or not available() else "scipy"


@functools.cache
def largest_size() -> int:
    """The largest size of an axis that the library takes."""
    return (1 << (31 if owner() == "scipy" else 63)) - 1


def _of_scipy(double):
    """Address of a function like those of NumPy's libraries around Fortran's of SciPy."""
    name = "dgemm" if double else "sgemm"
    try:
        from scipy.linalg import cython_blas
        capsule = cython_blas.__pyx_capi__[name]
    except (ImportError, AttributeError, KeyError):
        return 0
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    place, symbol = pointer_of(capsule, name_of(capsule)), f"dl4py_scipy_{name}"
    return objects.addresses(symbol, [symbol], lambda: objects.of_module(_adapter(symbol, place, double)), None)[0][0]


def _type_of_product(real):
    """Order and transposes, three sizes, alpha, a, its row, b, its row, beta, c, its row: as ``cblas_sgemm`` with 64-bit sizes."""
    i4, i8 = ir.IntType(32), ir.IntType(64)
    return ir.FunctionType(ir.VoidType(), [i4] * 3 + [i8] * 3 + [real] + [i8] * 4 + [real] + [i8] * 2)


def _adapter(symbol, place, double):
    """The code that calls a product of Fortran, whose arrays are column-major: the transposed product of row-major ones."""
    byte, i4, i8, real = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType() if double else ir.FloatType()
    module = ir.Module(symbol)
    function = ir.Function(module, _type_of_product(real), symbol)
    b = ir.IRBuilder(function.append_basic_block())
    _, transpose_a, transpose_b, rows, columns, depth, alpha, x, x_row, y, y_row, beta, z, z_row = function.args

    def kept(value):
        at = b.alloca(value.type)
        b.store(value, at)
        return b.bitcast(at, byte.as_pointer())

    def letter(transpose):
        return kept(b.select(b.icmp_signed("==", transpose, i4(_TRANSPOSED)), byte(ord("T")), byte(ord("N"))))

    def size(value):
        return kept(b.trunc(value, i4))

    def array(word):
        return b.inttoptr(word, byte.as_pointer())
    given = [letter(transpose_b), letter(transpose_a), size(columns), size(rows), size(depth), kept(alpha), array(y), size(y_row), array(x),
             size(x_row), kept(beta), array(z), size(z_row)]
    kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer()] * len(given))
    b.call(b.inttoptr(i8(place), kind.as_pointer()), given)
    b.ret_void()
    return module


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
        i4, real = ir.IntType(32), context.get_value_type(scalar)
        kind = _type_of_product(real)
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
