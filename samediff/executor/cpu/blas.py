"""BLAS routines by address, for calls from compiled code: those of the OpenBLAS that NumPy uses."""
from __future__ import annotations

import ctypes
import functools
import importlib
from pathlib import Path
from typing import Any

import numpy as np

_PATTERNS = ("numpy.libs/*openblas64_*.so*", "numpy.libs/*openblas64_*.dll", "numpy/.dylibs/*openblas64_*.dylib")
ROUTINES = ("sgemm", "dgemm", "sgemv", "dgemv")


@functools.cache
def library() -> Any:
    """NumPy's own OpenBLAS, or None where NumPy was built with another BLAS."""
    folder = Path(np.__file__).resolve().parent.parent
    for pattern in _PATTERNS:
        for file in sorted(folder.glob(pattern)):
            try:
                found = ctypes.CDLL(str(file))
            except OSError:
                continue
            if hasattr(found, "scipy_cblas_sgemm64_"):
                return found
    return None


@functools.cache
def register() -> bool:
    """Make the routines known to LLVM as ``dl4py_sgemm``, ``dl4py_dgemm`` …; False where there is no OpenBLAS."""
    import llvmlite.binding as llvm
    found = library()
    if found is None:
        return False
    for name in ROUTINES:
        llvm.add_symbol(f"dl4py_{name}", ctypes.cast(found[f"scipy_cblas_{name}64_"], ctypes.c_void_p).value)
    return True


@functools.cache
def gemm(dtype: str) -> Any:
    """Compiled ``gemm(ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc)`` on addresses, or None.

    Row-major ``c = op(a) @ op(b) + beta * c``; same library as ``np.matmul``, so the same bits.
    """
    if not register():
        return None
    numba: Any = importlib.import_module("numba")
    types, njit = numba.types, numba.njit
    i4, i8 = types.int32, types.int64
    scalar = types.float32 if dtype == "float32" else types.float64
    one = np.dtype(dtype).type
    call = types.ExternalFunction(f"dl4py_{'s' if dtype == 'float32' else 'd'}gemm", types.void(
        i4, i4, i4, i8, i8, i8, scalar, i8, i8, i8, i8, scalar, i8, i8))

    @njit(nogil=True)
    def compiled(ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc):  # type: ignore[no-untyped-def]
        call(101, 112 if ta else 111, 112 if tb else 111, m, n, k, one(1), a, lda, b, ldb, one(beta), c, ldc)
    return compiled


def threads() -> int | None:
    """The number of threads that NumPy's BLAS uses, or None where it is not OpenBLAS."""
    found = library()
    return int(found.scipy_openblas_get_num_threads64_()) if found is not None else None


def set_threads(count: int) -> None:
    """Set the number of threads of NumPy's BLAS; does nothing where it is not OpenBLAS."""
    found = library()
    if found is not None:
        found.scipy_openblas_set_num_threads64_(ctypes.c_int(count))
