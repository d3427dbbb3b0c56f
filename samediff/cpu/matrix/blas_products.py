"""Matrix products by NumPy's BLAS into arrays of any layout."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..code.fused import writable


def product(a: Any, b: Any, out: Any) -> None:
    """out = a b; a column-major result is that of the transposed product, so that BLAS writes into it without a copy."""
    if out.ndim == 2 and out.flags.f_contiguous and not out.flags.c_contiguous:
        a, b, out = b.T, a.T, out.T
    np.matmul(a, b, out=out)


def row_major(matrix: Any) -> tuple[Any, bool]:
    """The matrix or its transpose, whichever has contiguous rows, and whether it is the transpose; a copy of any other."""
    if matrix.flags.f_contiguous and not matrix.flags.c_contiguous:
        return writable(matrix.T), True
    return writable(np.ascontiguousarray(matrix)), False
