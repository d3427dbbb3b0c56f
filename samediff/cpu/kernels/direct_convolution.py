# mypy: ignore-errors
"""Convolution with stride 1 without columns: windows are read where they lie, blocks of results stay in registers.

Shapes: x, dx (batch, channels, height, width); y, dy (batch, out, windows); w, dw (out, channels * taps).

``taps`` are the distances in bytes from the first cell of a window to each of its cells in all channels, ``places`` (vectors, 2) those
of vectors in the two arrays that a kernel walks along. Rows of windows are no shorter than a vector, and the last vector of a row may
overlap the one before; vectors are half as long as the CPU has them where ``places`` has a third axis. Shares write what no other
share writes, and results do not depend on their number; those for which there is no memory are idle.
"""
from __future__ import annotations

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from ..matrix.tiles import ACROSS, DOWN, ROWS, inner_products, products, shifted_sum

inline = function(forceinline=True, error_model="numpy")

#: Factors of a row that are worked on at a time, so that those of a block stay in the nearest cache.
DEPTH = 640


@inline
def _rows(zero, rows, count, a, down, along, table, places, source, target, next_row, first):
    """Up to ROWS rows of products for all places; ``first``: what the sums start with."""
    chunks = (count + DEPTH - 1) // DEPTH
    for chunk in range(chunks):
        low, high = count * chunk // chunks, count * (chunk + 1) // chunks
        start = first if chunk == 0 else 1
        left, shifts = a + low * along, table.ctypes.data + low * table.itemsize
        products(zero, places, rows, high - low, left, down, along, shifts, places.ctypes.data, places.shape[0], source, target,
                 next_row, start)


@inline
def _padded(image, top, left, target):
    """Copy an image into the inside of a padded one."""
    for c in range(image.shape[0]):
        for i in range(image.shape[1]):
            for j in range(image.shape[2]):
                target[c, top + i, left + j] = image[c, i, j]


@kernel
def convolve(x, w, bias, y, work, taps, places, top, left, part, parts):
    """y = x under w, plus a bias unless that is empty.

    ``work`` (shares, channels, padded height, padded width) is empty without padding. places: in an image and in a map.
    """
    zero, size = w[0, 0], x.itemsize
    batch, out, depth = x.shape[0], w.shape[0], w.shape[1]
    blocks = (out + ROWS - 1) // ROWS
    next_row = y.shape[2] * size
    padded = work.shape[0] > 0
    if padded:
        parts = min(parts, work.shape[0])
        if part >= parts:
            return
        work[part] = 0
    image, known = x.ctypes.data, -1
    for unit in range(batch * blocks * part // parts, batch * blocks * (part + 1) // parts):
        n, block = unit // blocks, unit % blocks
        if n != known:
            known, image = n, x[n].ctypes.data
            if padded:
                _padded(x[n], top, left, work[part])
                image = work[part].ctypes.data
        low, high = out * block // blocks, out * (block + 1) // blocks
        first = bias.ctypes.data + low * size if bias.shape[0] > 0 else 0
        _rows(zero, high - low, depth, w.ctypes.data + low * depth * size, depth * size, size, taps, places, image,
              y[n].ctypes.data + low * next_row, next_row, first)


@kernel
def flip_weights(w, flipped, taps, part, parts):
    """Weights through which dy, padded, gives dx: flipped (channels, out * taps) has channels and maps swapped, windows reversed."""
    out, channels = w.shape[0], flipped.shape[0]
    for c in range(channels * part // parts, channels * (part + 1) // parts):
        for o in range(out):
            for t in range(taps):
                flipped[c, o * taps + t] = w[o, c * taps + taps - 1 - t]


@kernel
def convolve_back(w, dy, dx, work, maps, places, kh, kw, dh, dw, ph, pw, part, parts):
    """dx = dy through the transposed w: what each cell of the kernel gives to all windows, then sums of that.

    ``work`` (shares, channels at a time * taps, rows of windows, their length with room for the kernel at both sides); ``maps``:
    distances of the channels of dy; places: in a map and in ``work``; kh, dh and ph: size of the kernel, dilation and padding in front.
    """
    zero, size = w[0, 0], w.itemsize
    batch, channels, height, width = dx.shape
    out, depth = w.shape[0], w.shape[1]
    taps = kh * kw
    together, windows, span = work.shape[1] // taps, work.shape[2], work.shape[3]
    parts = min(parts, work.shape[0])
    if part >= parts:
        return
    work[part] = 0
    groups = (channels + together - 1) // together
    line, plane = span * size, windows * span * size
    next_row, next_cell = kw * plane - dh * line, plane - dw * size
    for unit in range(batch * groups * part // parts, batch * groups * (part + 1) // parts):
        n, group = unit // groups, unit % groups
        begin, end = channels * group // groups, channels * (group + 1) // groups
        count = (end - begin) * taps
        blocks = (count + ROWS - 1) // ROWS
        target = work[part].ctypes.data
        for block in range(blocks):
            low, high = count * block // blocks, count * (block + 1) // blocks
            _rows(zero, high - low, out, w.ctypes.data + (begin * taps + low) * size, size, depth * size, maps, places,
                  dy[n].ctypes.data, target + low * plane, plane, 0)
        for c in range(begin, end):
            for i in range(height):
                # cell p of the kernel sees row i from the window that starts at row i + ph - p * dh of the padded image
                low = max(0, (i + ph - windows) // dh + 1)
                high = min(kh - 1, (i + ph) // dh)
                first = ((c - begin) * taps + low * kw) * plane + (i + ph - low * dh) * line + ((kw - 1) * dw + pw) * size
                to = dx[n, c, i].ctypes.data
                shifted_sum(zero, places, target + first, high + 1 - low, next_row, kw, next_cell, to, width * size)


@kernel
def convolve_weights(x, dy, dw, work, taps, places, top, left, full, width, together, part, parts):
    """dw = sum over images and windows of x times dy.

    ``work`` (shares, images at a time, channels, padded height, padded width) is empty without padding. places: in a map and in an
    image, ``full`` ones of whole vectors, then those of the last ``width`` elements of rows. ``together``: images at a time.
    """
    zero, size = x[0, 0, 0, 0], x.itemsize
    batch, out, depth = x.shape[0], dw.shape[0], dw.shape[1]
    windows = dy.shape[2]
    padded = work.shape[0] > 0
    rows, columns = (out + DOWN - 1) // DOWN, (depth + ACROSS - 1) // ACROSS
    rest = places.shape[0] - full
    next_image = x[0].size * size
    if padded:
        parts = min(parts, work.shape[0])
        if part >= parts:
            return
        work[part] = 0
        next_image = work[0, 0].size * size
    for n in range(0, batch, together):
        count = min(together, batch - n)
        images = x[n].ctypes.data
        if padded:
            for k in range(count):
                _padded(x[n + k], top, left, work[part, k])
            images = work[part].ctypes.data
        for unit in range(rows * columns * part // parts, rows * columns * (part + 1) // parts):
            row, column = unit // columns, unit % columns
            low, high = out * row // rows, out * (row + 1) // rows
            begin, end = depth * column // columns, depth * (column + 1) // columns
            inner_products(zero, high - low, end - begin, count, dy[n, low].ctypes.data, images, out * windows * size, next_image,
                           windows * size, taps.ctypes.data + begin * taps.itemsize, places.ctypes.data, full, rest, width,
                           dw[low].ctypes.data + begin * size, depth * size, n)
