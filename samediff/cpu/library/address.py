"""Elements of an array by their distance in bytes from its first one.

Numba multiplies every index by a stride that it does not know. With distances the source can spell out that neighbours of a
loop lie next to each other, which makes vector code of loops over arrays that are strided elsewhere.
"""
# mypy: ignore-errors
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from ..compiler.jit_functions import cgutils, intrinsic, types


def array_over(context: Any, builder: Any, kind: Any, data: Any, shape: Sequence[Any], strides: Sequence[Any]) -> Any:
    """An array over memory that somebody else keeps."""
    made = context.make_array(kind)(context, builder)
    word = context.get_value_type(types.intp)
    made.data, made.itemsize = data, word(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    made.nitems = functools.reduce(builder.mul, shape, word(1))
    made.shape, made.strides = (cgutils.pack_array(builder, list(sizes), word) for sizes in (shape, strides))
    return made._getvalue()


def _pointer(context: Any, builder: Any, kind: Any, array: Any, distance: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return cgutils.pointer_add(builder, data, distance)


@intrinsic
def at(context: Any, array: Any, distance: Any) -> Any:
    """The element ``distance`` bytes behind the first."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], *args))
    return array.dtype(array, types.intp), call


@intrinsic
def put(context: Any, array: Any, distance: Any, value: Any) -> Any:
    """Store an element ``distance`` bytes behind the first."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _pointer(context, builder, signature.args[0], args[0], args[1]))
        return context.get_dummy_value()
    return types.void(array, types.intp, array.dtype), call


@intrinsic(prefer_literal=True)
def scratch(context: Any, count: Any, dtype: Any) -> Any:
    """A small array of ``count`` elements, a number in the source, on the stack; it holds anything at first."""
    kind = types.Array(dtype.dtype, 1, "C")

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        item, length = context.get_data_type(kind.dtype), ir.IntType(64)(count.literal_value)
        with builder.goto_entry_block():        # Numba's own helper would clear it at every call
            memory = builder.alloca(ir.ArrayType(item, count.literal_value))
        size = ir.IntType(64)(context.get_abi_sizeof(item))
        return array_over(context, builder, kind, builder.bitcast(memory, item.as_pointer()), [length], [size])
    return kind(count, dtype), call


@intrinsic
def steps(context: Any, array: Any) -> Any:
    """Steps of an array in bytes; 0 along axes of size 1, so that operands of that size stay where they are."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        made = context.make_array(kind)(context, builder, args[0])
        shape, strides = (cgutils.unpack_tuple(builder, field, kind.ndim) for field in (made.shape, made.strides))
        zero, one = ir.IntType(64)(0), ir.IntType(64)(1)
        found = [builder.select(builder.icmp_signed(">", n, one), step, zero) for n, step in zip(shape, strides)]
        return cgutils.pack_array(builder, found)
    return types.UniTuple(types.intp, array.ndim)(array), call


def _seen(context: Any, builder: Any, kind: Any, array: Any, result: Any, shape: Any) -> Any:
    """The memory of a dense array as one of another shape."""
    given = context.make_array(kind)(context, builder, array)
    strides = [given.itemsize]
    for n in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], n))
    return array_over(context, builder, result, given.data, shape, strides)


@intrinsic
def in_line(context: Any, array: Any) -> Any:
    """All elements of a dense array along one axis. What NumPy's name for it becomes takes Numba long, and needs its memory manager."""
    result = types.Array(array.dtype, 1, "C")

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _seen(context, builder, array, args[0], result, [context.make_array(array)(context, builder, args[0]).nitems])
    return result(array), call


@intrinsic
def matrix(context: Any, array: Any, rows: Any, columns: Any) -> Any:
    """The elements of a dense array as a matrix."""
    result = types.Array(array.dtype, 2, "C")

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _seen(context, builder, array, args[0], result, list(args[1:]))
    return result(array, types.intp, types.intp), call
