"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.reduce.argreduce`."""
from __future__ import annotations

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....families.broadcasting import axes_of
from ....ops.reduce.argreduce import IndexReduction, IsMax
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.sweep import folded, swept
from ...sweeps.table import IS_MAX, POSITIONS


@kernel_for(IndexReduction)
def _(op: IndexReduction, *specs: TensorSpec) -> CudaKernel | None:
    x = specs[0]
    if op.which is None or len(specs) > 1 or not x.is_static:
        return None
    sweep = POSITIONS[op.which, op.absolute]
    return folded(sweep, axes_of(op.dimensions, len(x.shape or ())), [x], [TensorSpec(None, DataType.LONG)])


@kernel_for(IsMax)
def _(op: IsMax, *specs: TensorSpec) -> CudaKernel | None:
    x = specs[0]
    if not x.is_static or not x.dtype.is_numeric:
        return None
    return swept(IS_MAX, axes_of(op.dimensions, len(x.shape or ())), [x], result=DataType.BOOL)
