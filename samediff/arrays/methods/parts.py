"""Parts of arrays: ``get`` and ``put``, rows, columns, slices, tensors along dimensions."""
from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...base.spec import normalize_axes
from ...errors import AxisError, DataTypeError, OutOfRangeError, ShapeError
from ...expressions.arrays import as_array, to_numpy
from ...ir.translate_errors import refusing
from ..nd_array_index import NDArrayIndex, crossed, is_several, key_of, position
from ..numpy_calls import call
from ..pairs import is_array
from ..plain_arguments import whole, wholes
from ..recording import state
from .arithmetic import beside
from .reducing import dimensions_of


def _indices(args: tuple[Any, ...]) -> list[NDArrayIndex] | None:
    """The indices among arguments, None where these are others."""
    flat = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    return flat if flat and all(isinstance(i, NDArrayIndex) for i in flat) else None


def _matrix(x: Any, what: str) -> tuple[int, int]:
    shape = tuple(x.shape)
    if len(shape) != 2:
        raise ShapeError(f"{what} needs a matrix, the array has rank {len(shape)} and shape {shape}")
    return shape[0], shape[1]


def _is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1          # others are open in a graph


@refusing("INDArray")
class Parts:
    """Views of parts, and writing to them."""

    __slots__ = ()

    def get(self: Any, *indices: Any) -> Any:
        """A part: ``get(NDArrayIndex.all(), NDArrayIndex.point(1))``, one index for each leading axis.

        A view, but for lists of positions, which make a copy. An array of whole numbers takes slices along the first axis, one of
        truth values the elements where it is True. Without an index the whole array, as values of records give theirs.
        """
        if not indices:
            return self
        given = _indices(indices)
        if given is None:
            (index,) = indices
            index = as_array(index)
            if index.dtype.kind not in "iub":
                raise DataTypeError(f"get takes NDArrayIndex objects, or an array of whole numbers or truth values; got {index.dtype}")
            if index.dtype.kind != "b":
                index = np.array([position(i, self.shape[0], 0) for i in index.ravel()], np.intp).reshape(index.shape)
            elif index.shape != tuple(self.shape)[:index.ndim]:
                raise ShapeError(f"get: the mask has shape {index.shape}, the array {tuple(self.shape)}")
            return call(operator.getitem, self, np.asarray(index))
        key = key_of(given, tuple(self.shape))
        if not is_several(key):
            return call(operator.getitem, self, (*key, ...))
        shape = tuple(self.shape)
        found = call(operator.getitem, self, crossed(key, shape))
        sizes = iter(found.shape)
        wanted: list[int] = []
        for k in key:
            size = 1 if k is None else next(sizes)
            wanted += [] if isinstance(k, int) else [size]
        return found.reshape(*wanted, *sizes) if any(k is None or isinstance(k, int) for k in key) else found

    def put(self: Any, *args: Any, **numpy: Any) -> Any:
        """Write to a part: ``put([NDArrayIndex.point(1), NDArrayIndex.all()], values)``, which returns the view of that part.

        ``put(i, scalar)`` writes the i-th element, ``put(i, j, value)`` and ``put([i, j], scalar)`` one of a matrix, ``put(mask, values)``
        those where the mask is True, ``put(positions, values)`` slices along the first axis; these return this array. Numbers stand for
        arrays of that number. ``put(..., mode=...)`` is NumPy's.
        """
        if numpy:
            call(np.put, self, *args, **numpy)
            return None
        *where, values = args
        given = _indices(tuple(where))
        if given is not None:
            key = key_of(given, tuple(self.shape))
            if not is_several(key):
                write(self, key, values, "put")
                return self.get(*given) if is_array(values) else self
            index = crossed(key, tuple(self.shape))
            wanted = np.broadcast_shapes(*(i.shape for i in index))
            self[index] = fitting(values, wanted, "put")
            return self
        if len(where) == 1 and is_array(where[0]):
            return self._put_many(np.asarray(where[0]), values)
        return self.put_scalar([n for w in where for n in wholes(w)], scalar_of(values))

    def _put_many(self: Any, index: Any, values: Any) -> Any:
        if index.dtype.kind == "b":
            if index.shape != tuple(self.shape):
                raise ShapeError(f"put: the mask has shape {index.shape}, the array {tuple(self.shape)}")
            chosen = numbers(values, "put")
            count = int(np.count_nonzero(index))
            if chosen.shape == index.shape:
                chosen = chosen[index]
            elif chosen.size not in (1, count):
                raise ShapeError(f"put: the mask chooses {count} elements; values of shape {chosen.shape} are neither one number, nor as "
                                 f"many, nor of the mask's shape {index.shape}")
            self[index] = chosen.ravel()
            return self
        if not self.shape:
            raise ShapeError("put: an array of rank 0 has no slices; put(i, value) writes its element")
        places = [position(i, self.shape[0], 0) for i in index.ravel()]
        self[places] = fitting(values, (len(places), *self.shape[1:]), "put")
        return self

    # Rows and columns

    def get_row(self: Any, row: int, keep_dim: bool = False) -> Any:
        """A view of a row, of rank 1, or (1, columns) where ``keep_dim`` is True."""
        rows, _ = _matrix(self, "getRow")
        at = position(row, rows, 0)
        return self[at:at + 1 or None] if keep_dim else self[at]        # -1 where the size is open

    def get_column(self: Any, column: int, keep_dim: bool = False) -> Any:
        """A view of a column, of rank 1, or (rows, 1) where ``keep_dim`` is True; the only column of a matrix is that itself."""
        rows, columns = _matrix(self, "getColumn")
        at = position(column, columns, 1)
        if _is_one(columns) and not _is_one(rows) and not keep_dim:
            return self
        return self[:, at:at + 1 or None] if keep_dim else self[:, at]

    def get_rows(self: Any, *rows: Any) -> Any:
        """A copy of some rows."""
        _matrix(self, "getRows")
        return self.get(NDArrayIndex.indices(*rows), NDArrayIndex.all())

    def get_columns(self: Any, *columns: Any) -> Any:
        """A copy of some columns."""
        _matrix(self, "getColumns")
        return self.get(NDArrayIndex.all(), NDArrayIndex.indices(*columns))

    def put_row(self: Any, row: int, values: Any) -> Any:
        """Write a row; its view, or the array itself where that is a single row. A vector of rank 1 is its only row."""
        if len(self.shape) == 1 and position(row, 1, 0) == 0:
            return assign(self, values, "putRow")
        rows, columns = _matrix(self, "putRow")
        write(self, (position(row, rows, 0),), values, "putRow")
        return self if _is_one(rows) and not _is_one(columns) else self.get_row(row)

    def put_column(self: Any, column: int, values: Any) -> Any:
        """Write a column; its view, or the array itself where that is a single column."""
        _, columns = _matrix(self, "putColumn")
        write(self, (slice(None), position(column, columns, 1)), values, "putColumn")
        return self.get_column(column)

    def puti_row_vector(self: Any, vector: Any) -> Any:
        """Write a vector into every row. In place."""
        return _into_all(self, vector, 0, "putiRowVector")

    def puti_column_vector(self: Any, vector: Any) -> Any:
        """Write a vector into every column. In place."""
        return _into_all(self, vector, 1, "putiColumnVector")

    # Slices and tensors along dimensions

    def slice(self: Any, i: int, dimension: int = 0) -> Any:
        """A view of the part at a position of a dimension, which goes away."""
        rank = len(self.shape)
        if not rank or not -rank <= dimension < rank:
            raise AxisError(f"slice: dimension {dimension} is out of range for an array of rank {rank}")
        axis = dimension % rank
        return call(operator.getitem, self, (*[slice(None)] * axis, position(i, self.shape[axis], axis), ...))

    def put_slice(self: Any, i: int, values: Any) -> Any:
        """Write the part at a position of the first dimension. In place."""
        part = self.slice(i)
        if np.size(values) != part.size:
            raise ShapeError(f"putSlice: values of shape {np.shape(values)} for a part of shape {tuple(part.shape)}")
        write(self, (position(i, self.shape[0], 0),), values, "putSlice")
        return self

    def tensors_along_dimension(self: Any, *dimensions: Any) -> int:
        """Number of tensors along dimensions: the product of the other sizes."""
        axes = normalize_axes(dimensions_of(dimensions), len(self.shape))
        return int(np.prod([n for i, n in enumerate(self.shape) if i not in axes], dtype=np.int64))

    def tensor_along_dimension(self: Any, i: int, *dimensions: Any) -> Any:
        """A view of the i-th part that has the given dimensions whole, where positions of the others count in row order."""
        i, axes = whole(i), normalize_axes(dimensions_of(dimensions), len(self.shape))
        others = [n for k, n in enumerate(self.shape) if k not in axes]
        count = int(np.prod(others, dtype=np.int64))
        if not 0 <= i < count:
            raise OutOfRangeError(f"tensor {i} is out of range: an array of shape {tuple(self.shape)} has {count} along {list(axes)}")
        if len(axes) == len(self.shape):
            return self
        places = iter(np.unravel_index(i, others))
        return call(operator.getitem, self, tuple(slice(None) if k in axes else int(next(places)) for k in range(len(self.shape))))

    def vectors_along_dimension(self: Any, dimension: int) -> int:
        """Number of vectors along a dimension; a row is one, and a column along its elements."""
        if self.is_row_vector_or_scalar() or (dimension == 0 and self.is_vector()):
            return 1
        return self.tensors_along_dimension(dimension)  # type: ignore[no-any-return]

    def vector_along_dimension(self: Any, i: int, dimension: int) -> Any:
        """A view of the i-th vector along a dimension."""
        return self.tensor_along_dimension(i, dimension)


