"""Sizes of pooling on the GPU and the texts of its kernels: a thread for each window, and for gradients one for each cell."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...plans.actions import CudaKernel, KernelLaunch
from ...plans.window_geometry import WindowGeometry
from ..sources import TYPES, type_name
from .partial_sums import work_type
from .window_geometry import FLOATS, numbers, offsets, served, text, threads_for

if TYPE_CHECKING:
    from ...ops.conv.pooling import Pool
    from ...ops.conv.window import Window

NUMBERS = tuple(d for d in DataType if d.name != "UTF8" and d.numpy.name in TYPES)
SUMMED = tuple(d for d in NUMBERS if d is not DataType.BOOL)


@dataclass(frozen=True)
class CudaPoolingSizes:
    """Sizes of one pooling; images are viewed as (outer, cells, inner)."""

    grid: WindowGeometry
    dtype: DataType
    outer: int
    inner: int

    @classmethod
    def of(cls, window: Window, channels_last: bool, x: TensorSpec) -> CudaPoolingSizes | None:
        """None for windows with more axes than three."""
        shape = x.shape or ()
        grid = WindowGeometry.of(window, shape[1:-1] if channels_last else shape[2:])
        if grid is None:
            return None
        if channels_last:
            return cls(grid, x.dtype, shape[0], shape[-1])
        return cls(grid, x.dtype, shape[0] * shape[1], 1)

    @property
    def cells(self) -> int:
        """Number of elements of the images."""
        return self.outer * math.prod(self.grid.sizes) * self.inner

    @property
    def windows(self) -> int:
        """Number of elements of an array that has one value for each window."""
        return self.outer * self.grid.places * self.inner

    def launch(self, body: str, name: str, size: int, *given: Any) -> tuple[KernelLaunch, ...]:
        """The launch of a function for ``size`` elements; none where there are none."""
        args = (*given, np.int64(size), np.int32(self.inner), *numbers(self.grid))
        return (KernelLaunch(body, name, *threads_for(size), args),) if size else ()

    def kernel(self, body: str, name: str, size: int, *given: Any) -> CudaKernel:
        """A kernel that launches one function with all arrays, then the numbers ``given``."""
        return CudaKernel(lambda *arrays: self.launch(body, name, size, *arrays, *given))

    def offsets(self) -> str:
        """The C type of offsets."""
        return offsets(*(TensorSpec((n,), self.dtype) for n in (self.cells, self.windows)))

    def maximum(self, place: DataType = DataType.INT) -> str:
        """The source of the max pooling kernels."""
        return _maximum(self.dtype, self.offsets(), place)

    def sums(self) -> str:
        """The source of the kernels that sum over windows."""
        return _sums(self.dtype, self.offsets())

    def number(self, value: float) -> Any:
        """A number in the type of the arithmetic."""
        return work_type(self.dtype).numpy.type(value)


def _lowest(dtype: DataType) -> str:
    kind = dtype.numpy
    if dtype.is_floating:
        return "__longlong_as_double(0xfff0000000000000)" if dtype is DataType.DOUBLE else "__int_as_float(0xff800000)"
    return "0" if kind.kind in "bu" else f"({np.iinfo(kind).min + 1} - 1)"


def _maximum(dtype: DataType, offset: str, place: DataType) -> str:
    return text("pooling", T=type_name(dtype), I=offset, MAXIMUM=1, LOWEST=_lowest(dtype), PLACE=type_name(place))


def _sums(dtype: DataType, offset: str) -> str:
    return text("pooling", T=type_name(dtype), I=offset, **({"POWERS": 1} if dtype.is_floating else {}))


def planes_of(pool: Pool, types: Sequence[DataType], *specs: TensorSpec) -> CudaPoolingSizes | None:
    """The sizes of a pooling of arrays of one of these types; None where kernels do not serve them."""
    return CudaPoolingSizes.of(pool.window, pool.channels_last, specs[0]) if served(*specs, types=tuple(types)) else None


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    for dtype in (*FLOATS, DataType.BOOL, DataType.UBYTE, DataType.LONG):
        yield f"max pooling {dtype.name}", _maximum(dtype, "int", DataType.INT)
        if dtype in SUMMED:
            yield f"sum pooling {dtype.name}", _sums(dtype, "int")
    yield "pooling long", _sums(DataType.FLOAT, "long long")
