"""Matrix products of few rows or small depth, or shares of them, for compiled code: a BLAS library is made for large ones.

``nn``, ``nt`` and ``tn`` take ``(a, b, c, work, more, part, parts)``: c = a b, with b or a transposed, plus c if ``more`` is not 0.
Rows of all arrays are contiguous and nothing is empty. Every element of c is summed in the order of the depth whatever the share,
so any number of parts gives the same bits. ``work`` has at least ``parts`` rows of :data:`ROOM` elements.

Columns of the result are worked on in panels as wide as a tile (:mod:`.product_tiles`); the piece of b that belongs to a panel is
copied into ``work``, so that it is read without gaps, transposed if need be, and padded with zeros. Weights that serve many
products are laid out so once: :func:`pack` and :func:`times_packed`.
"""
# mypy: ignore-errors
from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .product_tiles import (
    ROWS,
    VECTOR,
    VECTORS,
    copy_cut,
    copy_padded,
    copy_vectors,
    get_at,
    kept_apart,
    lanes_of,
    put_at,
    run_tiles,
    start_of,
    turn_block,
)

#: Depth of a panel that stays in the nearest cache.
DEPTH = 256

#: Elements of workspace that a part needs.
ROOM = (DEPTH + ROWS) * VECTORS * VECTOR // 4

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": {"contract"}}
plain = njit(**_OPTIONS)
_inner = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)         # called from compiled code only


@_inner
def width_of(array):
    """Columns of a tile."""
    return lanes_of(array) * VECTORS


@_inner
def pack_panel(array, b, b_row, turned, columns, depth, column, target):
    """Columns from ``column`` on of the matrix b, or of its transpose with ``turned``, at the address ``target``, padded with zeros.

    The matrix, turned if need be, has ``columns`` columns; ``depth`` of its rows are wanted.
    """
    kept_apart()
    lanes, item = lanes_of(array), array.itemsize
    wide = lanes * VECTORS
    width = min(wide, columns - column)
    if turned != 0:
        source = b + column * b_row
        whole = depth // lanes * lanes if width == wide else 0
        for k in range(0, whole, lanes):
            for j in range(0, wide, lanes):
                turn_block(array, source + j * b_row + k * item, b_row, target + (k * wide + j) * item, wide * item)
        for k in range(whole, depth):
            place = target + k * wide * item
            for j in range(width):
                put_at(array, place + j * item, get_at(array, source + j * b_row + k * item))
            for j in range(width, wide):
                put_at(array, place + j * item, array.dtype.type(0))
        return
    source = b + column * item
    if width == wide:
        for k in range(depth):
            copy_vectors(array, source + k * b_row, target + k * wide * item)
    else:
        for k in range(depth):
            copy_padded(array, source + k * b_row, target + k * wide * item, width)


@_inner
def run_rows(array, count, depth, a, a_row, a_step, b, b_step, c, c_row, more):
    """``count`` rows of a panel at the address c, in blocks of nearly equal size."""
    kept_apart()
    if count < 1:
        return
    blocks = (count + ROWS - 1) // ROWS
    rows, larger = count // blocks, count % blocks
    if larger > 0:
        run_tiles(rows + 1, larger, array, depth, a, a_row, a_step, b, b_step, c, c_row, more)
    done = larger * (rows + 1)
    run_tiles(rows, blocks - larger, array, depth, a + done * a_row, a_row, a_step, b, b_step, c + done * c_row, c_row, more)


@_inner
def run_panel(array, count, depth, a, a_row, a_step, b, c, c_row, more, width, spare):
    """The same with a packed panel b; where only ``width`` columns exist, through the tile at the address ``spare``."""
    kept_apart()
    wide = width_of(array) * array.itemsize
    if width * array.itemsize == wide:
        run_rows(array, count, depth, a, a_row, a_step, b, wide, c, c_row, more)
        return
    for low in range(0, count, ROWS):
        rows = min(ROWS, count - low)
        place = c + low * c_row
        if more != 0:
            for i in range(rows):
                copy_padded(array, place + i * c_row, spare + i * wide, width)
        run_tiles(rows, np.int64(1), array, depth, a + low * a_row, a_row, a_step, b, wide, spare, wide, more)
        for i in range(rows):
            copy_cut(array, spare + i * wide, place + i * c_row, width)


