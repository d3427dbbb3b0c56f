"""Matrix products around their tiles, as functions of words that are made for float32 and for float64.

Columns of the result are worked on in panels as wide as a tile (:mod:`.product_tiles`); the piece of b that belongs to a panel is
copied into ``workspace``, so that it is read without gaps, transposed if need be, and padded with zeros. Places are addresses, distances
are in bytes. ``ITEM``, ``LANES`` and ``WIDE`` are bytes of an element, elements of a vector and columns of a tile.
"""
# mypy: ignore-errors
from __future__ import annotations

import functools
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from ..blas import blas  # noqa: F401  its functions are known then
from ..cache.symbols import maker
from ..compiler.sources import compiled_module
from ..native.int_compiler import WORD, Module, Primitive
from ..native.primitives import load
from .product_tiles import NARROW_SIZES, ROWS, VECTOR, VECTORS, TileBuilder, copy_cut, copy_padded, copy_vectors, tiles, transpose_vectors

_I32 = ir.IntType(32)

# What each type of elements has its own of: see _written and _blas_written.
ITEM = LANES = WIDE = 0
copy_whole = copy_some = copy_back = copy_one = clear_one = Primitive(print)
transpose_block = transpose_some = run_tiles = run_narrow = gemm = Primitive(print)

#: Depth of a panel that stays in the nearest cache.
DEPTH = 256

#: Bytes of a matrix that is read where it is, since it stays in the nearest cache.
NEAR = 16384

#: Elements of workspace that a part needs.
WORKSPACE = (DEPTH + 2 * ROWS) * VECTORS * VECTOR // 4


def pack_panel(b, b_row, transposed, columns, depth, column, target):
    """Columns from ``column`` on of the matrix b, or of its transpose with ``transposed``, at the address ``target``, padded with zeros.

    The matrix, transposed if need be, has ``columns`` columns; ``depth`` of its rows are wanted.
    """
    width = min(WIDE, columns - column)
    if transposed != 0:
        source = b + column * b_row
        if depth >= LANES:
            for low in range(0, depth, LANES):
                k = min(low, depth - LANES)         # the last block may begin inside the one before
                for j in range(0, WIDE, LANES):
                    block, place = source + j * b_row + k * ITEM, target + (k * WIDE + j) * ITEM
                    if j + LANES <= width:
                        transpose_block(block, b_row, place, WIDE * ITEM)
                    else:
                        transpose_some(block, b_row, place, WIDE * ITEM, width - j)
            return
        for k in range(depth):
            place = target + k * WIDE * ITEM
            for j in range(width):
                copy_one(source + j * b_row + k * ITEM, place + j * ITEM)
            for j in range(width, WIDE):
                clear_one(place + j * ITEM)
        return
    source = b + column * ITEM
    if width == WIDE:
        for k in range(depth):
            copy_whole(source + k * b_row, target + k * WIDE * ITEM)
    else:
        for k in range(depth):
            copy_some(source + k * b_row, target + k * WIDE * ITEM, width)


def _run_rows(count, depth, a, a_row, a_step, b, b_step, c, c_row, more):
    """``count`` rows of a panel at the address c, in tiles of nearly equal size."""
    if count < 1:
        return
    blocks = (count + ROWS - 1) // ROWS
    rows = count // blocks
    larger = count - rows * blocks
    if larger > 0:
        run_tiles(rows + 1, larger, depth, a, a_row, a_step, b, b_step, c, c_row, more)
    done = larger * (rows + 1)
    run_tiles(rows, blocks - larger, depth, a + done * a_row, a_row, a_step, b, b_step, c + done * c_row, c_row, more)


def _narrow_rows(left):
    """Rows of the next tile of a result of one vector or less."""
    rows = 2 * ROWS
    while rows > left:
        rows = 8 if rows == 2 * ROWS else rows // 2
    return rows


