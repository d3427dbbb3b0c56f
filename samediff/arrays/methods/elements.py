"""Single elements: ``getDouble``, ``putScalar`` …, and arrays as Java's numbers and lists."""
from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np

from ...base.java.number import JavaNumber, number
from ...errors import DataTypeError, OutOfRangeError, ShapeError
from ...ir.translate_errors import refusing
from ..nd_array_index import position
from ..pairs import Method, described, is_number
from ..plain_arguments import wholes
from .parts import scalar_of, write


def _place(x: Any, args: tuple[Any, ...], what: str, order: Literal["C", "F"]) -> tuple[int, ...]:
    """The position that numbers name: one counts the elements in the order of the array, several name one for each axis."""
    flat = [n for a in args for n in wholes(a)]
    if not flat:
        raise ShapeError(f"{what} takes a position: {what}(i), or one for each axis; got none")
    shape = tuple(x.shape)
    if len(flat) == 1:
        count = math.prod(shape)
        if not -count <= flat[0] < count:
            raise OutOfRangeError(f"{what}: element {flat[0]} is out of range for an array of shape {shape}, which has {count}")
        return tuple(int(i) for i in np.unravel_index(flat[0] % count, shape, order=order))
    if len(flat) != len(shape):
        raise ShapeError(f"{what}: {len(flat)} positions {flat} for an array of rank {len(shape)} and shape {shape}")
    return tuple(position(p, n, i) for i, (p, n) in enumerate(zip(flat, shape)))


def _order(x: Any) -> Literal["C", "F"]:
    return "C" if (isinstance(x, np.ndarray) and x.flags.c_contiguous) or x.ordering() == "c" else "F"


def _getter(name: str, kind: type, doc: str) -> Method:
    def method(self: Any, *place: Any) -> Any:
        value = np.asarray(self)[_place(self, place or (0,), name, _order(self))]
        return _whole(value) if kind is int else kind(value)
    return described(method, name, f"{doc}: ``{name}(i)`` counts in the order of the array, ``{name}(i, j)`` names a position.")


def _whole(value: Any, bits: int = 64) -> int:
    """Without its fraction, 0 for NaN and the largest number for what lies beyond, as Java converts it."""
    if isinstance(value, (np.floating, float)) or np.asarray(value).dtype.kind == "f":
        number = float(value)
        value = 0 if number != number else number if abs(number) < 2.0 ** 64 else np.sign(number) * 2 ** 64
    return int(min(max(int(value), -2 ** (bits - 1)), 2 ** (bits - 1) - 1))


def _list(name: str, rank: int, kind: type, bits: int = 64) -> Method:
    def method(self: Any) -> list[Any]:
        x = np.asarray(self)
        if rank == 1:
            if sum(n != 1 for n in x.shape) > 1:
                raise ShapeError(f"{name} needs a vector, the array has shape {x.shape}; toDoubleMatrix, tolist() and ravel() take others")
            x = x.reshape(-1)
        elif x.ndim != 2:
            raise ShapeError(f"{name} needs a matrix, the array has shape {x.shape}")
        if kind is float:
            return x.astype(np.float64).tolist()  # type: ignore[no-any-return]
        if x.dtype.kind == "f":
            return np.vectorize(_whole, otypes=[object])(x, bits).tolist() if x.size else x.tolist()  # type: ignore[no-any-return]
        return x.astype(np.int64).tolist()  # type: ignore[no-any-return]
    return described(method, name, f"The elements of a {'vector' if rank == 1 else 'matrix'} as a list of {kind.__name__}"
                                   f"{'' if rank == 1 else ' for each row'}; fractions are cut off for whole numbers.")


@refusing("INDArray")
class Elements:
    """Elements as Python's numbers."""

    __slots__ = ()

    get_double: ClassVar[Method] = _getter("getDouble", float, "An element as a float")
    get_float: ClassVar[Method] = _getter("getFloat", float, "An element as a float")
    get_int: ClassVar[Method] = _getter("getInt", int, "An element as an int, without its fraction")
    get_long: ClassVar[Method] = _getter("getLong", int, "An element as an int, without its fraction")
    get_string: ClassVar[Method] = _getter("getString", str, "An element of an array of texts")
    get_double_unsafe = get_double
    to_double_vector: ClassVar[Method] = _list("toDoubleVector", 1, float)
    to_float_vector: ClassVar[Method] = _list("toFloatVector", 1, float)
    to_int_vector: ClassVar[Method] = _list("toIntVector", 1, int, 32)
    to_long_vector: ClassVar[Method] = _list("toLongVector", 1, int)
    to_double_matrix: ClassVar[Method] = _list("toDoubleMatrix", 2, float)
    to_float_matrix: ClassVar[Method] = _list("toFloatMatrix", 2, float)
    to_int_matrix: ClassVar[Method] = _list("toIntMatrix", 2, int, 32)
    to_long_matrix: ClassVar[Method] = _list("toLongMatrix", 2, int)

    def get_number(self: Any, *place: Any) -> JavaNumber:
        """An element of the kind of the array, with ``doubleValue()`` and its kin; 1 and 0 for truth values."""
        return number(np.asarray(self)[_place(self, place, "getNumber", _order(self))])

    def get_scalar(self: Any, *place: Any) -> Any:
        """A view of one element, of rank 0; one number counts in row order."""
        return self[(*_place(self, place, "getScalar", "C"), ...)]

    def put_scalar(self: Any, *args: Any) -> Any:
        """Write one element: ``putScalar(i, value)`` counts in the order of the array, ``putScalar(i, j, value)`` and
        ``putScalar([i, j], value)`` name a position. In place; whole types cut fractions off."""
        *place, value = args
        value = scalar_of(value)
        if not is_number(value) and not isinstance(value, str):
            raise DataTypeError(f"putScalar writes a number, got {value!r:.60}")
        write(self, _place(self, tuple(place), "putScalar", _order(self)), value, "putScalar")
        return self

    put_scalar_unsafe = put_scalar

    def element(self: Any) -> Any:
        """The only element, as a number of Python."""
        if self.size != 1:
            raise ShapeError(f"element() needs an array of one element, this one has shape {tuple(self.shape)}; getDouble(i) "
                             "gives one of many")
        return self.item()
