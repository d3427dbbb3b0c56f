"""Tiles of a matrix product in registers: the innermost loop of :mod:`.small_products`, as LLVM code.

A tile is a few rows by a fixed number of columns of the result. Its sums stay in vector registers while the loop runs over the
depth, so each step costs one load for each vector of columns and one broadcast for each row. Rows and vectors are chosen so
that the registers of the CPU hold a tile: with 16 of them 6 x 2, with the 32 of AVX-512 12 x 2. Places are addresses, distances are
in bytes.
"""
# mypy: ignore-errors
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from ..compiler.jit_functions import intrinsic, types
from ..compiler.settings import features

_FEATURES = features()

#: Bytes of a vector register, rows of the largest tile, vectors of its width.
VECTOR = 64 if _FEATURES.get("avx512f") else 32 if _FEATURES.get("avx2") else 16
ROWS = 12 if VECTOR == 64 else 6
VECTORS = 2

#: Rows of tiles for results of one vector or less: each more takes a fiftieth of a second of the first start.
NARROW_SIZES = (2 * ROWS, 8, 4, 2, 1)

#: Steps along the depth that a turn of the innermost loop takes: the end of few turns is foreseen.
STEPS = 2

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def declared(module: Any, name: str, kind: Any) -> Any:
    """The function of that name in a module."""
    return module.globals.get(name) or ir.Function(module, kind, name)


class TileBuilder:
    """Vectors of one element type in the code that is being built."""

    def __init__(self, builder: Any, item: Any) -> None:
        self.builder, self.item = builder, item
        self.size = 4 if isinstance(item, ir.FloatType) else 8
        self.lanes = VECTOR // self.size
        self.kind = ir.VectorType(self.item, self.lanes)
        self.suffix = f"v{self.lanes}f{8 * self.size}"

    def function(self, name: str, result: Any, arguments: Any) -> Any:
        return declared(self.builder.module, f"{name}.{self.suffix}", ir.FunctionType(result, arguments))

    def after(self, base: Any, stride: Any, times: int) -> Any:
        return self.builder.add(base, self.builder.mul(stride, _I64(times))) if times else base

    def vector(self, base: Any, j: int) -> Any:
        """The address of the vector ``j``."""
        return self.builder.add(base, _I64(VECTOR * j)) if j else base

    def pointer(self, address: Any, kind: Any = None) -> Any:
        return self.builder.inttoptr(address, (kind or self.kind).as_pointer())

    def load(self, address: Any, kind: Any = None) -> Any:
        return self.builder.load(self.pointer(address, kind), align=self.size)

    def store(self, value: Any, address: Any) -> None:
        self.builder.store(value, self.pointer(address, value.type), align=self.size)

    def zero(self) -> Any:
        return ir.Constant(self.kind, [0.0] * self.lanes)

    def spread(self, scalar: Any, kind: Any) -> Any:
        """A vector with the scalar in all lanes."""
        empty = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(empty, scalar, _I32(0))
        return self.builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(_I32, self.lanes), [0] * self.lanes))

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return self.builder.call(self.function("llvm.fma", self.kind, [self.kind] * 3), [a, b, c])

    def load_first(self, address: Any, count: Any, skipped: int) -> Any:
        """A vector of which only the lanes below ``count - skipped`` exist; the others are 0."""
        wide = ir.VectorType(_I64, self.lanes)
        places = ir.Constant(wide, [skipped + k for k in range(self.lanes)])
        mask = self.builder.icmp_signed("<", places, self.spread(count, wide))
        pointer = self.pointer(address)
        name = f"llvm.masked.load.{self.suffix}.p0"
        kind = ir.FunctionType(self.kind, [pointer.type, _I32, mask.type, self.kind])
        return self.builder.call(declared(self.builder.module, name, kind), [pointer, _I32(self.size), mask, self.zero()])


