"""Patches of images on the CPU, float32 and float64: copies out of a view of all windows, compiled sums back."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.conv.patches import Col2Im, Fold, Patches, Unfold
from ....plans.window_geometry import WindowGeometry
from ...code.fused import joined, stored
from ...kernel_table import KERNELS, kernel_for
from ...routines.channels_last import channels_first, moved
from ...routines.sliced import CELL, SlicedKernel, are_dense, dense, kernel_of


def _served(*specs: TensorSpec) -> bool:
    return all(s.is_static and s.dtype is specs[0].dtype and 0 not in (s.shape or ()) for s in specs) and \
        specs[0].dtype in (DataType.FLOAT, DataType.DOUBLE)


def unfold(patches: Patches, x: TensorSpec) -> Kernel | None:
    """``call(x, …, columns, padded)``; what stands between does not matter."""
    if not _served(x):
        return None
    n, *rest = x.shape or ()
    sizes, channels = (rest[:-1], rest[-1]) if patches.channels_last else (rest[1:], rest[0])
    window = patches.window
    padded = (n, *window.room(sizes), channels)
    covered, inside, fits = window.covered(sizes), window.inside(sizes), not any(a or b for a, b in window.padded(sizes))
    shape = dict(zip("nyxhwc", (n, *window.kernel, *window.counts(sizes), channels)))
    if patches.order.endswith("cyx") and not patches.channels_last:
        return _runs(patches, x, shape)

    def seen(images: Any) -> Any:
        """Images as a view of all their windows."""
        one, down, over, channel = images.strides
        (sh, sw), (dh, dw) = window.stride, window.dilation
        steps = {"n": one, "c": channel, "h": down * sh, "w": over * sw, "y": down * dh, "x": over * dw}
        return as_strided(images, [shape[a] for a in patches.order], [steps[a] for a in patches.order], writeable=False)

    def call(x: Any, *rest: Any) -> None:
        columns, padded = rest[-2:]
        images = (x if patches.channels_last else x.transpose(0, 2, 3, 1))[covered]
        if not fits:
            padded[...] = 0
            padded[inside] = images
        view = seen(images if fits else padded)
        columns.reshape(view.shape)[...] = view

    def native(x: Any, *rest: Any) -> list[Any] | None:
        columns, padded = rest[-2:]
        images = (x if patches.channels_last else x.transpose(0, 2, 3, 1))[covered]
        made = [] if fits else [stored(np.zeros((), x.dtype), padded), stored(images, padded[inside])]
        view = seen(images if fits else padded)
        return joined(*made, stored(view, columns.reshape(view.shape))) if columns.flags.c_contiguous else None
    return Kernel(call, (TensorSpec((0,) if fits else padded, x.dtype),), native=native)


def fold(patches: Patches, columns: TensorSpec, x: TensorSpec) -> Kernel | None:
    """The kernel that adds patches up in images: ``call(columns, like, dx, work)``."""
    if patches.channels_last:
        first = channels_first(x)
        return moved(fold(replace(patches, channels_last=False), columns, first), (), first)
    grid = WindowGeometry.of(patches.window, (x.shape or ())[2:]) if _served(x, columns) else None
    if grid is None:
        return None
    from ...kernels.im2col import col2im
    n, channels = (x.shape or ())[:2]
    shape = dict(zip("ncyxhw", (n, channels, *patches.window.kernel, *patches.window.counts((x.shape or ())[2:]))))
    if patches.order.endswith("cyx"):
        return _runs(patches, x, shape, back=True)
    apart, axes = [shape[a] for a in patches.order], [patches.order.index(a) for a in "ncyxhw"]
    in_order = axes == sorted(axes)
    planes = (n * channels, *grid.window[0], *grid.counts)

    def call(columns: Any, _: Any, dx: Any, work: Any) -> None:
        if in_order:
            work = np.ascontiguousarray(columns)
        else:
            work[...] = columns.reshape(apart).transpose(axes)
        col2im(work.reshape(planes), dx.reshape(-1, *grid.sizes), grid.window)

    def native(columns: Any, _: Any, dx: Any, work: Any) -> list[Any] | None:
        if not are_dense((columns, dx)):
            return None
        made = [] if in_order else [stored(columns.reshape(apart).transpose(axes), work)]
        summed = SlicedKernel(col2im, ((columns if in_order else work).reshape(planes), dx.reshape(-1, *grid.sizes)), (), (grid.window,))
        return joined(*made, summed.instruction())
    return Kernel(call, (TensorSpec((0,) if in_order else tuple(shape.values()), x.dtype),), native=native)


def _runs(patches: Patches, x: TensorSpec, shape: dict[str, int], back: bool = False) -> Kernel:
    """Patches that lie in one run of memory each: ``call(x, …, columns)``, or ``call(columns, like, dx)``."""
    from ...kernels.patches import fold, unfold
    window, outer = patches.window, patches.order[:3]
    steps, step = {}, shape["c"] * shape["y"] * shape["x"]
    for axis in reversed(outer):
        steps[axis], step = step, step * shape[axis]
    counts = (shape["h"], shape["w"])
    numbers = (window.kernel, window.stride, window.befores((x.shape or ())[2:]), window.dilation)
    given = ((steps["n"], steps["h"], steps["w"]), counts, numbers)
    if back:
        return kernel_of(lambda columns, _, dx: [SlicedKernel(fold, (), (dense(columns, -1), dx), given, CELL * columns.size)])
    return kernel_of(lambda x, *rest: [SlicedKernel(unfold, (), (dense(x, *x.shape), dense(rest[-1], -1)), given, CELL * rest[-1].size)])


@kernel_for(Unfold)
def _(op: Unfold, *specs: TensorSpec) -> Kernel | None:
    return unfold(op.fitting(specs[1:]), specs[0])


@kernel_for(Fold)
def _(op: Fold, *specs: TensorSpec) -> Kernel | None:
    return fold(op.patches.of(specs[0].shape), *specs)


@kernel_for(Col2Im)
def _(op: Col2Im, *specs: TensorSpec) -> Kernel | None:
    patches, image = op.geometry(specs[0].shape or ())
    kernel = KERNELS.kernel(Fold(patches), specs[0], specs[0].with_shape(image))
    if kernel is None:
        return None
    call, native = kernel.call, kernel.native
    return replace(kernel, call=lambda columns, *rest: call(columns, None, *rest),
                   native=native and (lambda columns, *rest: native(columns, None, *rest)))
