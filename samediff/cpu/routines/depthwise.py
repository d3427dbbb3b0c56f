"""Convolution of each channel by itself on the CPU; images are channels first."""
from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...ir.op import Kernel
from ...plans.window_geometry import WindowGeometry

if TYPE_CHECKING:
    from ...ops.conv.convolving import Geometry

#: Windows that are further apart leave too much between them, all of which the kernels work out.
WIDEST_STEP = 16


def served(geometry: Geometry, x: TensorSpec, w: TensorSpec, *others: TensorSpec | None) -> WindowGeometry | None:
    """The windows, when convolution kernels serve arrays like these."""
    given = [s for s in (x, w, *others) if s is not None]
    if any(not s.is_static or s.dtype is not x.dtype for s in given) or x.dtype not in (DataType.FLOAT, DataType.DOUBLE):
        return None
    shape = x.shape or ()
    if 0 in (*shape, *(w.shape or ())) or geometry.channels_last:
        return None
    return WindowGeometry.of(geometry.window, shape[2:])


class _Flat:
    """Windows as places in a padded plane that is taken flat."""

    def __init__(self, geometry: Geometry, x: TensorSpec, w: TensorSpec, grid: WindowGeometry) -> None:
        kernel, stride, before, dilation = grid.window
        size = grid.padded
        _, channels, multiplier = geometry.weight_sizes(w.shape or ())
        self.geometry, self.grid, self.dtype = geometry, grid, x.dtype.numpy
        self.matrix = (channels, multiplier, grid.taps)
        self.images, self.maps = (-1, channels, *grid.sizes), (-1, channels * multiplier, *grid.counts)

        def place(cell: tuple[int, ...]) -> int:
            return (cell[0] * size[1] + cell[1]) * size[2] + cell[2]
        offsets = [place(tuple(k * d for k, d in zip(tap, dilation))) for tap in itertools.product(*map(range, kernel))]
        starts = [place((h * stride[0], i * stride[1], 0)) for h, i in itertools.product(*map(range, grid.counts[:2]))]
        self.places = (before, size, np.array(offsets), np.array(starts), stride[2])
        self.together = len(starts) if stride[:2] == (1, 1) else 1

    def weights(self, w: Any) -> Any:
        """Weights as an array (channels, multiplier, taps)."""
        plain = np.moveaxis(self.geometry.plain_weights(np, w), (-2, -1), (0, 1))
        return np.ascontiguousarray(plain).reshape(self.matrix)

    def store(self, found: Any, w: Any) -> None:
        """Store an array (channels, multiplier, taps) in the layout of the weights."""
        plain = np.moveaxis(self.geometry.plain_weights(np, w), (-2, -1), (0, 1))
        plain[...] = found.reshape(plain.shape)


def _flat(geometry: Geometry, x: TensorSpec, w: TensorSpec, *others: TensorSpec | None) -> _Flat | None:
    grid = served(geometry, x, w, *others)
    if grid is None or math.prod(grid.window[1]) > WIDEST_STEP or min(grid.window[2]) < 0:      # planes are padded, never cut
        return None
    return _Flat(geometry, x, w, grid)


def forward(geometry: Geometry, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None = None) -> Kernel | None:
    """The kernel of the forward pass: ``call(x, w[, bias], y)``."""
    flat = _flat(geometry, x, w, bias)
    if flat is None:
        return None
    from ..kernels.depthwise import depthwise

    def call(x: Any, w: Any, *rest: Any) -> None:
        y = rest[-1].reshape(flat.maps)
        depthwise(np.ascontiguousarray(x).reshape(flat.images), flat.weights(w), y, *flat.places, flat.together)
        if len(rest) == 2:
            y += rest[0].reshape(-1, 1, 1, 1)
    return Kernel(call)


def data_gradient(geometry: Geometry, w: TensorSpec, g: TensorSpec, x: TensorSpec) -> Kernel | None:
    """The kernel of the gradient of x: ``call(w, g, like, dx)``."""
    flat = _flat(geometry, x, w, g)
    if flat is None:
        return None
    from ..kernels.depthwise import depthwise_data_gradient

    def call(w: Any, g: Any, _: Any, dx: Any) -> None:
        depthwise_data_gradient(flat.weights(w), np.ascontiguousarray(g).reshape(flat.maps), dx.reshape(flat.images), *flat.places)
    return Kernel(call)


def weight_gradient(geometry: Geometry, x: TensorSpec, g: TensorSpec, w: TensorSpec) -> Kernel | None:
    """The kernel of the gradient of the weights: ``call(x, g, like, dw, total)``."""
    flat = _flat(geometry, x, w, g)
    if flat is None:
        return None
    from ..kernels.depthwise import depthwise_weight_gradient

    def call(x: Any, g: Any, _: Any, dw: Any, total: Any) -> None:
        g = np.ascontiguousarray(g).reshape(flat.maps)
        depthwise_weight_gradient(np.ascontiguousarray(x).reshape(flat.images), g, total, *flat.places)
        flat.store(total, dw)
    return Kernel(call, (TensorSpec(flat.matrix, x.dtype),))
