"""Properties of arrays: rank, sizes, strides, order, kind."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..errors import AxisError, ShapeError
from ..ir.translate_errors import refusing


class Sizes(tuple[int, ...]):
    """The sizes of an array, which can also be called: ``a.shape`` and ``a.shape()``."""

    __slots__ = ()

    def __call__(self) -> tuple[int, ...]:
        """The sizes."""
        return tuple(self)


class Count(int):
    """The number of elements of an array; called, the size of a dimension: ``a.size`` and ``a.size(0)``."""

    sizes: tuple[int, ...]

    def __new__(cls, sizes: tuple[int, ...]) -> Count:
        made = super().__new__(cls, math.prod(sizes))
        made.sizes = sizes
        return made

    def __call__(self, dimension: int) -> int:
        """The size of a dimension."""
        rank = len(self.sizes)
        if self == 1 and rank < 2 and dimension in (-1, 0, 1, 2):
            return 1
        if not -rank <= dimension < rank:
            raise AxisError(f"size: dimension {dimension} is out of range for an array of rank {rank} and shape {self.sizes}")
        return self.sizes[dimension]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """As of an int, which takes the type of an array beside it; NumPy would take this class for int64."""
        return getattr(ufunc, method)(*[int(v) if isinstance(v, Count) else v for v in inputs], **options)

    def __reduce__(self) -> Any:
        return int, (int(self),)


@refusing("INDArray")
class Facts:
    """Questions about shape, type and memory."""

    __slots__ = ()

    def rank(self: Any) -> int:
        """Number of axes."""
        return len(self.shape)

    def length(self: Any) -> int:
        """Number of elements."""
        size = self.size
        return int(size) if isinstance(size, int) else size     # not known where a graph takes any number of rows

    def data_type(self: Any) -> DataType:
        """The data type."""
        return DataType.of(self.dtype)

    def rows(self: Any) -> int:
        """Rows of a matrix; 1 for a vector."""
        return _matrix_sizes(self, "rows")[0]

    def columns(self: Any) -> int:
        """Columns of a matrix; the length of a vector."""
        return _matrix_sizes(self, "columns")[1]

    def slices(self: Any) -> int:
        """Size of the first dimension."""
        return self.size(0)  # type: ignore[no-any-return]

    def is_empty(self: Any) -> bool:
        """True when there are no elements."""
        return 0 in self.shape

    def is_scalar(self: Any) -> bool:
        """True for one element and rank 0 or 1, or (1, 1)."""
        return len(self.shape) <= 2 and all(n == 1 for n in self.shape)

    def is_vector(self: Any) -> bool:
        """True for rank 1, and for a row or a column of more than one element."""
        return bool(len(self.shape) == 1 or self.is_row_vector() or self.is_column_vector())

    def is_row_vector(self: Any) -> bool:
        """True for more than one element of rank 1, or (1, n)."""
        return len(self.shape) in (1, 2) and self.shape[-1] > 1 and all(n == 1 for n in self.shape[:-1])

    def is_column_vector(self: Any) -> bool:
        """True for (n, 1) with n above 1."""
        return len(self.shape) == 2 and self.shape[1] == 1 and self.shape[0] > 1

    def is_vector_or_scalar(self: Any) -> bool:
        """True for either."""
        return bool(self.is_vector() or self.is_scalar())

    def is_row_vector_or_scalar(self: Any) -> bool:
        """True for either."""
        return bool(self.is_row_vector() or self.is_scalar())

    def is_column_vector_or_scalar(self: Any) -> bool:
        """True for either."""
        return bool(self.is_column_vector() or self.is_scalar())

    def is_matrix(self: Any) -> bool:
        """True for rank 2."""
        return len(self.shape) == 2

    def is_square(self: Any) -> bool:
        """True for a matrix with as many rows as columns."""
        return len(self.shape) == 2 and self.shape[0] == self.shape[1]

    def is_r(self: Any) -> bool:
        """True for floating types."""
        return self.data_type().is_floating  # type: ignore[no-any-return]

    def is_z(self: Any) -> bool:
        """True for whole numbers."""
        return self.data_type().is_integer  # type: ignore[no-any-return]

    def is_b(self: Any) -> bool:
        """True for truth values."""
        return self.data_type() is DataType.BOOL

    def is_s(self: Any) -> bool:
        """True for texts."""
        return self.data_type() is DataType.UTF8

    def get_leading_ones(self: Any) -> int:
        """Number of sizes of 1 at the start of the shape."""
        return next((i for i, n in enumerate(self.shape) if n != 1), len(self.shape))

    def get_trailing_ones(self: Any) -> int:
        """Number of sizes of 1 at the end of the shape, the first size left out."""
        return next((i for i, n in enumerate(reversed(self.shape[1:])) if n != 1), max(len(self.shape) - 1, 0))


def _matrix_sizes(x: Any, what: str) -> tuple[int, int]:
    shape = tuple(x.shape)
    if len(shape) not in (1, 2):
        raise ShapeError(f"{what}() needs a matrix or a vector, the array has rank {len(shape)} and shape {shape}; size(i) gives any size")
    return (1, shape[0]) if len(shape) == 1 else (shape[0], shape[1])
