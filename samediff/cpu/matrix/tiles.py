"""Blocks of sums of products that stay in registers: what convolutions and products are made of, as LLVM code.

Numba's vectoriser does not keep a block of results in registers over a loop, which is where such code gets its speed.
Arrays are given by address and all distances in bytes, so that patches of images are read where they lie.
"""
# mypy: ignore-errors
from __future__ import annotations

from functools import partial

import numpy as np
from llvmlite import ir

from ..compiler.jit_functions import cgutils, intrinsic, types
from ..compiler.settings import features

_FEATURES = features()

#: Bytes of a vector.
VECTOR = 64 if _FEATURES.get("avx512f") else 32

#: Rows of a block of products, of two vectors each: as many sums as registers hold, and room for the factors.
ROWS = 8 if _FEATURES.get("avx512f") else 6

#: Rows and columns of a block of inner products.
DOWN, ACROSS = (4, 6) if _FEATURES.get("avx512f") else (3, 4)

#: Widths of a kernel for which sums of shifted rows have code of their own.
UNROLLED = 7

_WORD, _COUNT = ir.IntType(64), ir.IntType(32)


class VectorBuilder:
    """Shorthands for instructions on vectors of ``lanes`` elements."""

    def __init__(self, builder, real, lanes):
        self.b, self.real, self.lanes = builder, real, lanes
        self.size = 4 if real == ir.FloatType() else 8
        self.vector = ir.VectorType(real, lanes)
        self.suffix = f"v{lanes}f{8 * self.size}"
        self.zero = ir.Constant(self.vector, [0.0] * lanes)

    def far(self, base, count, distance):
        """The address ``count`` times ``distance`` behind a base."""
        return self.b.add(base, self.b.mul(_WORD(count), distance)) if count else base

    def load(self, address, kind=None):
        kind = kind or self.vector
        return self.b.load(self.b.inttoptr(address, kind.as_pointer()), align=8 if kind == _WORD else self.size)

    def store(self, value, address):
        self.b.store(value, self.b.inttoptr(address, value.type.as_pointer()), align=self.size)

    def spread(self, scalar):
        """A vector of equal elements."""
        one = self.b.insert_element(ir.Constant(self.vector, ir.Undefined), scalar, _COUNT(0))
        return self.b.shuffle_vector(one, one, ir.Constant(ir.VectorType(_COUNT, self.lanes), [0] * self.lanes))

    def intrinsic(self, name, result, *args, fastmath=()):
        function = cgutils.get_or_insert_function(self.b.module, ir.FunctionType(result, [a.type for a in args]), f"llvm.{name}")
        return self.b.call(function, args, fastmath=fastmath)

    def fma(self, x, y, z):
        return self.intrinsic(f"fma.{self.suffix}", self.vector, x, y, z)

    def variable(self, value):
        slot = cgutils.alloca_once(self.b, value.type)
        self.b.store(value, slot)
        return slot

    def advance(self, slot, distance):
        self.b.store(self.b.add(self.b.load(slot), distance), slot)


def _products(code, rows, depth, a, down, along, table, places, vectors, source, target, next_row, start):
    """C[i, v] = start + sum over k of A[i, k] * B[v][table[k]]; see :func:`products`."""
    b = code.b

    def some(first, count):
        entries = [b.add(places, b.mul(b.add(first, _WORD(k)), _WORD(16))) for k in range(count)]
        right = [b.add(source, code.load(e, _WORD)) for e in entries]
        out = [b.add(target, code.load(b.add(e, _WORD(8)), _WORD)) for e in entries]
        _block(code, rows, depth, a, down, along, table, right, out, next_row, start)

    with cgutils.for_range(b, b.lshr(vectors, _WORD(1))) as loop:
        some(b.shl(loop.index, _WORD(1)), 2)
    with b.if_then(b.trunc(vectors, ir.IntType(1))):
        some(b.sub(vectors, _WORD(1)), 1)


def _block(code, rows, count, a, down, along, table, sources, out, next_row, start):
    b = code.b
    sums = [[code.variable(code.zero) for _ in out] for _ in range(rows)]
    for row in sums:
        for slot in row:
            b.store(code.zero, slot)
    with b.if_then(b.icmp_unsigned(">", start, _WORD(1))):
        for i, row in enumerate(sums):
            first = code.spread(code.load(b.add(start, _WORD(i * code.size)), code.real))
            for slot in row:
                b.store(first, slot)
    with b.if_then(b.icmp_unsigned("==", start, _WORD(1))):
        for i, row in enumerate(sums):
            for base, slot in zip(out, row):
                b.store(code.load(code.far(base, i, next_row)), slot)
    left, place = code.variable(a), code.variable(table)
    with cgutils.for_range(b, count):
        shift, at = code.load(b.load(place), _WORD), b.load(left)
        right = [code.load(b.add(base, shift)) for base in sources]
        for i, row in enumerate(sums):
            factor = code.spread(code.load(code.far(at, i, down), code.real))
            for slot, vector in zip(row, right):
                b.store(code.fma(factor, vector, b.load(slot)), slot)
        code.advance(left, along)
        code.advance(place, _WORD(8))
    for i, row in enumerate(sums):
        for base, slot in zip(out, row):
            code.store(b.load(slot), code.far(base, i, next_row))


