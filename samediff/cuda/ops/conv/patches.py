"""Patches of images on the GPU: a thread for each element of the columns, or for each cell of the images."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import Shape, TensorSpec
from ....ops.conv.patches import Col2Im, Fold, Patches, Unfold
from ....plans.actions import Action, CudaKernel, KernelLaunch
from ....plans.window_geometry import WindowGeometry
from ...kernel_table import kernel_for
from ...routines.pooling_sizes import NUMBERS, SUMMED
from ...routines.window_geometry import numbers, offsets, served, text, threads_for
from ...sources import type_name


class _PatchSizes:
    """Sizes of columns, and the geometry with both axes as they are."""

    def __init__(self, patches: Patches, image: Shape, dtype: DataType) -> None:
        (n, *sizes), channels = (image[:-1], image[-1]) if patches.channels_last else ((image[0], *image[2:]), image[1])
        window = patches.window
        counts = window.counts(sizes)
        by = dict(zip("ncyxhw", (n, channels, *window.kernel, *counts)))
        order = [by[a] for a in patches.order]
        self.size, self.cells = math.prod(order), math.prod(image)
        (ky, kx), (sy, sx), (py, px), (dy, dx) = window.kernel, window.stride, window.befores(sizes), window.dilation
        grid = WindowGeometry(((1, ky, kx), (1, sy, sx), (0, py, px), (1, dy, dx)), (1, sizes[0], sizes[1]), (1, counts[0], counts[1]))
        self.args = (*map(np.int32, order), *numbers(grid))
        offset = offsets(TensorSpec((self.size,), dtype), TensorSpec((self.cells,), dtype))
        self.text = body_of(dtype, patches.order, patches.channels_last, offset)

    def launch(self, name: str, size: int, *arrays: Any) -> Sequence[Action]:
        """The launch of a function for ``size`` elements; none where there are none."""
        return (KernelLaunch(self.text, name, *threads_for(size), (*arrays, np.int64(size), *self.args)),) if size else ()


def unfold(patches: Patches, x: TensorSpec) -> CudaKernel | None:
    """Columns of images: input x, and others that do not matter."""
    if not served(x, types=NUMBERS):
        return None
    c = _PatchSizes(patches, x.shape or (), x.dtype)
    return CudaKernel(lambda *arrays: c.launch("unfold", c.size, arrays[0], arrays[-1]))


def fold(patches: Patches, columns: TensorSpec, image: Shape) -> CudaKernel | None:
    """Columns added up where they overlap: input columns, and others that do not matter."""
    if not served(columns, types=SUMMED):
        return None
    c = _PatchSizes(patches, image, columns.dtype)
    return CudaKernel(lambda *arrays: c.launch("fold", c.cells, arrays[0], arrays[-1]))


@kernel_for(Unfold)
def _(op: Unfold, *specs: TensorSpec) -> CudaKernel | None:
    return unfold(op.fitting(specs[1:]), specs[0])


@kernel_for(Fold)
def _(op: Fold, *specs: TensorSpec) -> CudaKernel | None:
    return fold(op.patches.of(specs[0].shape), specs[0], specs[1].shape or ())


@kernel_for(Col2Im)
def _(op: Col2Im, *specs: TensorSpec) -> CudaKernel | None:
    patches, image = op.geometry(specs[0].shape or ())
    return fold(patches, specs[0], image)


def body_of(dtype: DataType, order: str, last: bool, offset: str) -> str:
    """The text for an order of axes."""
    places = {f"AT_{a.upper()}": order.index(a) for a in "ncyxhw"}
    return text("patches", T=type_name(dtype), I=offset, LAST=int(last), **places, **({"ADD": 1} if dtype in SUMMED else {}))


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    for order, last in (("ncyxhw", False), ("nhwyxc", True)):
        yield f"patches {order}", body_of(DataType.FLOAT, order, last, "int")
    for dtype in (DataType.DOUBLE, DataType.HALF, DataType.BFLOAT16, DataType.BOOL, DataType.LONG):
        yield f"patches {dtype.name}", body_of(dtype, "ncyxhw", False, "long long")
