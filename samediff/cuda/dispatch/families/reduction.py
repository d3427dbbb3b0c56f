"""CUDA kernels of the ops of :mod:`dl4py.samediff.families.reduction`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....families.broadcasting import axes_of
from ....families.reduction import Reduction
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.sweep import folded
from ...sweeps.table import REDUCTIONS


@kernel_for(Reduction)
def _(op: Reduction, *specs: TensorSpec) -> CudaKernel | None:
    sweep, x = REDUCTIONS.get(op.compiled_as), specs[0]
    if sweep is None or len(specs) > 1 or not x.is_static:
        return None
    return folded(sweep, axes_of(op.dimensions, len(x.shape or ())), [x], [TensorSpec(None, op.result_type(x))])
