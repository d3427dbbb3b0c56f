"""Sizes of convolutions on the CPU, and how their images are divided."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import TensorSpec
from ...plans.window_geometry import WindowGeometry
from ..code.fused import laid_out, stored, writable
from ..threads import parts_for, ranges, run_parts

if TYPE_CHECKING:
    from ...ops.conv.convolving import Geometry

#: Nanoseconds of a multiplication.
MULTIPLICATION = 0.025

#: Bytes of columns that are worked on at a time.
COLUMN_BYTES = 1 << 20


class ConvolutionSizes:
    """Sizes of one convolution."""

    def __init__(self, geometry: Geometry, x: TensorSpec, w: TensorSpec, grid: WindowGeometry) -> None:
        _, _, self.out = geometry.weight_sizes(w.shape or ())
        self.grid, self.dtype = grid, x.dtype
        self.batch, self.channels = (x.shape or ())[:2]
        self.length = self.channels * grid.taps
        per_image = max(self.length * grid.places * x.dtype.numpy.itemsize, 1)
        self.chunk = max(1, min(self.batch, COLUMN_BYTES // per_image))
        self.direct = grid.is_identity
        self.shares = min(parts_for(MULTIPLICATION * self.batch * self.length * grid.places * self.out), self.batch)
        axes = tuple(range(len(w.shape or ())))
        kernel_first, kernel_last = (axes[-1], axes[-2], *axes[:-2]), (axes[0], axes[-1], *axes[1:-1])
        self.axes = {"OIYX": axes, "YXIO": kernel_first, "OYXI": kernel_last}[geometry.weights_format]
        self.in_order = self.axes == axes

    def columns(self) -> TensorSpec:
        grid = self.grid
        return TensorSpec((self.shares, self.chunk * self.channels, *grid.window[0], *grid.counts), self.dtype)

    def planes(self, x: Any) -> Any:
        """A contiguous (N * C, D, H, W)."""
        return np.ascontiguousarray(x).reshape(-1, *self.grid.sizes)

    def maps(self, y: Any) -> Any:
        """Results as a contiguous array (N, out, places)."""
        return np.ascontiguousarray(y).reshape(self.batch, self.out, self.grid.places)

    def matrix(self, w: Any) -> Any:
        """Weights as (out, in * taps); a view for OIYX."""
        return np.ascontiguousarray(w.transpose(self.axes)).reshape(self.out, self.length)

    def matrix_after(self, w: Any, made: list[Any]) -> Any:
        """The same after the instructions that are added to ``made``: a copy where the weights are in another format."""
        return writable(laid_out(w.transpose(self.axes), made)).reshape(self.out, self.length)

    def stored_matrix(self, matrix: Any, w: Any) -> Any:
        """The instruction of :meth:`store`."""
        plain = w.transpose(self.axes)
        return stored(matrix.reshape(plain.shape), plain)

    def store(self, matrix: Any, w: Any) -> None:
        """Write (out, in * taps) into an array in the format of the weights."""
        plain = w.transpose(self.axes)
        plain[...] = matrix.reshape(plain.shape)

    def run(self, call: Callable[[int, int, int], None]) -> None:
        """``call(share, low, high)`` for images from low to high, some at a time, until all are done."""
        def share(k: int, first: int, last: int) -> None:
            for low in range(first, last, self.chunk):
                call(k, low, min(low + self.chunk, last))
        run_parts(share, ranges(self.batch, self.shares))
