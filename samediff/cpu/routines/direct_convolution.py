"""Convolution on the CPU where windows move by one cell along rows that fill a vector: no columns are made."""
from __future__ import annotations

import copy
import itertools
import math
from typing import Any

import numpy as np

from ...base.spec import TensorSpec
from ...ir.op import Kernel
from ...plans.window_geometry import WindowGeometry
from ..code.fused import joined
from ..threads import parts
from .convolution_sizes import MULTIPLICATION, ConvolutionSizes
from .parallel_kernel import ParallelKernel

#: Bytes of images, gradients and sums that are worked on at a time: what the second cache holds, and the first.
FAR, NEAR = 1 << 19, 1 << 14

#: Where columns and BLAS are faster: more weights than this with vectors of half length, or of windows of one cell, and gradients of
#: kernels with fewer cells that reach far beyond the windows.
WEIGHTS, MANY, CELLS, BEYOND = 1 << 17, 1 << 14, 16, 1.35

#: What gradients of weights lose: inner products add up a vector's elements, which takes as long as so many vectors; BLAS has columns
#: to make for each image, and results to add, which take as long as so many maps and so many places.
SUMMED, MAPS, PLACES = 8, 14, 8


class DirectConvolution:
    """Distances that the kernels walk by, in bytes; none of them depends on the batch."""

    def __init__(self, shapes: ConvolutionSizes, lanes: int, full: bool) -> None:
        grid, self.shapes, self.full = shapes.grid, shapes, full
        self.lanes = lanes if full else lanes // 2
        self.size = shapes.dtype.numpy.itemsize
        (_, *self.kernel), _, (_, *self.before), (_, *self.dilation) = grid.window
        self.sizes, (self.rows, self.across), self.padded = grid.sizes[1:], grid.counts[1:], grid.padded[1:]
        self.needs_padding = self.padded != self.sizes
        self.nanoseconds = MULTIPLICATION * shapes.batch * shapes.channels * grid.taps * grid.places * shapes.out

    @classmethod
    def of(cls, shapes: ConvolutionSizes) -> DirectConvolution | None:
        """The direct convolution for these sizes; None where a product over columns is faster."""
        from ..matrix.tiles import lanes_of
        if shapes.grid.is_identity:
            if shapes.out * shapes.length > MANY:       # one product of matrices: BLAS is best where they are large
                return None
            shapes = _in_one_row(shapes)
        grid, full = shapes.grid, lanes_of(shapes.dtype.numpy)
        shortest = min(grid.counts[2], grid.sizes[2])
        flat = grid.window[0][0] == grid.window[1][0] == grid.sizes[0] == grid.counts[0] == 1
        if not flat or grid.window[1] != (1, 1, 1) or min(grid.window[2]) < 0 or shortest < full // 2:
            return None
        if shortest < full and shapes.out * shapes.length > WEIGHTS:
            return None
        return cls(shapes, full, shortest >= full)

    def taps(self) -> Any:
        """Offsets in bytes from the first cell of a window to each cell, in all channels."""
        height, width = self.padded
        (kh, kw), (dh, dw) = self.kernel, self.dilation
        cells = itertools.product(range(self.shapes.channels), range(kh), range(kw))
        return np.array([(c * height + p * dh) * width + q * dw for c, p, q in cells], np.int64) * self.size

    def starts(self) -> list[int]:
        """First elements of the vectors of a row."""
        whole = list(range(0, self.across - self.lanes + 1, self.lanes))
        return whole if self.across % self.lanes == 0 else [*whole, self.across - self.lanes]

    def places(self, first: int, second: int, starts: list[int]) -> Any:
        """Offsets in bytes of the vectors in two arrays whose rows have these lengths: (vectors, 2)."""
        found = [(i * first + j, i * second + j) for i in range(self.rows) for j in starts]
        return np.array(found, np.int64).reshape(-1, 2) * self.size

    def products(self, places: Any) -> Any:
        """Places as products take them: a third axis says that vectors are half as long."""
        return places if self.full else places[:, :, None]

    def padding(self, *counts: int) -> TensorSpec:
        """Memory for padded images, as many as the product of ``counts``; empty where nothing is padded."""
        shape = (*counts, self.shapes.channels, *self.padded)
        return TensorSpec(shape if self.needs_padding else (0,) * len(shape), self.shapes.dtype)

    def images(self, x: Any) -> Any:
        """Images as a contiguous array (N, C, H, W)."""
        return np.ascontiguousarray(x).reshape(-1, self.shapes.channels, *self.sizes)