def _inner(code, rows, columns, images, a, b_base, next_a, next_b, next_row, table, places, full, rest, width, out, next_out, add):
    """out[i, j] (+)= sum over images and places of A[i] * B[j]; see :func:`inner_products`."""
    b = code.b
    shifts = [code.load(b.add(table, _WORD(8 * j)), _WORD) for j in range(columns)]
    sums = [[code.variable(code.zero) for _ in range(columns)] for _ in range(rows)]
    lanes = ir.Constant(ir.VectorType(_WORD, code.lanes), list(range(code.lanes)))
    wide = b.insert_element(ir.Constant(lanes.type, ir.Undefined), width, _COUNT(0))
    wide = b.shuffle_vector(wide, wide, ir.Constant(ir.VectorType(_COUNT, code.lanes), [0] * code.lanes))
    mask = b.icmp_signed("<", lanes, wide)

    def some(address):
        pointer = b.inttoptr(address, code.vector.as_pointer())
        return code.intrinsic(f"masked.load.{code.suffix}.p0", code.vector, pointer, _COUNT(code.size), mask, code.zero)

    def run(count, start, load, left, right):
        place = code.variable(start)
        with cgutils.for_range(b, count):
            at = b.load(place)
            x = b.add(left, code.load(at, _WORD))
            y = b.add(right, code.load(b.add(at, _WORD(8)), _WORD))
            xs = [load(code.far(x, i, next_row)) for i in range(rows)]
            for j, shift in enumerate(shifts):
                vector = load(b.add(y, shift))
                for i in range(rows):
                    b.store(code.fma(xs[i], vector, b.load(sums[i][j])), sums[i][j])
            code.advance(place, _WORD(16))

    left, right = code.variable(a), code.variable(b_base)
    with cgutils.for_range(b, images):
        x, y = b.load(left), b.load(right)
        run(full, places, code.load, x, y)
        with b.if_then(b.icmp_signed(">", rest, _WORD(0))):
            run(rest, b.add(places, b.mul(full, _WORD(16))), some, x, y)
        code.advance(left, next_a)
        code.advance(right, next_b)
    again = b.icmp_signed("!=", add, _WORD(0))
    for i, row in enumerate(sums):
        for j, slot in enumerate(row):
            address = b.add(code.far(out, i, next_out), _WORD(j * code.size))
            total = code.intrinsic(f"vector.reduce.fadd.{code.suffix}", code.real, ir.Constant(code.real, 0.0), b.load(slot),
                                   fastmath=("reassoc",))
            with b.if_then(again):
                code.store(b.fadd(total, code.load(address, code.real)), address)
            with b.if_then(b.not_(again)):
                code.store(total, address)


def _shifted(code, across, source, outer, next_outer, inner, next_inner, target, width):
    """target[t] = sum over outer and inner of source[t + ...]; ``across`` is ``inner``, or 0 when that is many."""
    b, step = code.b, code.lanes * code.size
    last = b.sub(width, _WORD(step))
    count = b.sdiv(b.add(width, _WORD(2 * step - 1)), _WORD(2 * step))
    with cgutils.for_range(b, count) as loop:
        first = b.mul(loop.index, _WORD(2 * step))
        starts = [b.select(b.icmp_signed("<", at, last), at, last) for at in (first, b.add(first, _WORD(step)))]
        sums = [[code.variable(code.zero) for _ in range(2)] for _ in starts]        # two chains: additions wait for each other
        for slot in (s for pair in sums for s in pair):
            b.store(code.zero, slot)
        row = code.variable(source)
        with cgutils.for_range(b, outer):
            place = code.variable(source)
            b.store(b.load(row), place)
            if across:
                _added(code, sums, starts, place, across, next_inner)
            else:
                with cgutils.for_range(b, inner):
                    _added(code, sums, starts, place, 1, next_inner)
            code.advance(row, next_outer)
        for at, (even, odd) in zip(starts, sums):
            code.store(b.fadd(b.load(even), b.load(odd)), b.add(target, at))


def _added(code, sums, starts, place, count, distance):
    for k in range(count):
        for at, pair in zip(starts, sums):
            vector = code.load(code.b.add(code.b.load(place), at))
            code.b.store(code.b.fadd(code.b.load(pair[k % 2]), vector), pair[k % 2])
        code.advance(place, distance)


