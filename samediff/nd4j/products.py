"""Products of vectors, matrices and arrays of higher rank."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import INDArray
from ..arrays.methods.products import of_alike_matrices
from ..arrays.orders import arranged, in_columns
from ..ir.translate_errors import refusing
from .running import run, written


@refusing("Nd4j")
class MatrixProducts:
    """Products of vectors, matrices and arrays of higher rank."""

    @staticmethod
    def matmul(x: Any, y: Any, *how: Any) -> INDArray:
        """Product of matrices, or of each pair of matrices on the last two axes; in column order where one of both is.

        Parameters
        ----------
        x, y : INDArray
            (…, n, k) and (…, k, m), as they are or transposed.
        *how : INDArray (optional), then bool (optional)
            A target for the result, and whether x, y and the result are transposed.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> Nd4j.matmul(Nd4j.ones(2, 3), Nd4j.ones(3, 2)).tolist()
        [[3.0, 3.0], [3.0, 3.0]]
        """
        if not how and isinstance(y, np.ndarray) and y.flags.c_contiguous and (made := of_alike_matrices(x, y)) is not None:
            return made  # type: ignore[no-any-return]
        target = how[0] if how and not isinstance(how[0], bool) else None
        flags = [bool(v) for v in how if isinstance(v, bool)]
        found = run("matmul", x, y, **dict(zip(("transpose_x", "transpose_y", "transpose_z"), flags)))
        found = arranged(found, "F" if any(isinstance(a, np.ndarray) and in_columns(a) for a in (x, y)) else "C")
        return found if target is None else written(found, target)  # type: ignore[no-any-return]

    mmul = matmul

    @staticmethod
    def gemm(a: Any, b: Any, *how: Any) -> INDArray:
        """``gemm(a, b, transpose_a, transpose_b)``: their product; ``gemm(a, b, c, transpose_a, transpose_b, alpha, beta)``: writes
        alpha a b + beta c into c.
        """
        if len(how) <= 2:
            return MatrixProducts.matmul(a, b, *how)
        c, transpose_a, transpose_b, alpha, beta = how
        product = run("mul_scalar", MatrixProducts.matmul(a, b, bool(transpose_a), bool(transpose_b)), scalar=float(alpha))
        return written(run("add", product, run("mul_scalar", c, scalar=float(beta))) if beta else product, c)  # type: ignore[no-any-return]

    @staticmethod
    def tensor_mmul(a: Any, b: Any, *how: Any) -> INDArray:
        """Sum of products over pairs of axes: ``tensorMmul(a, b, [[axes of a], [axes of b]])``, with a target before the axes."""
        *target, axes = how
        found = run("tensordot", a, b, dimensions_x=tuple(int(n) for n in axes[0]), dimensions_y=tuple(int(n) for n in axes[1]))
        return written(found, target[0]) if target else found  # type: ignore[no-any-return]

    @staticmethod
    def dot(x: Any, y: Any) -> INDArray:
        """Sum of the products of elements, as a scalar."""
        return run("dot", x, y)  # type: ignore[no-any-return]