def _tile_code(code: TileBuilder, rows: int, vectors: int, args: Any) -> None:
    b = code.builder
    depth, a, a_row, a_step, right, right_step, c, c_row, more = args
    places = [code.vector(code.after(c, c_row, i), j) for i in range(rows) for j in range(vectors)]
    start, added, ready = (b.block, *(b.append_basic_block() for _ in range(2)))
    b.cbranch(b.icmp_signed("!=", more, _I64(0)), added, ready)
    b.position_at_end(added)
    before = [code.load(p) for p in places]
    b.branch(ready)
    b.position_at_end(ready)
    sums = [b.phi(code.kind) for _ in places]
    for phi, value in zip(sums, before):
        phi.add_incoming(code.zero(), start)
        phi.add_incoming(value, added)
    state = [depth, a, right, *sums]
    for steps in (STEPS, 1):
        state = _while_left(code, rows, vectors, state, steps, (a_row, a_step, right_step))
    for value, place in zip(state[3:], places):
        code.store(value, place)


def _while_left(code: TileBuilder, rows: int, vectors: int, state: Any, steps: int, distances: Any) -> Any:
    """A loop that takes several steps along the depth at a time as long as that many are left."""
    b = code.builder
    a_row, a_step, right_step = distances
    before, test, loop, done = (b.block, *(b.append_basic_block() for _ in range(3)))
    b.branch(test)
    b.position_at_end(test)
    phis = [b.phi(value.type) for value in state]
    b.cbranch(b.icmp_signed(">=", phis[0], _I64(steps)), loop, done)
    b.position_at_end(loop)
    left, at, bt, *sums = phis
    for _ in range(steps):
        columns = [code.load(code.vector(bt, j)) for j in range(vectors)]
        for i in range(rows):
            x = code.spread(code.load(code.after(at, a_row, i), code.item), code.kind)
            for j in range(vectors):
                sums[i * vectors + j] = code.fma(x, columns[j], sums[i * vectors + j])
        at, bt = b.add(at, a_step), b.add(bt, right_step)
    for phi, old, new in zip(phis, state, (b.sub(left, _I64(steps)), at, bt, *sums)):
        phi.add_incoming(old, before)
        phi.add_incoming(new, loop)
    b.branch(test)
    b.position_at_end(done)
    return phis


def tiles(module: Any, item: Any, sizes: Sequence[int], vectors: int) -> Any:
    """``run(rows, count, depth, a, a_row, a_step, b, b_step, c, c_row, more)`` as a function of the module.

    ``count`` tiles of ``rows`` rows (one of ``sizes``) by ``vectors`` vectors, one below the other: each becomes a b, plus itself with
    ``more``. Distances are ``a_row`` from one row of a to the next and ``a_step`` along the depth.
    """
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_I64] * 11), f"tiles{vectors}")
    function.linkage = "internal"
    rows, count, *args = function.args
    entry, end = function.append_basic_block(), function.append_basic_block()
    ir.IRBuilder(end).ret_void()
    choice = ir.IRBuilder(entry).switch(rows, end)
    for m in sizes:
        head, body = function.append_basic_block(), function.append_basic_block()
        choice.add_case(_I64(m), head)
        b = ir.IRBuilder(head)
        b.cbranch(b.icmp_signed(">", count, _I64(0)), body, end)
        b.position_at_end(body)
        turn, at, ct = b.phi(_I64), b.phi(_I64), b.phi(_I64)
        depth, _, a_row, a_step, right, right_step, _, c_row, more = args
        _tile_code(TileBuilder(b, item), m, vectors, (depth, at, a_row, a_step, right, right_step, ct, c_row, more))
        following = b.add(turn, _I64(1)), b.add(at, b.mul(a_row, _I64(m))), b.add(ct, b.mul(c_row, _I64(m)))
        for phi, first, new in zip((turn, at, ct), (_I64(0), args[1], args[6]), following):
            phi.add_incoming(first, head)
            phi.add_incoming(new, b.block)
        b.cbranch(b.icmp_signed("<", following[0], count), body, end)
    return function


