"""Factories: arrays from shapes, numbers and other arrays."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import INDArray
from ..arrays.array_class import is_pending
from ..arrays.default_type import default_type
from ..arrays.methods.parts import numbers, scalar_of
from ..arrays.numpy_calls import call
from ..arrays.plain_arguments import wholes
from ..arrays.recording import new
from ..base.datatype import DataType
from ..errors import GraphError, ShapeError
from ..expressions.arrays import as_array, require_held
from ..ir.translate_errors import refusing
from .arguments import Layout, arrays_of, is_open, is_order, is_size, is_sizes, is_type, sizes_of
from .running import plain_number, run, whole_number


def made(value: Any, data_type: DataType | None = None, order: str = "c") -> INDArray:
    """An array of its own, in a type and an order."""
    if is_pending(value):
        return INDArray.of(value, data_type).dup(order)  # type: ignore[no-any-return]
    array = np.array(value, None if data_type is None else data_type.numpy, order=order.upper())  # type: ignore[call-overload]
    return new(INDArray.of(array))  # type: ignore[no-any-return]


def filled(shape: Sequence[Any], value: Any, dtype: Any, order: str = "c") -> INDArray:
    """An array that holds one value everywhere; sizes may be open while a function is compiled."""
    if not is_open(shape):
        return made(np.full(tuple(shape), value, dtype), order=order)
    return np.broadcast_to(new(INDArray.of(np.array(value, dtype))), tuple(shape)).dup(order)  # type: ignore[no-any-return, attr-defined]


def _type_of(data: Any, whole: DataType | None) -> DataType | None:
    """Of nested lists: the default type for floats, ``whole`` for whole numbers (None: the default too); arrays keep theirs."""
    if hasattr(data, "dtype"):
        return None
    array = np.asarray(data)
    if array.dtype.kind in "bUO":
        return DataType.of(array.dtype)
    return (whole or default_type()) if array.dtype.kind in "iu" and array.size else default_type()


@refusing("Nd4j")
class Creating:
    """Arrays from shapes, numbers and other arrays."""

    @staticmethod
    def create(*args: Any, data_type: Any = None, order: str | None = None) -> INDArray:
        """Make an array of given numbers, or of zeros in a given shape.

        Numbers are an array or (nested) lists; shapes are whole numbers one by one, a tuple, or, behind the numbers, a list::

            Nd4j.create(2, 3)                          zeros, as Nd4j.create((2, 3)) and Nd4j.create(DataType.FLOAT, 2, 3)
            Nd4j.create([1, 2, 3])                     numbers
            Nd4j.create([2, 3], "f")                   zeros: an order says nothing of a vector
            Nd4j.create([[1, 2], [3, 4]], "f")         the same numbers in another order in memory
            Nd4j.create([1, 2, 3, 4], [2, 2], "f")     numbers, shape and the order in which they fill it
            Nd4j.create("one", "two")                  texts

        Parameters
        ----------
        *args : numbers, shape, strides and offset, data type, order
            In DL4J's sequences.
        data_type : DataType, optional
            By default that of an array given, BOOL and UTF8 of truth values and texts, else ``Nd4j.dataType()`` (FLOAT).
        order : "c" or "f", optional
            Whether the last (default) or the first axis runs fastest, in memory and in what fills a shape.

        Returns
        -------
        INDArray

        Raises
        ------
        ShapeError
            The numbers do not fill the shape.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> Nd4j.create([1, 2, 3, 4], [2, 2], "f").tolist()
        [[1.0, 3.0], [2.0, 4.0]]
        """
        if args and all(isinstance(a, str) for a in args) and not is_type(args[0]):
            args = (list(args),)
        if not args or is_size(args[0]) or is_type(args[0]) or isinstance(args[0], tuple) or _is_shape_and_order(args):
            layout = Layout.of("Nd4j.create", args, data_type, order)
            if layout.data_type is DataType.UTF8:
                return made(np.full(layout.shape, ""), DataType.UTF8, layout.order)
            return filled(layout.shape, 0, layout.data_type.numpy, layout.order)
        data, *rest = args
        if hasattr(data, "shape") and hasattr(data, "data_type") and not hasattr(data, "__array__"):       # a LongShapeDescriptor
            return Creating.create(tuple(data.shape), data.data_type)
        lists, sizes = [], list[int]()
        for value in rest:
            if is_type(value):
                data_type = value
            elif is_order(value):
                order = value
            elif is_sizes(value) or isinstance(value, np.ndarray):
                lists.append([*wholes(value, "a size or stride")])
            elif is_size(value):
                sizes.append(int(value))
            else:
                raise GraphError(f"Nd4j.create: {value!r:.60} is neither shape, strides, offset, data type nor order")
        if any(n < 0 for n in sizes) or any(n < 0 for n in (lists or [[]])[0]):
            raise ShapeError(f"Nd4j.create: sizes and offset are 0 or more; got {lists[0] if lists else sizes}")
        array = _numbers(data, None if data_type is None else DataType.storable(data_type))
        if not lists:
            return made(array.reshape(sizes) if sizes else array, order=order or "c")
        return _laid_out(array, lists[0], lists[1] if len(lists) > 1 else None, sizes[0] if sizes else 0, order or "c")

    @staticmethod
    def create_from_array(*values: Any) -> INDArray:
        """Make an array of (nested) numbers in their own type: whole numbers INT or LONG, floats FLOAT, truth values BOOL.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> Nd4j.createFromArray(1, 2, 3).dtype
        dtype('int32')
        """
        return INDArray.of(values[0] if len(values) == 1 else list(values)).copy()  # type: ignore[no-any-return]

    @staticmethod
    def create_uninitialized(*args: Any) -> INDArray:
        """Make an array whose elements are to be written: sizes, a data type and an order in any sequence."""
        layout = Layout.of("Nd4j.createUninitialized", args)
        if is_open(layout.shape):
            return filled(layout.shape, 0, layout.data_type.numpy, layout.order)
        return made(np.empty(layout.shape, layout.data_type.numpy), order=layout.order)

    create_uninitialized_detached = create_uninitialized

    @staticmethod
    def zeros(*args: Any) -> INDArray:
        """Make an array of zeros: sizes, a data type and an order in any sequence.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> Nd4j.zeros(DataType.INT, 2, 3).tolist()
        [[0, 0, 0], [0, 0, 0]]
        """
        layout = Layout.of("Nd4j.zeros", args)
        return filled(layout.shape, 0, layout.data_type.numpy, layout.order)

    @staticmethod
    def ones(*args: Any) -> INDArray:
        """Make an array of ones: sizes, a data type and an order in any sequence."""
        layout = Layout.of("Nd4j.ones", args)
        return filled(layout.shape, 1, layout.data_type.numpy, layout.order)

    @staticmethod
    def zeros_like(array: Any) -> INDArray:
        """Make zeros in shape and type of an array."""
        return filled(tuple(array.shape), 0, DataType.of(array.dtype).numpy)

    @staticmethod
    def ones_like(array: Any) -> INDArray:
        """Make ones in shape and type of an array."""
        return filled(tuple(array.shape), 1, DataType.of(array.dtype).numpy)

    @staticmethod
    def value_array_of(*args: Any) -> INDArray:
        """Make an array that holds one value everywhere: ``valueArrayOf([2, 3], 1.5)``, ``valueArrayOf(rows, columns, 1.5)``.

        A data type may stand behind the value; without one, whole numbers behind a list make INT, all others the default type.
        """
        given = list(args)
        data_type = DataType.storable(given.pop()) if is_type(given[-1]) else None
        *sizes, value = given
        listed = bool(sizes) and isinstance(sizes[0], (list, tuple))
        shape = sizes_of(sizes[0] if listed else sizes)
        kind = data_type or (DataType.INT if listed and is_size(value) else default_type())
        number = scalar_of(numbers(value, "Nd4j.valueArrayOf"))
        require_held(number, kind.numpy)
        return filled(shape, number, kind.numpy)

    @staticmethod
    def scalar(*args: Any) -> INDArray:
        """Make an array of rank 0: a number, a truth value or a text, behind a data type if that is not to follow from the value.

        A Python float has the default type (in Java a double is DOUBLE).
        """
        if len(args) not in (1, 2) or (len(args) == 2 and not is_type(args[0])):
            raise GraphError(f"Nd4j.scalar takes a number, a truth value or a text, perhaps behind a data type; got {args!r:.60}")
        value = args[-1] if is_pending(args[-1]) else numbers(args[-1], "Nd4j.scalar")
        if np.size(value) != 1:
            raise ShapeError(f"Nd4j.scalar takes one number; got an array of shape {tuple(value.shape)}. Nd4j.create makes arrays of many")
        value = args[-1] if not np.ndim(value) else value.reshape(())
        if len(args) > 1:
            kind = DataType.storable(args[0])
            return made(value if is_pending(value) else as_array(value, kind.numpy), kind)
        if type(value) is float:
            return made(np.array(value, default_type().numpy))
        return made(value if hasattr(value, "dtype") else INDArray.of(value))

    @staticmethod
    def empty(data_type: Any = None) -> INDArray:
        """Make an array without elements."""
        return made(np.zeros((0,), (default_type() if data_type is None else DataType.storable(data_type)).numpy))

    @staticmethod
    def eye(size: int) -> INDArray:
        """Make the identity matrix."""
        if is_open([size]):
            return run("eye_of", whole_number(size), whole_number(size)).astype(default_type().numpy)  # type: ignore[no-any-return]
        return made(np.eye(size), default_type())

    @staticmethod
    def diag(array: Any) -> INDArray:
        """Make a matrix with a vector, row or column on its diagonal, or a vector of the diagonal of a square matrix."""
        x: Any = np.reshape(array, -1) if np.ndim(array) == 2 and 1 in np.shape(array) else array
        if x.ndim == 2 and x.shape[0] != x.shape[1]:
            raise ShapeError(f"Nd4j.diag takes a vector or a square matrix; got shape {tuple(x.shape)}")
        return call(np.diag, x).dup()  # type: ignore[no-any-return]

    @staticmethod
    def linspace(*args: Any, data_type: Any = None) -> INDArray:
        """Make ``num`` numbers at equal distances.

        ``linspace(lower, upper, num)`` and ``linspace(lower, upper, num, data_type)`` end at ``upper``;
        ``linspace(data_type, lower, step, num)`` counts in steps. One number makes a scalar.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> Nd4j.linspace(1, 4, 4).tolist()
        [1.0, 2.0, 3.0, 4.0]
        """
        if is_type(args[0]):
            kind, lower, step, num = DataType.storable(args[0]), *args[1:]
            return made(lower + step * np.arange(int(num)), kind)
        if len(args) > 3:
            data_type = args[3]
        lower, upper, num = args[:3]
        kind = default_type() if data_type is None else DataType.storable(data_type)
        if is_open([num]):
            ends = (new(INDArray.of(np.array(n, np.float64))) for n in (lower, upper))
            return run("lin_space_of", *ends, whole_number(num), data_type=kind)  # type: ignore[no-any-return]
        if kind.is_integer and num > 1:
            return run("lin_space", start=plain_number(lower), stop=plain_number(upper), number=int(num), data_type=kind)  # type: ignore[no-any-return]
        numbers = np.linspace(lower, upper, int(num))
        return made(numbers[0] if num == 1 else numbers, kind)

    @staticmethod
    def arange(*bounds: float) -> INDArray:
        """Make the numbers from 0 or a start to an end, which is left out, in steps of 1 or of a third argument."""
        if is_open(bounds):
            start, stop, step = bounds if len(bounds) == 3 else (*bounds, 1) if len(bounds) == 2 else (0, *bounds, 1)
            found = run("range_of", *map(whole_number, (start, stop, step)), data_type=DataType.LONG)
            return found.astype(default_type().numpy)  # type: ignore[no-any-return]
        return made(np.arange(*bounds), default_type())

    @staticmethod
    def tri(rows: int, *sizes: int) -> INDArray:
        """Make a matrix of ones on and below diagonal ``k``, zeros above: ``tri(rows)``, ``tri(rows, k)`` or ``tri(rows, columns, k)``."""
        columns, k = (rows, *(sizes or (0,))) if len(sizes) < 2 else sizes
        return made(np.tri(rows, columns, k), default_type())

    @staticmethod
    def triu(array: Any, k: int = 0) -> INDArray:
        """Make a copy with zeros below diagonal ``k``."""
        return call(np.triu, array, k)  # type: ignore[no-any-return]

    @staticmethod
    def meshgrid(x: Any, y: Any) -> list[INDArray]:
        """Make the coordinates of a grid: x along the rows, y along the columns."""
        return [a.dup() for a in call(np.meshgrid, numbers(x, "Nd4j.meshgrid"), numbers(y, "Nd4j.meshgrid"))]


def _numbers(data: Any, data_type: DataType | None) -> Any:
    """Numbers as an array in their type, those of several arrays one after the other."""
    if isinstance(data, (list, tuple)) and data and all(hasattr(a, "__array__") and hasattr(a, "shape") for a in data):
        data = np.stack([np.asarray(a) for a in arrays_of([data])])
    kind = data_type or _type_of(data, None)
    if is_pending(data):
        return INDArray.of(data, kind)
    return np.asarray(data) if kind is None else as_array(data, kind.numpy)


def _laid_out(array: Any, shape: list[int], strides: list[int] | None, offset: int, order: str) -> INDArray:
    """Numbers in a shape, by order or by strides, which count elements."""
    flat = array.reshape(-1)[offset:]
    if strides is not None:
        return made(np.lib.stride_tricks.as_strided(_long_enough(flat, shape, strides), shape, [n * flat.itemsize for n in strides]),
                    order=order)
    if flat.size != int(np.prod(shape, dtype=int)):
        raise ShapeError(f"Nd4j.create: {flat.size} numbers do not fill the shape {tuple(shape)}")
    return made(flat.reshape(shape, order=order.upper()), order=order)


def _long_enough(flat: Any, shape: Sequence[int], strides: Sequence[int]) -> Any:
    last = sum((n - 1) * s for n, s in zip(shape, strides))
    if len(shape) != len(strides) or min(strides, default=0) < 0 or last >= flat.size:
        raise ShapeError(f"Nd4j.create: shape {tuple(shape)} with strides {tuple(strides)} does not lie inside of {flat.size} numbers")
    return np.ascontiguousarray(flat)


def _is_shape_and_order(args: Sequence[Any]) -> bool:
    """Whether a list of whole numbers and an order are all that is given."""
    return len(args) == 2 and isinstance(args[0], list) and is_order(args[1]) and is_sizes(args[0])