def _in_one_row(shapes: ConvolutionSizes) -> ConvolutionSizes:
    """Windows of one cell, whose neighbours do not matter: images as rows of all their cells."""
    found, row = copy.copy(shapes), (1, 1, shapes.grid.places)
    found.grid = WindowGeometry(shapes.grid.window, row, row)
    return found


def forward(direct: DirectConvolution) -> Kernel:
    """``call(x, w[, bias], y, padded)``."""
    from ..kernels.direct_convolution import convolve
    s, none = direct.shapes, np.empty(0, direct.shapes.dtype.numpy)
    taps, places = direct.taps(), direct.products(direct.places(direct.padded[1], direct.across, direct.starts()))

    def operands(weights: Any, x: Any, *rest: Any) -> tuple[Any, ...]:
        b, y, padded = (none, *rest) if len(rest) == 2 else rest
        return direct.images(x), weights, np.ascontiguousarray(b).reshape(-1), s.maps(y), padded, taps, places
    shared = ParallelKernel(convolve, operands, tuple(direct.before), direct.nanoseconds)
    return _weighted(s, shared, 1, direct.padding(parts()))


def _weighted(s: ConvolutionSizes, shared: ParallelKernel, at: int, work: TensorSpec) -> Kernel:
    """A kernel whose function takes the matrix of the weights first, which are the input number ``at``, then the other arrays."""
    def call(*arrays: Any) -> None:
        shared.run(s.matrix(arrays[at]), *arrays[:at], *arrays[at + 1:])

    def native(*arrays: Any) -> list[Any] | None:
        made: list[Any] = []
        weights = s.matrix_after(arrays[at], made)
        return joined(*made, shared.instruction(weights, *arrays[:at], *arrays[at + 1:]))
    return Kernel(call, (work,), native=native)


