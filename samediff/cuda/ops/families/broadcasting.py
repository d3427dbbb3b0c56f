"""CUDA kernels of the ops of :mod:`dl4py.samediff.families.broadcasting`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....families.broadcasting import BroadcastReduced, BroadcastReducedGrad, SumTo, axes_of, broadcast_axes
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.elementwise import spread_quotient, summed
from ...sweeps.table import REDUCTIONS, mean_less


@kernel_for(BroadcastReduced)
def _(op: BroadcastReduced, *specs: TensorSpec) -> CudaKernel | None:
    x, like = specs[0], specs[1]
    if op.divisor is None or len(specs) > 2 or not x.dtype.is_floating or not (x.is_static and like.is_static):
        return None
    gone = axes_of(op.dimensions, len(like.shape or ()))
    return spread_quotient(tuple(1 if i in gone else n for i, n in enumerate(like.shape or ())), x, like, op.divisor)


@kernel_for(BroadcastReducedGrad)
def _(op: BroadcastReducedGrad, *specs: TensorSpec) -> CudaKernel | None:
    x = specs[0]
    if len(specs) > 3 or not x.is_static or not x.dtype.is_floating:
        return None
    return summed(axes_of(op.dimensions, len(x.shape or ())), x, mean_less(op.divisor), 2)


@kernel_for(SumTo)
def _(op: SumTo, *specs: TensorSpec) -> CudaKernel | None:
    x, like = specs
    if not x.is_static or not like.is_static:
        return None
    return summed(broadcast_axes(x.shape or (), like.shape or ()), x, REDUCTIONS["reduce_sum"], 1)
