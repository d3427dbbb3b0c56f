# mypy: ignore-errors
"""Pooling over three axes, forward and backward.

Shapes: x, dx (planes, depth, height, width), a plane being one channel of one image; y, dy, index (planes, layers, rows,
across).  ``window`` holds kernel, stride, padding in front and dilation, each of three axes; padding behind follows from
the shape of y.  Cells outside the image take no part.

Arrays are taken flat with unsigned places: signed ones are checked for being negative, which costs vector code.
"""
from __future__ import annotations

import numpy as np

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from ..library.address import in_line
from ..library.intrinsics import select, vmax
from .time_loops import share
from .window_bounds import inside

U = np.uintp
NARROW = 16  # rows of fewer outputs are worked out one by one
WIDE = 8     # for sums, which are cheaper
inline = function(forceinline=True, error_model="numpy", fastmath={"contract"})


@inline
def _pairs(source, top, bottom, target, places, to, outputs, place, width):
    """A row of outputs of a 2 x 2 window with stride 2 inside the image: the usual case, in registers."""
    for j in range(outputs):
        a, b = source[U(top + 2 * j)], source[U(top + 2 * j + 1)]
        c, d = source[U(bottom + 2 * j)], source[U(bottom + 2 * j + 1)]
        upper, lower = vmax(a, b), vmax(c, d)
        target[U(to + j)] = vmax(upper, lower)
        right, under = select(b > a, np.int32(1), np.int32(0)), select(d > c, np.int32(width + 1), np.int32(width))
        places[U(to + j)] = np.int32(place + 2 * j) + select(lower > upper, under, right)


@inline
def _better(source, at, step, target, places, to, place, low, high):
    """Update a row of maxima, and their positions, with one cell of each window."""
    for j in range(low, high):
        v, best, known = source[U(at + j * step)], target[U(to + j)], places[U(to + j)]
        places[U(to + j)] = select((v > best) | (known < 0), np.int32(place + j * step), known)
        target[U(to + j)] = vmax(best, v)


@inline
def _added(source, at, step, target, to, low, high):
    """Add one cell of each window to a row of sums."""
    for j in range(low, high):
        target[U(to + j)] += source[U(at + j * step)]


@inline
def _largest(source, start, corner, deep, tall, wide):
    """Largest value of one window and its place; ``deep``, ``tall`` and ``wide`` are first and last cell, and their distance."""
    best, place = source.dtype.type(-np.inf), np.int32(-1)
    if deep[0] < deep[1] and tall[0] < tall[1] and wide[0] < wide[1]:
        place = np.int32(corner + deep[0] * deep[2] + tall[0] * tall[2] + wide[0] * wide[2])
    for o in range(deep[0], deep[1]):
        for p in range(tall[0], tall[1]):
            row = corner + o * deep[2] + p * tall[2]
            most, where = source.dtype.type(-np.inf), np.int32(-1)      # maximum of each row, so that rows do not depend on each other
            for q in range(wide[0], wide[1]):
                v = source[U(start + row + q * wide[2])]
                where = select(v > most, np.int32(row + q * wide[2]), where)
                most = vmax(most, v)
            place = select(most > best, where, place)
            best = vmax(best, most)
    return best, place


@inline
def _any_nan(target, to, outputs):
    """Whether a row of outputs contains NaN; written as a sum, which compiles to vector code."""
    found = np.int32(0)
    for j in range(outputs):
        found |= select(target[U(to + j)] == target[U(to + j)], np.int32(0), np.int32(1))
    return found != 0


@function(error_model="numpy")
def _first_nan(source, start, corner, deep, tall, wide):
    """The place of the first NaN of a window that has one."""
    for o in range(deep[0], deep[1]):
        for p in range(tall[0], tall[1]):
            for q in range(wide[0], wide[1]):
                place = corner + o * deep[2] + p * tall[2] + q * wide[2]
                if np.isnan(source[U(start + place)]):
                    return np.int32(place)
    return np.int32(-1)


@inline
def _total(source, corner, deep, tall, wide):
    """Sum over one window."""
    total = source.dtype.type(0)
    for o in range(deep[0], deep[1]):
        for p in range(tall[0], tall[1]):
            row = corner + o * deep[2] + p * tall[2]
            for q in range(wide[0], wide[1]):
                total += source[U(row + q * wide[2])]
    return total


@kernel
def max_pool(x, y, index, window):
    """y = largest value of each window (NaN wins), index (int32) = its place in the plane, of equal ones the first.

    A window without a cell inside has the place -1.  Places of NaN are looked for afterwards: they are rare, and to compare
    for them at each cell costs a tenth of the time.
    """
    (kd, kh, kw), (sd, sh, sw), (pd, ph, pw), (dd, dh, dw) = window
    depth, height, width = x.shape[1], x.shape[2], x.shape[3]
    layers, rows, across = y.shape[1], y.shape[2], y.shape[3]
    source, target, places = in_line(x), in_line(y), in_line(index)
    pairs = kd == 1 and kh == 2 and kw == 2 and sw == 2 and dh == 1 and dw == 1 and pw == 0 and 2 * across <= width
    to = 0
    for plane in range(x.shape[0]):
        start = plane * depth * height * width
        for h in range(layers):
            front, back = inside(h * sd - pd, dd, depth, kd)
            for i in range(rows):
                first, last = inside(i * sh - ph, dh, height, kh)
                layer, line = (front, back, dd * height * width), (first, last, dh * width)
                corner = ((h * sd - pd) * height + i * sh - ph) * width - pw
                if pairs and front < back and 0 <= i * sh - ph < height - 1:
                    _pairs(source, start + corner, start + corner + width, target, places, to, across, corner, width)
                elif across < NARROW:
                    for j in range(across):
                        left, right = inside(j * sw - pw, dw, width, kw)
                        target[U(to + j)], places[U(to + j)] = _largest(source, start, corner + j * sw, layer, line, (left, right, dw))
                else:
                    for j in range(across):
                        target[U(to + j)], places[U(to + j)] = -np.inf, np.int32(-1)
                    for o in range(front, back):
                        for p in range(first, last):
                            for q in range(kw):
                                low, high = inside(q * dw - pw, sw, width, across)
                                at = corner + o * layer[2] + p * line[2] + q * dw
                                if sw == 1:
                                    _better(source, start + at, 1, target, places, to, at, low, high)
                                elif sw == 2:
                                    _better(source, start + at, 2, target, places, to, at, low, high)
                                else:
                                    _better(source, start + at, sw, target, places, to, at, low, high)
                for j in range(across if _any_nan(target, to, across) else 0):
                    if np.isnan(target[U(to + j)]):
                        left, right = inside(j * sw - pw, dw, width, kw)
                        places[U(to + j)] = _first_nan(source, start, corner + j * sw, layer, line, (left, right, dw))
                to += across


