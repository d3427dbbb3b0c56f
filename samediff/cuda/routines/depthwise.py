"""Convolution of each channel by itself on the GPU: a thread for each result, several for each weight."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...plans.actions import Action, CudaKernel, KernelLaunch
from ...plans.window_geometry import WindowGeometry
from ..sources import type_name
from .partial_sums import sum_parts, work_type
from .window_geometry import FLOATS, numbers, offsets, served, text, threads_for

if TYPE_CHECKING:
    from ...ops.conv.convolving import Geometry

#: Blocks that the work on weights is divided into; windows of one at least and at most.
BLOCKS, SHORTEST, LONGEST = 528, 1 << 10, 1 << 16


class _Depthwise:
    """Sizes of one convolution."""

    def __init__(self, geometry: Geometry, x: TensorSpec, w: TensorSpec, grid: WindowGeometry) -> None:
        _, channels, multiplier = geometry.weight_sizes(w.shape or ())
        self.grid, self.dtype, self.last = grid, x.dtype, geometry.channels_last
        self.batch, self.maps = (x.shape or ())[0], channels * multiplier
        taps, cells = grid.taps, math.prod(grid.sizes)
        self.image_size, self.size = self.batch * channels * cells, self.batch * self.maps * grid.places
        apart = {"YXIO": (multiplier, 1, self.maps), "OIYX": (taps, channels * taps, 1), "OYXI": (1, taps * channels, channels)}
        self.args = (*map(np.int32, (channels, multiplier, *apart[geometry.weights_format])), *numbers(grid))
        y = TensorSpec((self.size,), x.dtype)
        self.text = body_of(x.dtype, offsets(x, w, y), self.last)

    @classmethod
    def of(cls, geometry: Geometry, x: TensorSpec, w: TensorSpec, *others: TensorSpec | None) -> _Depthwise | None:
        """The sizes of a convolution; None where no kernel serves its inputs."""
        shape = x.shape or ()
        grid = WindowGeometry.of(geometry.window, shape[1:-1] if geometry.channels_last else shape[2:]) if served(x, w, *others) else None
        return None if grid is None or grid.taps > 65535 else cls(geometry, x, w, grid)


def forward(geometry: Geometry, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None = None) -> CudaKernel | None:
    """The kernel of the forward pass; inputs x, w[, bias]."""
    s = _Depthwise.of(geometry, x, w, bias)
    if s is None:
        return None

    def actions(x: Any, w: Any, *rest: Any) -> Sequence[Action]:
        y, size = rest[-1], np.int64(s.size)
        given = (x, w, y, rest[0] if len(rest) == 2 else w, np.int32(len(rest) == 2), size, *s.args)
        return (KernelLaunch(s.text, "depthwise", *threads_for(s.size), given),) if s.size else ()
    return CudaKernel(actions)


def data_gradient(geometry: Geometry, w: TensorSpec, g: TensorSpec, x: TensorSpec) -> CudaKernel | None:
    """The kernel of the gradient of x; inputs w, g, x."""
    s = _Depthwise.of(geometry, x, w, g)
    if s is None:
        return None

    def actions(w: Any, g: Any, _: Any, out: Any) -> Sequence[Action]:
        given = (w, g, out, np.int64(s.image_size), *s.args)
        return (KernelLaunch(s.text, "depthwise_data", *threads_for(s.image_size), given),) if s.image_size else ()
    return CudaKernel(actions)


def weight_gradient(geometry: Geometry, x: TensorSpec, g: TensorSpec, w: TensorSpec) -> CudaKernel | None:
    """The kernel of the gradient of the weights; inputs x, g, w."""
    s = _Depthwise.of(geometry, x, w, g)
    if s is None:
        return None
    size, taps, windows = s.maps * s.grid.taps, s.grid.taps, s.batch * s.grid.places
    across = -(-s.maps // 32) if s.last else s.maps
    parts = max(1, min(-(-BLOCKS // max(across * taps, 1)), windows // SHORTEST), -(-windows // LONGEST))

    direct = parts == 1 and work_type(s.dtype) is s.dtype

    def actions(x: Any, g: Any, _: Any, out: Any, *work: Any) -> Sequence[Action]:
        if not size:
            return ()
        given = (x, g, out if direct else work[0], np.int64(size), np.int32(s.batch), *s.args)
        first = KernelLaunch(s.text, "depthwise_weights", (across, taps, parts), (256, 1, 1), given)
        return (first,) if direct else (first, sum_parts(s.dtype, work[0], out))
    return CudaKernel(actions, () if direct else (TensorSpec((parts, size), work_type(s.dtype)),))


def body_of(dtype: DataType, offset: str, last: bool) -> str:
    """The kernel source for an element type."""
    return text("depthwise", T=type_name(dtype), I=offset, LAST=int(last))


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    for dtype in FLOATS:
        yield f"depthwise {dtype.name}", body_of(dtype, "int", dtype is DataType.FLOAT)
    yield "depthwise long", body_of(DataType.FLOAT, "long long", False)
