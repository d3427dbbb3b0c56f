"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.reduce.moments`."""
from __future__ import annotations

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....families.broadcasting import axes_of
from ....ops.reduce.moments import Moments
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.sweep import folded
from ...sweeps.table import REDUCTIONS


@kernel_for(Moments)
def _(op: Moments, *specs: TensorSpec) -> CudaKernel | None:
    x = specs[0]
    if len(specs) > 1 or not x.is_static:
        return None
    result = TensorSpec(None, x.dtype if x.dtype.is_floating else DataType.FLOAT)
    return folded(REDUCTIONS["moments"], axes_of(op.dimensions, len(x.shape or ())), [x], [result, result])
