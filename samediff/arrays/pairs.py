"""Two arrays, or an array and a number, as DL4J's methods meet: types, refusals, results that are given."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.javanames import to_snake
from ..errors import DataTypeError, ShapeError
from ..expressions.arrays import as_array
from ..families.array_code.symbolic_size import may_be_equal
from .array_class import wrapped
from .computing import apply, built_in
from .orders import arranged, order_like
from .quiet import quietly
from .recording import state

Method = Callable[..., Any]


def is_number(value: Any) -> bool:
    """True for the numbers of Python and NumPy, truth values among them."""
    return isinstance(value, (bool, int, float, np.generic))


def is_array(value: Any) -> bool:
    """True for arrays and for what stands for one while a graph is recorded."""
    return hasattr(value, "__array__") and not isinstance(value, np.generic)


def type_of(value: Any) -> DataType:
    """The data type of an array."""
    return DataType.of(value.dtype)


def refuse_bool(x: Any, what: str) -> None:
    """DataTypeError when the array holds truth values."""
    if x.dtype.kind == "b":
        raise DataTypeError(f"{what} needs an array of numbers; this one of shape {tuple(x.shape)} is BOOL. Use castTo(DataType.INT) first")


def cast(x: Any, kind: DataType) -> Any:
    """The array in another type; itself where it has that."""
    return x if type_of(x) is kind else apply(built_in("cast", data_type=kind), x)


def operand(value: Any) -> Any:
    """The other operand: an array, or a number of Python's types."""
    if is_number(value):
        return value.item() if isinstance(value, np.generic) else value
    return value if is_array(value) else as_array(value)


def of_type(value: Any, kind: DataType) -> Any:
    """A number or an array in a type; numbers lose their fraction where that holds whole ones."""
    if is_array(value):
        return cast(value, kind)
    return as_array(value if kind.is_floating else int(value), kind.numpy)


def refuse_fraction(x: Any, number: Any, what: str) -> None:
    """DataTypeError for a number with a fraction beside an array of whole numbers, whose type it would take."""
    if isinstance(number, float) and not number.is_integer() and not type_of(x).is_floating:
        raise DataTypeError(f"{what} of an array of type {type_of(x).name} and {number}: a number takes the type of the array, which holds "
                            "no fractions. Use castTo(DataType.FLOAT) first")


def put_into(target: Any, value: Any, what: str) -> Any:
    """Give ``target`` the values, in its own type; ShapeError when the shapes differ."""
    if not may_be_equal(value.shape, target.shape):
        raise ShapeError(f"{what} gives shape {tuple(value.shape)}, the array that takes the result has {tuple(target.shape)}; "
                         "the form without i makes a new array")
    if state.recorder is not None:
        return state.recorder.record_assign(target, cast(value, type_of(target)))
    quietly(np.copyto, np.asarray(target), np.asarray(value), casting="unsafe")
    return target


def pairwise(name: str, op_id: str, doc: str, ufunc: np.ufunc | None = None, whole: bool = True) -> Method:
    """A method that makes a new array; ``ufunc`` is the same function of NumPy for alike arrays, of floats alone unless ``whole``."""
    kinds = "fiu" if whole else "f"

    def method(self: Any, other: Any, result: Any = None) -> Any:
        if ufunc is not None and result is None and state.recorder is None and (given := _alike(self, other, kinds)) is not None:
            try:
                return wrapped(quietly(ufunc, self.view(np.ndarray), given, order="C"))
            except (ValueError, OverflowError):         # what does not meet: said below
                pass
        made = combined(self, other, name, op_id)
        return arranged(made, order_like(self, made)) if result is None else put_into(result, made, name)
    return described(method, name, doc + """

    Arrays are broadcast. The type is the one that has a point, else that of this array; a number takes the type of the array.
    ``result`` takes the values where it is given.
    """)


def _alike(x: Any, other: Any, kinds: str) -> Any:
    """The other side of an array in row order as NumPy takes it in the type of the array; None where DL4J's rules are to be asked."""
    dtype = x.dtype
    if dtype.kind not in kinds or not x.flags.c_contiguous:
        return None
    if type(other) is type(x):
        return other.view(np.ndarray) if other.dtype is dtype else None
    return other if type(other) is int or (type(other) is float and dtype.kind == "f") else None


def combined(x: Any, other: Any, name: str, op_id: str, keep: bool = False) -> Any:
    """The op on an array and another or a number, which takes the array's type; so does another array where ``keep`` says so."""
    refuse_bool(x, name)
    other = operand(other)
    if not keep:
        refuse_fraction(x, other, name)
    if keep or not is_array(other) or other.dtype.kind == "b":
        other = of_type(other, type_of(x))
    return apply(built_in(op_id), x, other)


def in_place(name: str, op_id: str, doc: str, ufunc: np.ufunc | None = None) -> Method:
    """The method that changes the array itself."""
    def method(self: Any, other: Any, result: Any = None) -> Any:
        if ufunc is not None and result is None and state.recorder is None and (given := _alike(self, other, "f")) is not None:
            try:
                plain = self.view(np.ndarray)
                quietly(ufunc, plain, given, out=plain)
                return self
            except ValueError:                          # the array does not take the result: said below
                pass
        target = self if result is None else result
        return put_into(target, combined(self, other, name, op_id, keep=True), name)
    return described(method, name, f"{doc} In place: this array, which keeps its type, takes the values (or ``result``, where given)"
                                   "; what stands on the other side is brought into that type first.")


def described(method: Method, name: str, doc: str) -> Method:
    """A function with the name and the documentation of a method."""
    method.__name__ = method.__qualname__ = to_snake(name)
    method.__doc__ = doc
    return method