def _into_all(x: Any, vector: Any, axis: int, what: str) -> Any:
    given = numbers(vector, what)
    return assign(x, np.reshape(given, beside(x, given, axis, what)), what)


def scalar_of(value: Any) -> Any:
    """The number in an array of one element; ShapeError for others."""
    if not is_array(value):
        return value
    if np.size(value) != 1:
        raise ShapeError(f"a single element is needed, got an array of shape {tuple(value.shape)}")
    return np.asarray(value).reshape(())[()]


def numbers(values: Any, what: str) -> Any:
    """An array of numbers or texts; DataTypeError for what is none."""
    if is_array(values) and not (isinstance(values, np.ndarray) and values.dtype.kind not in "fiub"):
        return values
    try:
        return to_numpy(values)
    except DataTypeError as error:
        raise DataTypeError(f"{what}: {error}") from None


def fitting(values: Any, shape: tuple[int, ...], what: str) -> Any:
    """The values in a form that a part of that shape takes; ShapeError for others."""
    given = np.asarray(numbers(values, what))
    if given.size == int(np.prod(shape, dtype=np.int64)):
        return given.reshape(shape)
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise ShapeError(f"{what}: values of shape {given.shape} do not fit the part, which has shape {shape}") from None


def write(target: Any, key: tuple[Any, ...], values: Any, what: str) -> None:
    """Write values, broadcast where they are fewer, into a part of an array."""
    part = call(operator.getitem, target, (*key, ...))
    if isinstance(part, np.ndarray):
        assign(part, values, what)
        return
    shape = tuple(part.shape)
    del part                                            # which looks at what is to change
    target[(*key, ...)] = _fitting_recorded(values, shape, what)


def _fitting_recorded(values: Any, shape: tuple[Any, ...], what: str) -> Any:
    """As :func:`fitting`, for a recorded part: sizes that are open are checked when the graph runs."""
    given = numbers(values, what)
    if all(isinstance(n, int) for n in (*shape, *given.shape)):
        if math.prod(given.shape) == math.prod(shape) and tuple(given.shape) != shape:
            given = np.asarray(given).reshape(shape) if isinstance(given, np.ndarray) else np.reshape(given, shape)
        try:
            np.broadcast_to(np.empty(tuple(given.shape)), shape)
        except ValueError:
            raise ShapeError(f"{what}: values of shape {tuple(given.shape)} do not fit the part, which has shape {shape}") from None
    return given


def assign(target: Any, values: Any, what: str) -> Any:
    """Write values, broadcast where they are fewer, into an array, which keeps its type."""
    if state.recorder is not None:
        return state.recorder.record_assign(target, _fitting_recorded(values, tuple(target.shape), what))
    with np.errstate(all="ignore"):
        np.copyto(np.asarray(target), fitting(values, tuple(target.shape), what), casting="unsafe")
    return target