def _run_panel(count, depth, a, a_row, a_step, b, c, c_row, more, width, spare):
    """As :func:`_run_rows`, with a packed panel b; where only ``width`` columns exist, through the tile at the address ``spare``."""
    if width == WIDE:
        _run_rows(count, depth, a, a_row, a_step, b, WIDE * ITEM, c, c_row, more)
        return
    low = 0
    while low < count:
        rows = _narrow_rows(count - low) if width <= LANES else min(ROWS, count - low)
        place = c + low * c_row
        if more != 0:
            for i in range(rows):
                copy_some(place + i * c_row, spare + i * WIDE * ITEM, width)
        if width <= LANES:
            run_narrow(rows, 1, depth, a + low * a_row, a_row, a_step, b, WIDE * ITEM, spare, WIDE * ITEM, more)
        else:
            run_tiles(rows, 1, depth, a + low * a_row, a_row, a_step, b, WIDE * ITEM, spare, WIDE * ITEM, more)
        for i in range(rows):
            copy_back(spare + i * WIDE * ITEM, place + i * c_row, width)
        low += rows


def multiply(rows, columns, depth, a, a_row, a_step, b, b_row, transposed_b, c, c_row, workspace, more, part, parts):
    """Share ``part`` of ``parts`` of c = a b (+ c): columns of the result, or rows where it has too few columns."""
    panels = (columns + WIDE - 1) // WIDE
    low, high, first, last = 0, rows, 0, panels
    if panels >= 4 * parts or panels % parts == 0:
        first, last = panels * part // parts, panels * (part + 1) // parts
    else:
        low, high = rows * part // parts, rows * (part + 1) // parts
    count = high - low
    spare = workspace + DEPTH * WIDE * ITEM
    pieces = (depth + DEPTH - 1) // DEPTH
    direct = transposed_b == 0 and (count <= ROWS or depth * b_row <= NEAR)
    for panel in range(first, last):
        column = panel * WIDE
        width = min(WIDE, columns - column)
        target = c + low * c_row + column * ITEM
        k = 0
        for piece in range(pieces):
            size = depth // pieces + (1 if piece < depth % pieces else 0)
            start = a + low * a_row + k * a_step
            again = 1 if piece > 0 else more
            if direct != 0 and width == WIDE:
                _run_rows(count, size, start, a_row, a_step, b + k * b_row + column * ITEM, b_row, target, c_row, again)
            else:
                pack_panel(b + k * (ITEM if transposed_b != 0 else b_row), b_row, transposed_b, columns, size, column, workspace)
                _run_panel(count, size, start, a_row, a_step, workspace, target, c_row, again, width, spare)
            k += size


def times_packed(rows, columns, depth, a, a_row, place, c, c_row, spare, more):
    """c = a b (+ c), for b from :func:`pack_panel`, panel by panel at ``place``. ``spare`` has space for a tile."""
    pieces = (depth + DEPTH - 1) // DEPTH
    for column in range(0, columns, WIDE):
        width = min(WIDE, columns - column)
        k = 0
        for piece in range(pieces):
            size = depth // pieces + (1 if piece < depth % pieces else 0)
            _run_panel(rows, size, a + k * ITEM, a_row, ITEM, place, c + column * ITEM, c_row, 1 if piece > 0 else more, width, spare)
            place += size * WIDE * ITEM
            k += size


def _one(a, a_row, b, b_row, c, rows, columns, c_row, depth, workspace, transposed_a, transposed_b, more, part, parts):
    row = a_row if transposed_a == 0 else ITEM
    step = ITEM if transposed_a == 0 else a_row
    multiply(rows, columns, depth, a, row, step, b, b_row, transposed_b, c, c_row, workspace, more, part, parts)


def by_tiles(t, part, parts):
    """An entry: c = a b, a or b transposed if so asked. Operands: strided a, b and c, ``workspace`` for each part, two flags."""
    workspace = load(t + 120) + part * load(t + 136) * ITEM
    depth = load(t + 16) if load(t + 144) == 0 else load(t + 8)
    _one(load(t), load(t + 24), load(t + 40), load(t + 64), load(t + 80), load(t + 88), load(t + 96), load(t + 104), depth, workspace,
         load(t + 144), load(t + 152), 0, part, parts)