@kernel
def max_pool_backward(dy, index, dx):
    """dx = dy, added up at the places that were largest."""
    size, cells = dx[0].size, dy[0].size
    source, places, target = in_line(dy), in_line(index), in_line(dx)
    target[:] = 0
    for plane in range(dx.shape[0]):
        for k in range(plane * cells, (plane + 1) * cells):
            if places[U(k)] >= 0:
                target[U(plane * size + places[U(k)])] += source[U(k)]


@kernel
def taken(values, index, y):
    """y = values at the places of the index, 0 where there is none."""
    size, cells = values[0].size, y[0].size
    source, places, target = in_line(values), in_line(index), in_line(y)
    zero = values.dtype.type(0)
    for plane in range(y.shape[0]):
        for k in range(plane * cells, (plane + 1) * cells):
            target[U(k)] = source[U(plane * size + places[U(k)])] if places[U(k)] >= 0 else zero


@kernel
def window_sum(x, y, near, down, over, window):
    """y = sum of each window, times the share that it has along each axis (``near`` layers, ``down`` rows, ``over``)."""
    (kd, kh, kw), (sd, sh, sw), (pd, ph, pw), (dd, dh, dw) = window
    depth, height, width = x.shape[1], x.shape[2], x.shape[3]
    layers, rows, across = y.shape[1], y.shape[2], y.shape[3]
    source, target = in_line(x), in_line(y)
    to = 0
    for plane in range(x.shape[0]):
        for h in range(layers):
            front, back = inside(h * sd - pd, dd, depth, kd)
            for i in range(rows):
                first, last = inside(i * sh - ph, dh, height, kh)
                factor = near[h] * down[i]
                if across < WIDE:
                    for j in range(across):
                        left, right = inside(j * sw - pw, dw, width, kw)
                        corner = ((plane * depth + h * sd - pd) * height + i * sh - ph) * width + j * sw - pw
                        found = _total(source, corner, (front, back, dd * height * width), (first, last, dh * width), (left, right, dw))
                        target[U(to + j)] = found * (factor * over[U(j)])
                    to += across
                    continue
                for j in range(across):
                    target[U(to + j)] = 0
                for o in range(front, back):
                    for p in range(first, last):
                        at = ((plane * depth + h * sd - pd + o * dd) * height + i * sh - ph + p * dh) * width
                        for q in range(kw):
                            shift = q * dw - pw
                            low, high = inside(shift, sw, width, across)
                            if sw == 1:
                                _added(source, at + shift, 1, target, to, low, high)
                            elif sw == 2:
                                _added(source, at + shift, 2, target, to, low, high)
                            else:
                                _added(source, at + shift, sw, target, to, low, high)
                for j in range(across):
                    target[U(to + j)] *= factor * over[U(j)]
                to += across


@kernel
def window_spread(dy, dx, room, near, down, over, window, part, parts):
    """dx = dy times its shares, added to each cell of its window (the transpose of :func:`window_sum`).

    ``room``: memory for a row of windows for each part.
    """
    (kd, kh, kw), (sd, sh, sw), (pd, ph, pw), (dd, dh, dw) = window
    depth, height, width = dx.shape[1], dx.shape[2], dx.shape[3]
    layers, rows, across = dy.shape[1], dy.shape[2], dy.shape[3]
    source, target, shares = in_line(dy), in_line(dx), room[part]
    first_plane, last_plane = share(dx.shape[0], part, parts)
    target[first_plane * depth * height * width : last_plane * depth * height * width] = 0
    at = first_plane * layers * rows * across
    for plane in range(first_plane, last_plane):
        for h in range(layers):
            front, back = inside(h * sd - pd, dd, depth, kd)
            for i in range(rows):
                factor = near[h] * down[i]
                for j in range(across):
                    shares[U(j)] = source[U(at + j)] * (factor * over[U(j)])
                first, last = inside(i * sh - ph, dh, height, kh)
                for o in range(front, back):
                    for p in range(first, last):
                        to = ((plane * depth + h * sd - pd + o * dd) * height + i * sh - ph + p * dh) * width
                        for q in range(kw):
                            shift = to + q * dw - pw
                            low, high = inside(q * dw - pw, sw, width, across)
                            if sw == 1:
                                for j in range(low, high):
                                    target[U(shift + j)] += shares[U(j)]
                            else:
                                for j in range(low, high):
                                    target[U(shift + j * sw)] += shares[U(j)]
                at += across
