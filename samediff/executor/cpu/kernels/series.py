# mypy: ignore-errors
"""What loops over time share: series with time first, inputs next to states, gradients of weights.

Shapes: x (T, N, in), states (T, N, units), dz (T, N, columns). A share of the work is ``part`` of ``parts``: of the batch, or of the
columns of a weight.
"""
from __future__ import annotations

from ...cache import kernel
from ..blas import gemm
from ..product_tiles import get_at, lanes_of, put_at, turn_block
from ..small_products import multiply_at, pack, pack_panel, width_of

#: Multiplications up to which own products are as fast as the BLAS library.
SMALL = 32 << 20


@kernel
def share(count, part, parts):
    """The range of ``count`` things that a part has."""
    return count * part // parts, count * (part + 1) // parts


@kernel
def copy_series(x, out, part, parts):
    """Copy an array of three axes of any strides into one whose last axis is contiguous, block by block where the middle one of x is."""
    count, rows, columns = x.shape
    item, lanes = x.itemsize, lanes_of(x)
    whole_rows, whole_columns = (rows // lanes * lanes, columns // lanes * lanes) if x.strides[1] == item else (0, 0)
    low, high = share(count, part, parts)
    for k in range(low, high):
        source, target = x.ctypes.data + k * x.strides[0], out.ctypes.data + k * out.strides[0]
        for i in range(0, whole_rows, lanes):
            for j in range(0, whole_columns, lanes):
                turn_block(x, source + j * x.strides[2] + i * item, x.strides[2], target + i * out.strides[1] + j * item, out.strides[1])
        for i in range(rows):
            first = whole_columns if i < whole_rows else 0
            if x.strides[2] == item:
                for j in range(first, columns):
                    put_at(x, target + i * out.strides[1] + j * item, get_at(x, source + i * x.strides[1] + j * item))
            else:
                for j in range(first, columns):
                    out[k, i, j] = x[k, i, j]


@kernel
def pack_joined(w, rw, bias, packed, turned_w, turned_rw, part, parts):
    """Lay out the rows of w, those of rw and the bias below each other, for products with rows of input, state and a one."""
    units, columns = (rw.shape[1], rw.shape[0]) if turned_rw else rw.shape
    inputs = w.shape[1] if turned_w else w.shape[0]
    depth, wide = inputs + units + 1, width_of(packed)
    first, last = share((columns + wide - 1) // wide, part, parts)
    for panel in range(first, last):
        column, start = panel * wide, panel * wide * depth
        place = packed.ctypes.data + start * packed.itemsize
        pack_panel(packed, w.ctypes.data, w.strides[0], turned_w, columns, inputs, column, place)
        place += inputs * wide * packed.itemsize
        pack_panel(packed, rw.ctypes.data, rw.strides[0], turned_rw, columns, units, column, place)
        for j in range(wide):
            packed[start + (depth - 1) * wide + j] = bias[column + j] if column + j < columns else packed.dtype.type(0)


@kernel
def pack_back(b, packed, sums, turned, part, parts):
    """Lay out b, or its transpose with ``turned``, for the way back, and clear sums of all parts."""
    pack(b, turned, packed, part, parts)
    if part == 0:
        for k in range(sums.shape[0]):
            for i in range(sums.shape[1]):
                for j in range(sums.shape[2]):
                    sums[k, i, j] = 0


@kernel
def join(x, h, out):
    """Rows of input, state and a one."""
    inputs, units = x.shape[1], h.shape[1]
    for i in range(x.shape[0]):
        for j in range(inputs):
            out[i, j] = x[i, j]
        for j in range(units):
            out[i, inputs + j] = h[i, j]
        out[i, inputs + units] = out.dtype.type(1)


@kernel
def product(a, turn_a, b, turn_b, c, room, blas, more):
    """c = a b (+ c) on this thread, by own code or by the BLAS library, whose function is at the address ``blas`` (0: there is none)."""
    depth = a.shape[0] if turn_a else a.shape[1]
    if blas == 0 or c.shape[0] * c.shape[1] * depth <= SMALL:
        row = a.strides[0]
        a_row, a_step = (a.itemsize, row) if turn_a else (row, a.itemsize)
        multiply_at(c.shape[0], c.shape[1], depth, a.ctypes.data, a_row, a_step, b.ctypes.data, b.strides[0], turn_b, c.ctypes.data,
                    c.strides[0], room, more, 0, 1)
    else:
        gemm(blas, a, turn_a, b, turn_b, c, more)


@kernel
def weight_gradient(x, dz, dw, turned, room, blas, more, part, parts):
    """dw = x' dz for rows x and dz (+ dw); ``turned``: dw is given transposed. Parts have columns of dz."""
    low, high = share(dz.shape[1], part, parts)
    if low == high:
        return
    columns = dz[:, low:high]
    if turned:
        product(columns, True, x, False, dw[low:high], room, blas, more)
    else:
        product(x, True, columns, False, dw[:, low:high], room, blas, more)


@kernel
def gradients(x, w, h0, states, dz, dr, dx, dw, drw, db, work, turned_w, turned_dw, turned_drw, wants_dx, reverse, blas, part, parts):
    """dx, dw, drw and db from the gradients dz of the sums of all steps, and dr of those of the states alone.

    ``h0`` is empty where it is zeros. A share has rows of dx and columns of dz.
    """
    count, batch, columns = dz.shape
    rows, inputs, units = count * batch, x.shape[2], states.shape[2]
    flat, room = dz.reshape(rows, columns), work[part]
    if wants_dx:
        low, high = share(rows, part, parts)
        if low < high:
            product(flat[low:high], False, w, not turned_w, dx.reshape(rows, inputs)[low:high], room, blas, 0)
    weight_gradient(x.reshape(rows, inputs), flat, dw, turned_dw, room, blas, 0, part, parts)
    low, high = share(columns, part, parts)
    if count > 1:
        before, after = (states[1:], dr[:-1]) if reverse else (states[:-1], dr[1:])
        weight_gradient(before.reshape(rows - batch, units), after.reshape(rows - batch, columns), drw, turned_drw, room, blas, 0, part,
                        parts)
    elif turned_drw:
        drw[low:high] = 0
    else:
        drw[:, low:high] = 0
    if h0.shape[0] > 0:
        weight_gradient(h0, dr[count - 1 if reverse else 0], drw, turned_drw, room, blas, 1, part, parts)
    for j in range(low, high):
        db[j] = 0
    for i in range(rows):
        for j in range(low, high):
            db[j] += flat[i, j]