def copy_vectors(code: TileBuilder, source: Any, target: Any) -> None:
    """Copy as many elements as a tile has columns."""
    for j in range(VECTORS):
        code.store(code.load(code.vector(source, j)), code.vector(target, j))


def copy_padded(code: TileBuilder, source: Any, target: Any, width: Any) -> None:
    """Copy the first ``width`` elements of a tile's row, and zeros for the rest."""
    for j in range(VECTORS):
        code.store(code.load_first(code.vector(source, j), width, code.lanes * j), code.vector(target, j))


def copy_cut(code: TileBuilder, source: Any, target: Any, width: Any) -> None:
    """Copy only ``width`` elements in pieces of falling powers of two: masked stores are slow on many CPUs."""
    b, size = code.builder, code.lanes * VECTORS
    while size:
        done = b.mul(b.and_(width, _I64(-2 * size)), _I64(code.size))
        with b.if_then(b.icmp_signed("!=", b.and_(width, _I64(size)), _I64(0))):
            value = code.load(b.add(source, done), ir.VectorType(code.item, size))
            code.store(value, b.add(target, done))
        size //= 2


def transpose_vectors(code: TileBuilder, source: Any, source_row: Any, target: Any, target_row: Any, count: Any = None) -> None:
    """Transpose a square block as wide as a vector: pairs of rows exchange smaller blocks, of one element first.

    With ``count`` only that many rows exist, others are 0; where it is below 1 there is a row before the block.
    """
    n, b = code.lanes, code.builder
    if count is None:
        rows = [code.load(code.after(source, source_row, i)) for i in range(n)]
    else:
        exists = [b.icmp_signed("<", _I64(i), count) for i in range(n)]
        last = b.sub(count, _I64(1))
        places = [b.add(source, b.mul(source_row, b.select(e, _I64(i), last))) for i, e in enumerate(exists)]
        rows = [b.select(e, code.load(p), code.zero()) for e, p in zip(exists, places)]
    step = 1
    while step < n:
        for i in range(n):
            if not i & step:
                x, y = rows[i], rows[i + step]
                low = [k - step + n if k & step else k for k in range(n)]
                high = [k + n if k & step else k + step for k in range(n)]
                rows[i], rows[i + step] = (b.shuffle_vector(x, y, ir.Constant(ir.VectorType(_I32, n), order)) for order in (low, high))
        step *= 2
    for i, row in enumerate(rows):
        code.store(row, code.after(target, target_row, i))


@intrinsic
def transpose_block(context: Any, array: Any, source: Any, source_row: Any, target: Any, target_row: Any) -> Any:
    """:func:`transpose_vectors` in kernels; the array says the type."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        transpose_vectors(TileBuilder(builder, context.get_value_type(signature.args[0].dtype)), *args[1:])
        return context.get_dummy_value()
    return types.void(array, *[types.int64] * 4), call


@intrinsic
def lanes_of(context: Any, array: Any) -> Any:
    """Number of elements of the array's type in a vector."""
    lanes = VECTOR * 8 // array.dtype.bitwidth
    return types.int64(array), lambda c, builder, s, args: _I64(lanes)


@intrinsic
def put_at(context: Any, array: Any, address: Any, value: Any) -> Any:
    """Store an element at an address."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], builder.inttoptr(args[1], context.get_value_type(signature.args[0].dtype).as_pointer()))
        return context.get_dummy_value()
    return types.void(array, types.int64, array.dtype), call


@intrinsic
def get_at(context: Any, array: Any, address: Any) -> Any:
    """The element at an address."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[1], context.get_value_type(signature.args[0].dtype).as_pointer()))
    return array.dtype(array, types.int64), call


@intrinsic
def never_inlined(context: Any) -> Any:
    """Keeps LLVM from copying the function that calls this into its callers: their machine code, and its compilation, would grow."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()
    return types.void(), call


@intrinsic
def start_of(context: Any, array: Any) -> Any:
    """The address of an array as int64: one type of number keeps Numba from compiling the same code again and again."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(context.make_array(signature.args[0])(context, builder, args[0]).data, _I64)
    return types.int64(array), call
