"""Access of native instructions to their operands: words of memory, arrays laid over memory."""
# mypy: ignore-errors
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from ..compiler.jit_functions import intrinsic, types
from ..library.address import array_over
from ..library.operators import TYPE_NAMES

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


@dataclass(frozen=True)
class ArrayForm:
    """An array as a table describes it: type, rank, "dense" or "strided", and the axis along which parts slice it or "-"."""

    type: str
    rank: int
    strided: bool
    axis: int | None

    @classmethod
    def of(cls, text: str) -> ArrayForm:
        name, rank, layout, axis = text.split()
        return cls(name, int(rank), layout == "strided", None if axis == "-" else int(axis))


def laid_out(b: Any, forms: Sequence[ArrayForm], at: Any, part: Any, parts: Any) -> list[tuple[Any, list[Any], list[Any]]]:
    """Address, sizes and steps of the arrays whose words begin at an address, of some the slice of this part."""
    made, bounds = [], None
    for form in forms:
        rank = form.rank
        word = [b.load(_pointer(b, b.add(at, _WORD(8 * k)))) for k in range(1 + rank * (2 if form.strided else 1))]
        data, shape, strides = word[0], word[1:1 + rank], word[1 + rank:]
        if not form.strided:
            strides = [_WORD(int(form.type[1:]))]
            for n in reversed(shape[1:]):
                strides.insert(0, b.mul(strides[0], n))
            strides = strides[:rank]
        if form.axis is not None:
            bounds = bounds or [b.sdiv(b.mul(shape[form.axis], k), parts) for k in (part, b.add(part, _WORD(1)))]
            data = b.add(data, b.mul(bounds[0], strides[form.axis]))
            shape[form.axis] = b.sub(bounds[1], bounds[0])
        made.append((data, shape, strides))
        at = b.add(at, _WORD(8 * len(word)))
    return made


@intrinsic(prefer_literal=True)
def operands(context: Any, forms: Any, table: Any, part: Any, parts: Any) -> Any:
    """The arrays of a table, in parts of which some are the slice of this part.

    ``forms`` describes one array after the other, separated by commas: see :class:`ArrayForm`.
    All arrays from one call: each call, and each number in it, takes Numba milliseconds.
    """
    known = [ArrayForm.of(text) for text in forms.literal_value.split(",")]
    kinds = [types.Array(types_of(f.type), f.rank, "A" if f.strided or f.axis else "C") for f in known]

    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        made = []
        for kind, (data, shape, strides) in zip(kinds, laid_out(b, known, *a[1:])):
            made.append(array_over(c, b, kind, b.inttoptr(data, c.get_data_type(kind.dtype).as_pointer()), shape, strides))
        return c.make_tuple(b, s.return_type, made)
    return types.Tuple(kinds)(forms, table, part, parts), emit


def types_of(name: str) -> Any:
    """Numba's type for a type name."""
    from numba import from_dtype
    return from_dtype({n: d for d, n in TYPE_NAMES.items()}[name])