def _pair_by_tiles(t, i, c, workspace, more):
    """The product of pair i of a batch of matrices along two axes, at the address c."""
    k, m = i // load(t + 16), i % load(t + 16)
    _one(load(t) + k * load(t + 40) + m * load(t + 48), load(t + 56), load(t + 72) + k * load(t + 112) + m * load(t + 120),
         load(t + 128), c, load(t + 168), load(t + 176), load(t + 200), load(t + 32) if load(t + 240) == 0 else load(t + 24), workspace,
         load(t + 240), load(t + 248), more, 0, 1)


def many_by_tiles(t, part, parts):
    """Products of a batch of pairs of matrices along two axes, by tiles; this part's share of them."""
    count = load(t + 8) * load(t + 16)
    workspace = load(t + 216) + part * load(t + 232) * ITEM
    for i in range(count * part // parts, count * (part + 1) // parts):
        _pair_by_tiles(t, i, load(t + 144) + i // load(t + 16) * load(t + 184) + i % load(t + 16) * load(t + 192), workspace, 0)


def sums_by_tiles(t, part, parts):
    """Products of pairs of matrices, each added to the result of its share of the pairs: as many shares as there are results."""
    count, shares = load(t + 16), load(t + 160)
    workspace = load(t + 216) + part * load(t + 232) * ITEM
    for share in range(shares * part // parts, shares * (part + 1) // parts):
        for i in range(count * share // shares, count * (share + 1) // shares):
            _pair_by_tiles(t, i, load(t + 144) + share * load(t + 192), workspace, 1)


def by_blas(t, part, parts):
    """The entry of NumPy's BLAS: the same operands without ``workspace``; the longer side of the result is shared out."""
    _shared(load(t), load(t + 24), load(t + 40), load(t + 64), load(t + 80), load(t + 88), load(t + 96), load(t + 104),
            load(t + 16) if load(t + 120) == 0 else load(t + 8), load(t + 120), load(t + 128), 0, part, parts)


def _pair_by_blas(t, i, c, more):
    """As by tiles."""
    k, m = i // load(t + 16), i % load(t + 16)
    _shared(load(t) + k * load(t + 40) + m * load(t + 48), load(t + 56), load(t + 72) + k * load(t + 112) + m * load(t + 120),
            load(t + 128), c, load(t + 168), load(t + 176), load(t + 200), load(t + 32) if load(t + 216) == 0 else load(t + 24),
            load(t + 216), load(t + 224), more, 0, 1)


def many_by_blas(t, part, parts):
    """Products of a batch of pairs of matrices along two axes, by BLAS; this part's share of them."""
    count = load(t + 8) * load(t + 16)
    for i in range(count * part // parts, count * (part + 1) // parts):
        _pair_by_blas(t, i, load(t + 144) + i // load(t + 16) * load(t + 184) + i % load(t + 16) * load(t + 192), 0)


def sums_by_blas(t, part, parts):
    """Products of pairs of matrices, each added to the result of its share of the pairs: as many shares as there are results."""
    count, shares = load(t + 16), load(t + 160)
    for share in range(shares * part // parts, shares * (part + 1) // parts):
        for i in range(count * share // shares, count * (share + 1) // shares):
            _pair_by_blas(t, i, load(t + 144) + share * load(t + 192), 1)


def _shared(a, a_row, b, b_row, c, rows, columns, c_row, depth, transposed_a, transposed_b, more, part, parts):
    low, high, first, last = 0, rows, 0, columns
    if rows >= columns:
        low, high = rows * part // parts, rows * (part + 1) // parts
    else:
        first, last = columns * part // parts, columns * (part + 1) // parts
    if high > low and last > first:
        # A single row may have any stride, which BLAS would refuse.
        gemm(transposed_a, transposed_b, high - low, last - first, depth, a + low * (ITEM if transposed_a != 0 else a_row),
             max(a_row // ITEM, rows if transposed_a != 0 else depth), b + first * (b_row if transposed_b != 0 else ITEM),
             max(b_row // ITEM, depth if transposed_b != 0 else columns), more, c + low * c_row + first * ITEM,
             max(c_row // ITEM, columns))


_PUBLIC = (pack_panel, multiply, times_packed, by_tiles, many_by_tiles, sums_by_tiles)
_TYPES = {4: ir.FloatType(), 8: ir.DoubleType()}


def _written(size: int) -> Any:
    item, module = _TYPES[size], Module(f"products_{size}", suffix=f"_f{size}")
    run, narrow = tiles(module.llvm, item, range(1, ROWS + 1), VECTORS), tiles(module.llvm, item, NARROW_SIZES, 1)

    def made(write: Any) -> Primitive:
        return Primitive(lambda b, *words: write(TileBuilder(b, item), *words))
    pointer = item.as_pointer()
    module.constants.update(
        ITEM=size, LANES=VECTOR // size, WIDE=VECTORS * VECTOR // size, copy_whole=made(copy_vectors), copy_some=made(copy_padded),
        copy_back=made(copy_cut), transpose_block=made(transpose_vectors), transpose_some=made(transpose_vectors),
        run_tiles=Primitive(lambda b, *words: b.call(run, words)), run_narrow=Primitive(lambda b, *words: b.call(narrow, words)),
        copy_one=Primitive(lambda b, source, to: b.store(b.load(b.inttoptr(source, pointer)), b.inttoptr(to, pointer))),
        clear_one=Primitive(lambda b, to: b.store(ir.Constant(item, 0.0), b.inttoptr(to, pointer))))
    for function in _PUBLIC:
        module.function(function, public=True)
    return module.llvm


_BLAS = (by_blas, many_by_blas, sums_by_blas)


def _blas_written(size: int) -> Any:
    item = _TYPES[size]
    module = Module(f"blas_{size}", {"ITEM": size}, f"_f{size}")
    kind = ir.FunctionType(ir.VoidType(), [_I32] * 3 + [WORD] * 3 + [item] + [WORD] * 4 + [item] + [WORD] * 2)
    function = ir.Function(module.llvm, kind, "dl4py_sgemm" if size == 4 else "dl4py_dgemm")

    def gemm(b: Any, transposed_a: Any, transposed_b: Any, *words: Any) -> None:
        orders = [b.select(b.icmp_signed("!=", t, WORD(0)), _I32(112), _I32(111)) for t in (transposed_a, transposed_b)]
        kept = b.select(b.icmp_signed("!=", words[7], WORD(0)), item(1.0), item(0.0))
        b.call(function, [_I32(101), *orders, *words[:3], item(1.0), *words[3:7], kept, *words[8:]])
    module.constants["gemm"] = Primitive(gemm)
    for f in _BLAS:
        module.function(f, public=True)
    return module.llvm


@maker
@functools.cache
def addresses(size: int) -> dict[str, int]:
    """Addresses of the functions for elements of ``size`` bytes, which machine code knows as ``dl4py_<name>_f<size>`` from now on."""
    symbols = {f.__name__: f"dl4py_{f.__name__}_f{size}" for f in _PUBLIC}
    found = dict(zip(symbols, compiled_module(f"products{size}", list(symbols.values()), lambda: _written(size))))
    for name, address in found.items():
        llvm.add_symbol(symbols[name], address)
    return found


@functools.cache
def blas_addresses(size: int) -> dict[str, int]:
    """Addresses of the compiled entries that call NumPy's BLAS, by name."""
    symbols = {f.__name__: f"dl4py_{f.__name__}_f{size}" for f in _BLAS}
    return dict(zip(symbols, compiled_module(f"blas{size}", list(symbols.values()), lambda: _blas_written(size))))
