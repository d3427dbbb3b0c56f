"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.reduce.conditional`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....families.broadcasting import axes_of
from ....ops.reduce.conditional import ConditionalIndex, FirstIndex, LastIndex, MatchConditionCount
from ....plans.actions import CudaKernel
from ....plans.sweeps.spec import Sweep
from ...kernel_table import kernel_for
from ...sweeps.elementwise import masked
from ...sweeps.table import PLACES, REDUCTIONS


def _masked(op_: MatchConditionCount | ConditionalIndex, sweep: Sweep, *specs: TensorSpec) -> CudaKernel | None:
    if len(specs) > 1 or not specs[0].is_static:
        return None
    return masked(op_.condition.test, sweep, axes_of(op_.dimensions, len(specs[0].shape or ())), specs[0])


@kernel_for(MatchConditionCount)
def _(op: MatchConditionCount, *specs: TensorSpec) -> CudaKernel | None:
    return _masked(op, REDUCTIONS["countNonZero"], *specs)


@kernel_for(FirstIndex)
def _(op: FirstIndex, *specs: TensorSpec) -> CudaKernel | None:
    return _masked(op, PLACES["first"], *specs)


@kernel_for(LastIndex)
def _(op: LastIndex, *specs: TensorSpec) -> CudaKernel | None:
    return _masked(op, PLACES["last"], *specs)
