"""``InvertMatrix``: inverses and pseudo-inverses of matrices."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arrays import INDArray
from ...base.datatype import DataType
from ...base.java_names import InvertMatrixNames
from ...errors import LinearAlgebraError, ShapeError
from ...ir.translate_errors import refusing

#: Singular values below this share of the largest one count as 0.
_SMALL = float(np.finfo(np.float64).eps)


@refusing("InvertMatrix")
class InvertMatrix(InvertMatrixNames):
    """Inverses of matrices, computed in 64 bits and given in the type of the matrix.

    With ``in_place`` the matrix is overwritten as well, which asks for a result of its shape.

    Raises
    ------
    ShapeError
        The argument is no matrix, or not square where it has to be.
    LinearAlgebraError
        The matrix has no such inverse.

    Examples
    --------
    >>> from dl4py import InvertMatrix, Nd4j
    >>> InvertMatrix.invert(Nd4j.create([[2.0, 0.0], [1.0, 4.0]]), False).tolist()
    [[0.5, 0.0], [-0.125, 0.25]]
    """

    @staticmethod
    def invert(array: Any, in_place: bool = False) -> INDArray:
        """A^-1 of a square matrix, (n, n)."""
        def inverse(a: Any) -> Any:
            if a.shape[0] != a.shape[1]:
                raise ShapeError(f"InvertMatrix.invert takes a square matrix; got {a.shape}: pinvert has a pseudo-inverse of it")
            return np.linalg.inv(_of_full_rank(a, a.shape[0], "InvertMatrix.invert: the matrix is singular"))
        return _done(array, in_place, inverse)

    @staticmethod
    def pinvert(array: Any, in_place: bool = False) -> INDArray:
        """The pseudo-inverse, (n, m) of a matrix (m, n) of full rank: of all X with the smallest ``|A X - I|`` the smallest one."""
        return _done(array, in_place, lambda a: np.linalg.pinv(
            _of_full_rank(a, min(a.shape), "InvertMatrix.pinvert: rows and columns depend on each other")))

    @staticmethod
    def p_left_invert(array: Any, in_place: bool = False) -> INDArray:
        """(A^T A)^-1 A^T, (n, m) of a matrix (m, n) of full column rank."""
        return _done(array, in_place, lambda a: np.linalg.pinv(
            _of_full_rank(a, a.shape[1], "InvertMatrix.pLeftInvert: the columns depend on each other")))

    @staticmethod
    def p_right_invert(array: Any, in_place: bool = False) -> INDArray:
        """A^T (A A^T)^-1, (n, m) of a matrix (m, n) of full row rank."""
        return _done(array, in_place, lambda a: np.linalg.pinv(
            _of_full_rank(a, a.shape[0], "InvertMatrix.pRightInvert: the rows depend on each other")))


def _of_full_rank(a: Any, rank: int, otherwise: str) -> Any:
    values = np.linalg.svd(a, compute_uv=False) if np.isfinite(a).all() else np.zeros(0)
    if (values > _SMALL * max(a.shape) * values.max(initial=0)).sum() < rank:
        raise LinearAlgebraError(f"{otherwise}, or has entries that are not finite; got {a.shape}")
    return a


def _done(array: Any, in_place: bool, inverse: Callable[[Any], Any]) -> INDArray:
    given = INDArray.of(array)
    if given.ndim != 2 or not DataType.of(given.dtype).is_floating:
        raise ShapeError(f"InvertMatrix takes a matrix of a floating type; got {DataType.of(given.dtype).name}{tuple(given.shape)}")
    found = inverse(np.asarray(given, np.float64)).astype(given.dtype)
    if in_place:
        if found.shape != given.shape:
            raise ShapeError(f"an inverse {found.shape} has no room in a matrix {given.shape}: leave out in_place")
        array[...] = found
    return INDArray.of(found)