def _function(module, name, write, real, lanes, arity):
    """The function of that name in the module, written at its first use; calls do not inline it, for the sake of registers."""
    made = cgutils.get_or_insert_function(module, ir.FunctionType(ir.VoidType(), [_WORD] * arity), f"dl4py_{name}_{lanes}_{real}")
    if made.is_declaration:
        made.linkage = "internal"
        made.attributes.add("noinline")
        made.attributes.add("optsize")          # no copies of loops that are unrolled enough: they only take time to compile
        made.attributes.add("nounwind")
        code = VectorBuilder(ir.IRBuilder(made.append_basic_block()), real, lanes)
        write(code, *made.args)
        code.b.ret_void()
    return made


def _call(context, builder, kind, lanes, sizes, choice, name, write, args):
    """Call the block for ``choice``, one of ``sizes`` (several numbers as one)."""
    real = real_of(kind)
    end = builder.append_basic_block()
    switch = builder.switch(choice, end)
    for number, size in sizes.items():
        block = builder.append_basic_block()
        switch.add_case(_WORD(number), block)
        builder.position_at_end(block)
        label = "_".join(map(str, (name, *size)))
        builder.call(_function(builder.module, label, partial(_sized, write, size), real, lanes, len(args)), args)
        builder.branch(end)
    builder.position_at_end(end)
    return context.get_dummy_value()


def _sized(write, size, code, *args):
    write(code, *size, *args)


def real_of(kind):
    """LLVM's float or double type for Numba's float32 or float64."""
    return ir.FloatType() if kind == types.float32 else ir.DoubleType()


def lanes_in(kind, places):
    """Elements of a vector: a full one for places of two axes, half of one for places of three."""
    return VECTOR // (kind.bitwidth // 8) // (places.ndim - 1)


@intrinsic
def products(context, zero, places, rows, count, a, down, along, table, first, vectors, source, target, next_row, start):
    """C[i, v] = sum over k < count of A[i, k] * B[v][table[k]] for up to ROWS rows i and all vectors v.

    ``zero`` is of the type of the elements. A[i, k] is at ``a + i * down + k * along``, B[v] at ``source + places[v, 0] + table[k]``,
    C[i, v] at ``target + places[v, 1] + i * next_row``; ``first`` is the address of ``places``. Vectors are half as long where that has
    a third axis.
    Sums start with 0, with C where ``start`` is 1, else with the numbers at the address ``start``.
    """
    def call(context, builder, signature, args):
        sizes = {k: (k,) for k in range(1, ROWS + 1)}
        return _call(context, builder, zero, lanes_in(zero, places), sizes, args[2], "products", _products, args[3:])
    words = [types.int64] * 12
    return types.void(zero, places, *words), call


@intrinsic
def inner_products(context, zero, rows, columns, images, a, b, next_a, next_b, next_row, table, places, full, rest, width, out,
                   next_out, add):
    """out[i, j] = sum over images and places of A[i] * B[j] for up to DOWN rows i and ACROSS columns j.

    Image n of A is at ``a + n * next_a``, row i ``i * next_row`` behind it; of B at ``b + n * next_b``, column j table[j]
    bytes behind. ``places`` lists the distances of ``full`` vectors in both, then of ``rest`` with ``width`` elements
    only. ``add``: to what ``out`` holds.
    """
    def call(context, builder, signature, args):
        sizes = {i * (ACROSS + 1) + j: (i, j) for i in range(1, DOWN + 1) for j in range(1, ACROSS + 1)}
        choice = builder.add(builder.mul(args[1], _WORD(ACROSS + 1)), args[2])
        return _call(context, builder, zero, VECTOR // (zero.bitwidth // 8), sizes, choice, "inner", _inner, args[3:])
    words = [types.int64] * 16
    return types.void(zero, *words), call


@intrinsic
def shifted_sum(context, zero, places, source, outer, next_outer, inner, next_inner, target, width):
    """target[t] = sum over p < outer and q < inner of source[t + p * next_outer + q * next_inner], for ``width`` bytes; vectors as in
    :func:`products`."""
    def call(context, builder, signature, args):
        inner = args[5]
        choice = builder.select(builder.icmp_signed("<=", inner, _WORD(UNROLLED)), inner, _WORD(0))
        return _call(context, builder, zero, lanes_in(zero, places), {k: (k,) for k in range(UNROLLED + 1)}, choice, "shifted", _shifted,
                     args[2:])
    words = [types.int64] * 7
    return types.void(zero, places, *words), call


def lanes_of(dtype: np.dtype) -> int:
    """Number of elements in a full vector."""
    return VECTOR // dtype.itemsize