def _flipped(direct: DirectConvolution) -> DirectConvolution | None:
    """The convolution of gradients that gives those of images; None where it computes too much outside the windows."""
    s, grid = copy.copy(direct.shapes), direct.shapes.grid
    kernel, stride, before, dilation = grid.window
    around = tuple((k - 1) * d - p for k, p, d in zip(kernel, before, dilation))
    s.grid = WindowGeometry((kernel, stride, (around[0], around[1], around[2]), dilation), grid.counts, grid.sizes)
    s.channels, s.out, s.length = s.out, s.channels, s.out * grid.taps
    found = DirectConvolution.of(s)
    width = found and -(-found.across // found.lanes) * found.lanes
    return found if width and width * grid.sizes[1] <= BEYOND * grid.places else None


def data_gradient(direct: DirectConvolution) -> Kernel | None:
    """The kernel of the gradient of x: ``call(w, g, like, dx, *work)``; None where columns are faster."""
    flipped = _flipped(direct)
    if flipped is None:
        return _summed_gradient(direct) if math.prod(direct.kernel) >= CELLS else None
    from ..kernels.direct_convolution import convolve, flip_weights
    s, none = flipped.shapes, np.empty(0, direct.shapes.dtype.numpy)
    taps, places = flipped.taps(), flipped.products(flipped.places(flipped.padded[1], flipped.across, flipped.starts()))
    weights = TensorSpec((s.out, s.length), s.dtype)
    first = ParallelKernel(flip_weights, lambda weights, work: (weights, work), (s.grid.taps,), float(s.out * s.length))

    def operands(g: Any, dx: Any, work: Any, padded: Any) -> tuple[Any, ...]:
        return flipped.images(g), work, none, s.maps(dx), padded, taps, places
    then = ParallelKernel(convolve, operands, tuple(flipped.before), flipped.nanoseconds)

    def call(w: Any, g: Any, _: Any, dx: Any, work: Any, padded: Any) -> None:
        first.run(direct.shapes.matrix(w), work)
        then.run(g, dx, work, padded)

    def native(w: Any, g: Any, _: Any, dx: Any, work: Any, padded: Any) -> Any:
        made: list[Any] = []
        weights = direct.shapes.matrix_after(w, made)
        return joined(*made, first.instruction(weights, work), then.instruction(g, dx, work, padded))
    return Kernel(call, (weights, flipped.padding(parts())), native=native)


def _summed_gradient(direct: DirectConvolution) -> Kernel:
    """The kernel of the gradient of x by sums over windows: ``call(w, g, like, dx, sums)``."""
    from ..kernels.direct_convolution import convolve_back
    s, (kh, kw) = direct.shapes, direct.kernel
    room = (kw - 1) * direct.dilation[1]
    span = direct.across + 2 * room
    together = min(s.channels, max(1, NEAR // (kh * kw * direct.rows * span * direct.size)))
    sums = TensorSpec((parts(), together * kh * kw, direct.rows, span), s.dtype)
    maps = np.arange(s.out, dtype=np.int64) * (s.grid.places * direct.size)
    places = direct.products(direct.places(direct.across, span, direct.starts()) + (0, room * direct.size))

    def operands(weights: Any, g: Any, _: Any, dx: Any, sums: Any) -> tuple[Any, ...]:
        return weights, s.maps(g), direct.images(dx), sums, maps, places
    numbers = (*direct.kernel, *direct.dilation, *direct.before)
    return _weighted(s, ParallelKernel(convolve_back, operands, numbers, direct.nanoseconds), 0, sums)


def weight_gradient(direct: DirectConvolution) -> Kernel | None:
    """``call(x, g, like, dw, padded[, total])``: ``total`` where dw is in another order than sums are."""
    from ..kernels.direct_convolution import convolve_weights
    from ..matrix.tiles import lanes_of
    s, lanes, across, wide = direct.shapes, lanes_of(direct.shapes.dtype.numpy), direct.across, direct.padded[1]
    taps, width = direct.taps(), across % lanes
    whole = direct.places(across, wide, list(range(0, across - lanes + 1, lanes)))
    places = np.concatenate([whole, direct.places(across, wide, [across - width] if width else [])])
    one = (s.channels * direct.padded[0] * wide + s.out * s.grid.places) * direct.size
    together = min(s.batch, max(1, FAR // one))
    vectors, count = len(places) * together, s.grid.places
    if across / (lanes * -(-across // lanes)) * vectors / (vectors + SUMMED) < s.out / (s.out + MAPS) * count / (count + PLACES):
        return None

    def operands(x: Any, g: Any, _: Any, dw: Any, padded: Any) -> tuple[Any, ...]:
        return direct.images(x), s.maps(g), dw.reshape(s.out, s.length), padded, taps, places
    work, numbers = direct.padding(parts(), together), (*direct.before, len(whole), width, together)
    shared = ParallelKernel(convolve_weights, operands, numbers, direct.nanoseconds, (work,))

    def call(x: Any, g: Any, like: Any, dw: Any, padded: Any, total: Any) -> None:
        if s.in_order and dw.flags.c_contiguous:
            shared.run(x, g, like, dw, padded)
            return
        shared.run(x, g, like, total, padded)
        s.store(total, dw)

    def native(x: Any, g: Any, like: Any, dw: Any, padded: Any, total: Any) -> Any:
        if s.in_order and dw.flags.c_contiguous:
            return shared.instruction(x, g, like, dw, padded)
        return joined(shared.instruction(x, g, like, total, padded), s.stored_matrix(total, dw))
    return Kernel(call, (work, TensorSpec((s.out, s.length), s.dtype)), native=native)
