"""What entries need to find their operands: words of memory, arrays laid over memory."""
# mypy: ignore-errors
from __future__ import annotations

from typing import Any

from llvmlite import ir

from ..functions import arrayobj, intrinsic, types
from ..operators import TYPE_NAMES

_WORD = ir.IntType(64)


def _pointer(builder: Any, address: Any, kind: Any = _WORD) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


@intrinsic
def load(context: Any, address: Any) -> Any:
    """The word at an address."""
    return types.int64(types.int64), lambda c, b, s, a: b.load(_pointer(b, a[0]))


@intrinsic
def load_float(context: Any, address: Any) -> Any:
    """The float64 at an address."""
    return types.float64(types.int64), lambda c, b, s, a: b.load(_pointer(b, a[0], ir.DoubleType()))


@intrinsic
def product(context: Any, x: Any, y: Any) -> Any:
    """The upper and the lower word of the product of two words without signs."""
    pair = types.UniTuple(types.int64, 2)

    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        wide = ir.IntType(128)
        made = b.mul(b.zext(a[0], wide), b.zext(a[1], wide))
        return c.make_tuple(b, pair, [b.trunc(b.lshr(made, wide(64)), _WORD), b.trunc(made, _WORD)])
    return pair(types.int64, types.int64), emit


@intrinsic
def store_flags(context: Any, address: Any, first: Any, second: Any, third: Any, fourth: Any, limit: Any) -> Any:
    """Put eight bytes at an address: whether the halves of four words, the lower one first, are at most ``limit`` (without signs)."""
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        half, count = ir.IntType(32), 8
        words = ir.Constant(ir.VectorType(_WORD, 4), ir.Undefined)
        for k in range(4):
            words = b.insert_element(words, a[1 + k], half(k))
        kind = ir.VectorType(half, count)
        most = b.insert_element(ir.Constant(kind, ir.Undefined), b.trunc(a[5], half), half(0))
        most = b.shuffle_vector(most, most, ir.Constant(kind, [0] * count))
        flags = b.zext(b.icmp_unsigned("<=", b.bitcast(words, kind), most), ir.VectorType(ir.IntType(8), count))
        b.store(flags, _pointer(b, a[0], flags.type), align=1)
        return c.get_dummy_value()
    return types.void(*[types.int64] * 6), emit


def _laid_over(c: Any, b: Any, kind: Any, base: Any, strided: bool) -> tuple[Any, list[Any], list[Any], Any]:
    """Address, sizes and steps of the array whose words begin at an address, and bytes of an element."""
    item = _WORD(c.get_abi_sizeof(c.get_data_type(kind.dtype)))
    word = [b.load(_pointer(b, b.add(base, _WORD(8 * k)))) for k in range(1 + kind.ndim * (2 if strided else 1))]
    shape, strides = word[1:1 + kind.ndim], word[1 + kind.ndim:]
    if not strided:
        strides = [item]
        for n in reversed(shape[1:]):
            strides.insert(0, b.mul(strides[0], n))
    return word[0], shape, strides[:kind.ndim], item


@intrinsic(prefer_literal=True)
def operands(context: Any, forms: Any, table: Any, part: Any, parts: Any) -> Any:
    """The arrays of a table, in parts of which some are the slice of this part.

    ``forms`` describes one array after the other: type, rank, "dense" or "strided", and the axis along which parts slice it or "-".
    All arrays from one call: each call, and each number in it, takes Numba milliseconds.
    """
    given = [text.split() for text in forms.literal_value.split(",")]
    known = [(int(rank), layout == "strided", None if axis == "-" else int(axis)) for _, rank, layout, axis in given]
    kinds = [types.Array(types_of(text[0]), rank, "A" if strided or axis else "C") for text, (rank, strided, axis) in zip(given, known)]

    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        _, at, part, parts = a
        made, bounds = [], None
        for kind, (rank, strided, axis) in zip(kinds, known):
            data, shape, strides, item = _laid_over(c, b, kind, at, strided)
            if axis is not None:
                bounds = bounds or [b.sdiv(b.mul(shape[axis], k), parts) for k in (part, b.add(part, _WORD(1)))]
                data = b.add(data, b.mul(bounds[0], strides[axis]))
                shape[axis] = b.sub(bounds[1], bounds[0])
            array = arrayobj.make_array(kind)(c, b)
            arrayobj.populate_array(array, data=b.inttoptr(data, c.get_data_type(kind.dtype).as_pointer()), shape=shape, strides=strides,
                                    itemsize=item, meminfo=None)
            made.append(array._getvalue())
            at = b.add(at, _WORD(8 * (1 + rank * (2 if strided else 1))))
        return c.make_tuple(b, s.return_type, made)
    return types.Tuple(kinds)(forms, table, part, parts), emit


def types_of(name: str) -> Any:
    """Numba's type of elements."""
    from numba import from_dtype
    return from_dtype({n: d for d, n in TYPE_NAMES.items()}[name])
