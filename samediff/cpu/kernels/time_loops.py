# mypy: ignore-errors
"""Helpers of loops over time: series with time first, inputs next to states, gradients of weights.

Shapes: x (T, N, in), states (T, N, units), dz (T, N, columns). A share of the work is ``part`` of ``parts``: of the batch, or of the
columns of a weight.
"""
from __future__ import annotations

import numpy as np

from ..blas.blas import product_at
from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from ..library.address import matrix
from ..matrix.product_tiles import get_at, lanes_of, never_inlined, put_at, start_of, transpose_block
from ..matrix.small_products import multiply_at, pack, pack_panel, width_of

#: Multiplications up to which own products are as fast as the BLAS library.
SMALL = 32 << 20

# Numbers of a type: Numba compiles a function anew for each literal that it is given.
NONE, ONE = np.int64(0), np.int64(1)


@function(forceinline=True, error_model="numpy")
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
        source, target = start_of(x) + k * x.strides[0], start_of(out) + k * out.strides[0]
        for i in range(0, whole_rows, lanes):
            for j in range(0, whole_columns, lanes):
                transpose_block(x, source + j * x.strides[2] + i * item, x.strides[2], target + i * out.strides[1] + j * item,
                                out.strides[1])
        for i in range(rows):
            first = whole_columns if i < whole_rows else 0
            if x.strides[2] == item:
                for j in range(first, columns):
                    put_at(x, target + i * out.strides[1] + j * item, get_at(x, source + i * x.strides[1] + j * item))
            else:
                for j in range(first, columns):
                    out[k, i, j] = x[k, i, j]


@kernel
def pack_joined(w, rw, bias, packed, transposed_w, transposed_rw, part, parts):
    """Lay out the rows of w, those of rw and the bias below each other, for products with rows of input, state and a one."""
    units, columns = (rw.shape[1], rw.shape[0]) if transposed_rw else rw.shape
    inputs = w.shape[1] if transposed_w else w.shape[0]
    depth, wide = inputs + units + 1, width_of(packed)
    first, last = share((columns + wide - 1) // wide, part, parts)
    for panel in range(first, last):
        column, start = panel * wide, panel * wide * depth
        place = start_of(packed) + start * packed.itemsize
        pack_panel(packed, start_of(w), w.strides[0], ONE if transposed_w else NONE, columns, inputs, column, place)
        place += inputs * wide * packed.itemsize
        pack_panel(packed, start_of(rw), rw.strides[0], ONE if transposed_rw else NONE, columns, units, column, place)
        for j in range(wide):
            packed[start + (depth - 1) * wide + j] = bias[column + j] if column + j < columns else packed.dtype.type(0)


@kernel
def pack_back(b, packed, sums, transposed, part, parts):
    """Lay out b, or its transpose with ``transposed``, for the way back, and clear sums of all parts."""
    pack(b, transposed, packed, part, parts)
    if part == 0:
        for k in range(sums.shape[0]):
            for i in range(sums.shape[1]):
                for j in range(sums.shape[2]):
                    sums[k, i, j] = 0


@kernel
def join(x, h, out):
    """Rows of input, state and a one."""
    never_inlined()
    inputs, units = x.shape[1], h.shape[1]
    for i in range(x.shape[0]):
        for j in range(inputs):
            out[i, j] = x[i, j]
        for j in range(units):
            out[i, inputs + j] = h[i, j]
        out[i, inputs + units] = out.dtype.type(1)


@kernel
def product(rows, columns, depth, a, a_row, transpose_a, b, b_row, transpose_b, c, c_row, workspace, blas, more):
    """c = a b (+ c) at these addresses on this thread, by own code or by the BLAS library, whose function is at the address ``blas``.

    Distances are in bytes, 0 or 1 says which matrix is given transposed, and ``blas`` is 0 where there is no library.
    """
    never_inlined()
    item = workspace.itemsize
    if blas == 0 or rows * columns * depth <= SMALL:
        a_here, a_step = (item, a_row) if transpose_a != 0 else (a_row, item)
        multiply_at(workspace, rows, columns, depth, a, a_here, a_step, b, b_row, transpose_b, c, c_row,
                    start_of(workspace), more, NONE, ONE)
    else:
        a_least, b_least = rows if transpose_a != 0 else depth, depth if transpose_b != 0 else columns
        product_at(workspace, blas, transpose_a != 0, transpose_b != 0, rows, columns, depth, a, max(a_row // item, a_least), b,
                   max(b_row // item, b_least), workspace.dtype.type(more), c, max(c_row // item, columns))


@kernel
def weight_gradient(rows, x, x_row, inputs, dz, dz_row, columns, dw, dw_row, transposed, workspace, blas, more, part, parts):
    """dw = x' dz (+ dw) for ``rows`` rows at these addresses; ``transposed`` is 1 where dw is given so. Parts have columns of dz."""
    never_inlined()
    low, high = share(columns, part, parts)
    item = workspace.itemsize
    if low == high:
        return
    if transposed != 0:
        product(high - low, inputs, rows, dz + low * item, dz_row, ONE, x, x_row, NONE, dw + low * dw_row, dw_row, workspace, blas, more)
    else:
        product(inputs, high - low, rows, x, x_row, ONE, dz + low * item, dz_row, NONE, dw + low * item, dw_row, workspace, blas, more)


@kernel
def gradients(x, w, h0, states, dz, dr, dx, dw, drw, db, work, transposed_w, transposed_dw, transposed_drw, wants_dx, reverse, blas,
              part, parts):
    """dx, dw, drw and db from the gradients dz of the sums of all steps, and dr of those of the states alone.

    ``h0`` is empty where it is zeros. A share has rows of dx and columns of dz.
    """
    count, batch, columns = dz.shape
    rows, inputs, units, item = count * batch, x.shape[2], states.shape[2], dz.itemsize
    flat, workspace, wide = matrix(dz, rows, columns), work[part], columns * item
    w_flag, dw_flag, drw_flag = ONE if transposed_w else NONE, ONE if transposed_dw else NONE, ONE if transposed_drw else NONE
    if wants_dx:
        low, high = share(rows, part, parts)
        if low < high:
            product(high - low, inputs, columns, start_of(dz) + low * wide, wide, NONE, start_of(w), w.strides[0], 1 - w_flag,
                    start_of(dx) + low * inputs * item, inputs * item, workspace, blas, NONE)
    weight_gradient(rows, start_of(x), inputs * item, inputs, start_of(dz), wide, columns, start_of(dw), dw.strides[0], dw_flag, workspace,
                    blas, NONE, part, parts)
    low, high = share(columns, part, parts)
    step = batch * units * item, batch * wide
    if count > 1:
        before, after = (start_of(states) + step[0], start_of(dr)) if reverse else (start_of(states), start_of(dr) + step[1])
        weight_gradient(rows - batch, before, units * item, units, after, wide, columns, start_of(drw), drw.strides[0], drw_flag, workspace,
                        blas, NONE, part, parts)
    elif drw_flag != 0:
        drw[low:high] = 0
    else:
        drw[:, low:high] = 0
    if h0.shape[0] > 0:
        first = start_of(dr) + ((count - 1) * step[1] if reverse else 0)
        weight_gradient(batch, start_of(h0), units * item, units, first, wide, columns, start_of(drw), drw.strides[0], drw_flag, workspace,
                        blas, ONE, part, parts)
    for j in range(low, high):
        db[j] = 0
    for i in range(rows):
        for j in range(low, high):
            db[j] += flat[i, j]
