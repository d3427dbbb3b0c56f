"""Matrix products."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import DataTypeError, ShapeError
from ...ir.translate_errors import refusing
from ...ops.linalg.mmul_transpose import MMulTranspose
from ..array_class import wrapped
from ..computing import apply, built_in
from ..numpy_calls import call
from ..pairs import is_array, put_into, type_of
from ..quiet import quietly
from ..recording import state


@refusing("INDArray")
class Products:
    """``mmul`` and its form in place."""

    __slots__ = ()

    def mmul(self: Any, other: Any, *more: Any) -> Any:
        """Matrix product.

        ``mmul(y)``, ``mmul(y, result)``, ``mmul(y, "f")`` (the order of the result), ``mmul(y, transposes)`` with an
        :class:`MMulTranspose` that says which matrices are taken transposed.

        Shapes: x (n, k), y (k, m) -> (n, m); a vector y (k) -> (n); a row (1, k) or vector (k) and a vector (k) -> (1, 1).

        Raises
        ------
        ShapeError, DataTypeError
            The inner sizes differ, an array is neither matrix nor vector, or the types differ.
        """
        if not more and (made := of_alike_matrices(self, other)) is not None:
            return made
        result = next((m for m in more if is_array(m)), None)
        turned = next((m for m in more if isinstance(m, MMulTranspose)), MMulTranspose())
        order = next((m for m in more if isinstance(m, str)), None)
        made = _product(self, other, turned.transpose_x, turned.transpose_y)
        made = made.transpose() if turned.transpose_z else made
        if order is not None:
            made = made.dup(order)
        return made if result is None else put_into(result, made, "mmul")

    def mmuli(self: Any, other: Any, *more: Any) -> Any:
        """Matrix product. In place: this matrix takes the values, or ``mmuli(y, result)`` that one."""
        result = next((m for m in more if is_array(m)), self)
        return put_into(result, self.mmul(other, *[m for m in more if not is_array(m)]), "mmuli")


def of_alike_matrices(x: Any, y: Any) -> Any:
    """The product of two matrices of one floating type, the first in row order, at once; None for others."""
    if state.recorder is None and isinstance(x, np.ndarray) and type(y) is type(x):
        dtype = x.dtype
        if x.ndim == 2 == y.ndim and dtype is y.dtype and dtype.kind == "f" and x.flags.c_contiguous:
            try:
                return wrapped(quietly(np.matmul, x.view(np.ndarray), y.view(np.ndarray)))
            except ValueError:                          # sizes that do not meet
                pass
    return None


def _is_f(x: Any) -> bool:
    return bool(x.flags.f_contiguous and not x.flags.c_contiguous)


def _product(x: Any, y: Any, turn_x: bool, turn_y: bool) -> Any:
    ranks = len(x.shape), len(y.shape)
    if ranks not in ((2, 2), (2, 1), (1, 1)):
        raise ShapeError(f"mmul needs matrices (or a vector on the right), got shapes {tuple(x.shape)} and {tuple(y.shape)}; "
                         "Nd4j.matmul multiplies stacks of matrices")
    if x.dtype != y.dtype:
        raise DataTypeError(f"mmul needs arrays of one type, got {type_of(x).name} and {type_of(y).name}. Use castTo on one of them")
    if ranks == (1, 1):
        x = x.reshape(1, x.shape[0])
    if len(y.shape) == 1 and not turn_x and isinstance(x.shape[0], int) and x.shape[0] == 1:
        y = y.reshape(y.shape[0], 1)
    if x.dtype.kind == "f" or x.dtype.name == "bfloat16":
        made = apply(built_in("matmul", transpose_x=turn_x, transpose_y=turn_y), x, y)
        is_f = isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and _is_f(x) and _is_f(y)
        return made.dup("f") if is_f else made
    x, y = x.transpose() if turn_x else x, y.transpose() if turn_y else y
    if isinstance(x.shape[-1], int) and isinstance(y.shape[0], int) and x.shape[-1] != y.shape[0]:     # open ones are compared when it runs
        raise ShapeError(f"mmul: columns of x ({x.shape[-1]}) and rows of y ({y.shape[0]}) differ in {x.shape} times {y.shape}")
    return call(np.matmul, x, y)
