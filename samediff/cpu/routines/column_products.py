"""Convolutions as products over columns, in the instructions of native programs: some images at a time, each instruction in parts."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..code.fused import added, joined, stored
from ..matrix.matrix_product import product, sums_of_products
from .convolution_sizes import ConvolutionSizes
from .sliced import SlicedKernel, are_dense

if TYPE_CHECKING:
    from ..native.instruction import Instruction


def forward(s: ConvolutionSizes, x: Any, w: Any, b: Any, y: Any, columns: Any) -> list[Any] | None:
    """y = w over the columns of x, plus b; None where arrays are not dense."""
    from ..kernels.im2col import im2col
    if not are_dense((x, y)):
        return None
    made: list[Any] = []
    x, weights, result = s.planes(x), s.matrix_after(w, made), s.maps(y)
    for low, high, room in _chunks(s, columns):
        cells = x[low * s.channels:high * s.channels]
        if not s.direct:
            made.append(SlicedKernel(im2col, (cells, room), (), (s.grid.window,)).instruction())
            cells = room
        made.append(product(stacked(weights, high - low), cells.reshape(high - low, s.length, s.grid.places), result[low:high]))
    return joined(*made, *([] if b is None else [added(b.reshape(-1, 1), result)]))


def data_gradient(s: ConvolutionSizes, w: Any, g: Any, dx: Any, columns: Any) -> list[Any] | None:
    """dx: the columns of what w gives back for g, added up."""
    from ..kernels.im2col import col2im
    if not are_dense((g, dx)):
        return None
    made: list[Any] = []
    weights, g, images = s.matrix_after(w, made).T, s.maps(g), s.planes(dx)
    for low, high, room in _chunks(s, columns):
        target = images[low * s.channels:high * s.channels]
        cells = target if s.direct else room
        made.append(product(stacked(weights, high - low), g[low:high], cells.reshape(high - low, s.length, s.grid.places)))
        if not s.direct:
            made.append(SlicedKernel(col2im, (cells, target), (), (s.grid.window,)).instruction())
    return joined(*made)


def weight_gradient(s: ConvolutionSizes, x: Any, g: Any, dw: Any, columns: Any, totals: Any) -> list[Any] | None:
    """dw: the sum over images of g by the columns of x."""
    from ..kernels.im2col import im2col
    if not are_dense((x, g)):
        return None
    made: list[Any] = []
    x, g = s.planes(x), s.maps(g)
    for low, high, cells in _chunks(s, columns):
        images = x[low * s.channels:high * s.channels]
        if s.direct:
            cells = images
        else:
            made.append(SlicedKernel(im2col, (images, cells), (), (s.grid.window,)).instruction())
        made.append(sums_of_products(g[low:high], cells.reshape(high - low, s.length, s.grid.places).swapaxes(1, 2), totals))
    return joined(cleared(totals), *made, joined_shares(totals), s.stored_matrix(totals[0], dw))


def cleared(totals: Any) -> Instruction | None:
    """The instruction that makes the totals of all shares 0."""
    return stored(np.zeros((), totals.dtype), totals)


def joined_shares(totals: Any) -> list[Any] | None:
    """Instructions that add the totals of all shares to the first one."""
    return joined(*(added(other, totals[0]) for other in totals[1:]))


def stacked(matrix: Any, count: int) -> Any:
    """The matrix for each of so many products: a view."""
    return np.broadcast_to(matrix, (count, *matrix.shape))


def _chunks(s: ConvolutionSizes, columns: Any) -> Iterator[tuple[int, int, Any]]:
    """First and last image of each chunk, and memory for its columns."""
    room = columns.reshape(-1, *columns.shape[2:])
    together = s.batch if s.direct else len(room) // s.channels
    for low in range(0, s.batch, together):
        high = min(low + together, s.batch)
        yield low, high, room[:(high - low) * s.channels]
