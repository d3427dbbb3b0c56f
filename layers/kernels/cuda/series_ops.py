"""CUDA kernels of the ops of :mod:`dl4py.layers.ops.series_ops`."""
from __future__ import annotations

from typing import Any

from ....samediff.base.spec import TensorSpec
from ....samediff.cuda.actions import CudaKernel
from ....samediff.cuda.code.elementwise import launches, rearranged, summed, traced
from ....samediff.cuda.kernel_table import kernel_for
from ....samediff.cuda.sweeps.sweeps import REDUCTIONS
from ...ops.series_ops import ExampleSpread, ExampleSums, PositionMaskRows, PositionRows, RowPositions, RowsSeries, SeriesRows


def _same(xp: Any, x: Any) -> Any:
    return x


@kernel_for(SeriesRows)
def _(op: SeriesRows, *specs: TensorSpec) -> CudaKernel | None:
    return rearranged(lambda x: x.transpose(1, 0, 2) if op.channels_last else x.transpose(2, 0, 1), *specs)


@kernel_for(RowsSeries)
def _(op: RowsSeries, *specs: TensorSpec) -> CudaKernel | None:
    (rows, size), n = specs[0].shape or (-1, -1), (specs[1].shape or (-1,))[0]
    steps = (rows // max(n, 1), n, size)
    return rearranged(lambda x: x.reshape(steps).transpose((1, 0, 2) if op.channels_last else (1, 2, 0)), *specs)


@kernel_for(PositionRows)
def _(op: PositionRows, *specs: TensorSpec) -> CudaKernel | None:
    return rearranged(op.channels_behind, *specs)


@kernel_for(PositionMaskRows)
def _(op: PositionMaskRows, *specs: TensorSpec) -> CudaKernel | None:
    mask, like = specs
    if not mask.is_static or not like.is_static:
        return None
    whole, rows = op.full(mask.shape or (), like.shape or ()), PositionRows(op.channels_last)
    shape = whole if op.channels_last else (whole[0], *whole[2:], whole[1])
    exprs = traced(_same, (mask.dtype.numpy,))
    return CudaKernel(lambda mask, like, out: launches(exprs, [rows.channels_behind(mask)], [out.reshape(shape)]))


@kernel_for(RowPositions)
def _(op: RowPositions, *specs: TensorSpec) -> CudaKernel | None:
    like, channels = specs[1].shape or (), (specs[0].shape or (0, 0))[1]
    if op.channels_last:
        return rearranged(lambda x: x.reshape(*like[:-1], channels), *specs)
    turned = (0, len(like) - 1, *range(1, len(like) - 1))
    return rearranged(lambda x: x.reshape(like[0], *like[2:], channels).transpose(turned), *specs)


@kernel_for(ExampleSums)
def _(op: ExampleSums, *specs: TensorSpec) -> CudaKernel | None:
    (size,), n = specs[0].shape or (-1,), (specs[1].shape or (-1,))[0]
    if -1 in (size, n):
        return None
    return summed((1,), TensorSpec((n, size // max(n, 1)), specs[0].dtype), REDUCTIONS["reduce_sum"], 1)


@kernel_for(ExampleSpread)
def _(op: ExampleSpread, *specs: TensorSpec) -> CudaKernel | None:
    if not all(s.is_static for s in specs):
        return None
    exprs, n = traced(_same, (specs[0].dtype.numpy,)), (specs[0].shape or (0,))[0]
    return CudaKernel(lambda x, like, out: launches(exprs, [x.reshape(n, 1)], [out.reshape(n, out.size // max(n, 1))]))