@plain
def multiply_at(rows, columns, depth, a, a_row, a_step, b, b_row, turned_b, c, c_row, room, more, part, parts):
    """Share ``part`` of ``parts`` of c = a b (+ c) at these addresses: columns of the result, or rows where it has too few columns.

    Distances are in bytes. ``room`` (1-D, :data:`ROOM`) says the element type.
    """
    kept_apart()
    item = room.itemsize
    wide = width_of(room)
    panels = (columns + wide - 1) // wide
    low, high, first, last = 0, rows, 0, panels
    if panels % parts == 0 or panels >= 4 * parts:
        first, last = panels * part // parts, panels * (part + 1) // parts
    else:
        low, high = rows * part // parts, rows * (part + 1) // parts
    count, packed = high - low, start_of(room)
    spare = packed + DEPTH * wide * item
    pieces = (depth + DEPTH - 1) // DEPTH
    direct = turned_b == 0 and count <= ROWS
    for panel in range(first, last):
        column = panel * wide
        width = min(wide, columns - column)
        target = c + low * c_row + column * item
        k = 0
        for piece in range(pieces):
            size = depth // pieces + (1 if piece < depth % pieces else 0)
            start = a + low * a_row + k * a_step
            again = 1 if piece > 0 else more
            if direct and width == wide:
                run_rows(room, count, size, start, a_row, a_step, b + k * b_row + column * item, b_row, target, c_row, again)
            else:
                pack_panel(room, b + k * (item if turned_b != 0 else b_row), b_row, turned_b, columns, size, column, packed)
                run_panel(room, count, size, start, a_row, a_step, packed, target, c_row, again, width, spare)
            k += size


@_inner
def multiply(a, turned_a, b, turned_b, c, work, more, part, parts):
    """The same of arrays."""
    row, depth = a.strides[0], a.shape[0] if turned_a else a.shape[1]
    a_row, a_step = (a.itemsize, row) if turned_a else (row, a.itemsize)
    multiply_at(c.shape[0], c.shape[1], depth, start_of(a), a_row, a_step, start_of(b), b.strides[0],
                np.int64(turned_b), start_of(c), c.strides[0], work[part], np.int64(more), np.int64(part), np.int64(parts))


@plain
def nn(a, b, c, work, more, part, parts):
    """c = a b."""
    multiply(a, False, b, False, c, work, more, part, parts)


@plain
def nt(a, b, c, work, more, part, parts):
    """c = a b', b given by rows."""
    multiply(a, False, b, True, c, work, more, part, parts)


@plain
def tn(a, b, c, work, more, part, parts):
    """c = a' b, a given by rows."""
    multiply(a, True, b, False, c, work, more, part, parts)


@plain
def packed_size(array, depth, columns):
    """Elements of a packed matrix, of the type of ``array``."""
    wide = width_of(array)
    return (columns + wide - 1) // wide * wide * depth


@plain
def pack(b, turned, packed, part, parts):
    """Lay out b, or its transpose with ``turned``, panel by panel for :func:`times_packed`."""
    depth, columns = (b.shape[1], b.shape[0]) if turned else b.shape
    wide = width_of(packed)
    panels = (columns + wide - 1) // wide
    for panel in range(panels * part // parts, panels * (part + 1) // parts):
        place = start_of(packed) + panel * wide * depth * packed.itemsize
        pack_panel(packed, start_of(b), b.strides[0], np.int64(turned), columns, depth, panel * wide, place)


@plain
def times_packed_at(rows, columns, depth, a, a_row, place, c, c_row, spare, more):
    """c = a b (+ c) at these addresses, for b from :func:`pack` at ``place``."""
    kept_apart()
    item, wide = spare.itemsize, width_of(spare)
    pieces = (depth + DEPTH - 1) // DEPTH
    for column in range(0, columns, wide):
        width = min(wide, columns - column)
        k = 0
        for piece in range(pieces):
            size = depth // pieces + (1 if piece < depth % pieces else 0)
            run_panel(spare, rows, size, a + k * item, a_row, item, place, c + column * item, c_row, 1 if piece > 0 else more, width,
                      start_of(spare))
            place += size * wide * item
            k += size


@plain
def times_packed(a, packed, c, spare, more):
    """The same of arrays. ``spare`` (1-D) has room for a tile; :data:`ROOM` is more than enough."""
    times_packed_at(c.shape[0], c.shape[1], a.shape[1], start_of(a), a.strides[0], start_of(packed), start_of(c), c.strides[0],
                    spare, np.int64(more))
