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
from ..code.fused import added, joined, laid_out, stored, writable
from ..threads import parts
from .parallel_kernel import ParallelKernel
from .sliced import are_dense, dense

if TYPE_CHECKING:
    from ...ops.conv.convolving import Geometry

#: Windows that are further apart leave too much between them, all of which the kernels work out.
WIDEST_STEP = 16

#: Nanoseconds of a multiplication.
MULTIPLICATION = 0.1


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
        self.offsets, self.starts, self.step, self.padding = np.array(offsets), np.array(starts), stride[2], (before, size)
        self.together = len(starts) if stride[:2] == (1, 1) else 1

    def plain(self, w: Any) -> Any:
        """Weights with channels and multiplier in front: a view."""
        return np.moveaxis(self.geometry.plain_weights(np, w), (-2, -1), (0, 1))

    def weights(self, w: Any, made: list[Any]) -> Any:
        """Weights as an array (channels, multiplier, taps), after the instructions that are added to ``made``."""
        return writable(laid_out(self.plain(w), made)).reshape(self.matrix)

    def memory(self, in_front: int, more: int) -> tuple[TensorSpec, TensorSpec]:
        """For each part a padded plane with so many elements in front, and so many more."""
        dtype = DataType.of(self.dtype)
        return TensorSpec((parts(), in_front + math.prod(self.padding[1])), dtype), TensorSpec((parts(), more), dtype)

    def nanoseconds(self, x: TensorSpec) -> float:
        """How long a pass takes, about."""
        return MULTIPLICATION * math.prod(x.shape or ()) * self.matrix[1] * self.grid.taps


def _flat(geometry: Geometry, x: TensorSpec, w: TensorSpec, *others: TensorSpec | None) -> _Flat | None:
    grid = served(geometry, x, w, *others)
    if grid is None or math.prod(grid.window[1]) > WIDEST_STEP or min(grid.window[2]) < 0:      # planes are padded, never cut
        return None
    return _Flat(geometry, x, w, grid)


def forward(geometry: Geometry, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None = None) -> Kernel | None:
    """The kernel of the forward pass: ``call(x, w[, bias], y, *work)``."""
    flat = _flat(geometry, x, w, bias)
    if flat is None:
        return None
    from ..kernels.depthwise import depthwise
    span = (flat.grid.counts[2] - 1) * flat.step + 1
    work = flat.memory(0, int(flat.starts[flat.together - 1]) + span)

    def operands(x: Any, weights: Any, y: Any, *work: Any) -> tuple[Any, ...]:
        return dense(x, *flat.images), weights, dense(y, *flat.maps), *work, flat.offsets, flat.starts
    inner = ParallelKernel(depthwise, operands, (*flat.padding, flat.step, flat.together), flat.nanoseconds(x))

    def call(x: Any, w: Any, *rest: Any) -> None:
        *bias, y, padded, sums = rest
        inner.run(x, np.ascontiguousarray(flat.plain(w)).reshape(flat.matrix), y, padded, sums)
        if bias:
            y.reshape(flat.maps)[...] += bias[0].reshape(-1, 1, 1, 1)

    def native(x: Any, w: Any, *rest: Any) -> list[Any] | None:
        *bias, y, padded, sums = rest
        made: list[Any] = []
        weights = flat.weights(w, made)
        made.append(inner.instruction(x, weights, y, padded, sums))
        return joined(*made, *(added(b.reshape(-1, 1, 1, 1), y.reshape(flat.maps)) for b in bias)) if are_dense((x, y)) else None
    return Kernel(call, work, native=native)


def data_gradient(geometry: Geometry, w: TensorSpec, g: TensorSpec, x: TensorSpec) -> Kernel | None:
    """The kernel of the gradient of x: ``call(w, g, like, dx, *work)``."""
    flat = _flat(geometry, x, w, g)
    if flat is None:
        return None
    from ..kernels.depthwise import depthwise_data_gradient
    work = flat.memory(int(flat.offsets[-1]), math.prod(flat.padding[1]))

    def operands(weights: Any, g: Any, dx: Any, *work: Any) -> tuple[Any, ...]:
        return weights, dense(g, *flat.maps), dense(dx, *flat.images), *work, flat.offsets, flat.starts
    inner = ParallelKernel(depthwise_data_gradient, operands, (*flat.padding, flat.step), flat.nanoseconds(x))

    def call(w: Any, g: Any, _: Any, *rest: Any) -> None:
        inner.run(np.ascontiguousarray(flat.plain(w)).reshape(flat.matrix), g, *rest)

    def native(w: Any, g: Any, _: Any, dx: Any, *rest: Any) -> list[Any] | None:
        made: list[Any] = []
        weights = flat.weights(w, made)
        return joined(*made, inner.instruction(weights, g, dx, *rest)) if are_dense((g, dx)) else None
    return Kernel(call, work, native=native)


def weight_gradient(geometry: Geometry, x: TensorSpec, g: TensorSpec, w: TensorSpec) -> Kernel | None:
    """The kernel of the gradient of the weights: ``call(x, g, like, dw, total, *work)``."""
    flat = _flat(geometry, x, w, g)
    if flat is None:
        return None
    from ..kernels.depthwise import depthwise_weight_gradient
    work = flat.memory(0, int(flat.starts[-1]) + (flat.grid.counts[2] - 1) * flat.step + 1)

    def operands(x: Any, g: Any, total: Any, *work: Any) -> tuple[Any, ...]:
        return dense(x, *flat.images), dense(g, *flat.maps), total, *work, flat.offsets, flat.starts
    inner = ParallelKernel(depthwise_weight_gradient, operands, (*flat.padding, flat.step), flat.nanoseconds(x))

    def call(x: Any, g: Any, _: Any, dw: Any, total: Any, *work: Any) -> None:
        inner.run(x, g, total, *work)
        plain = flat.plain(dw)
        plain[...] = total.reshape(plain.shape)

    def native(x: Any, g: Any, _: Any, dw: Any, total: Any, *work: Any) -> list[Any] | None:
        plain = flat.plain(dw)
        made = inner.instruction(x, g, total, *work)
        return joined(made, stored(total.reshape(plain.shape), plain)) if are_dense((x, g)) and np.may_share_memory(plain, dw) else None
    return Kernel(call, (TensorSpec(flat.matrix, x.dtype), *work), native=native)
