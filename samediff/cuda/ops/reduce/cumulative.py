"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.reduce.cumulative`."""
from __future__ import annotations

from ....base.spec import TensorSpec, normalize_axes
from ....ops.reduce.cumulative import Cumulative
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.scan import cumulative


@kernel_for(Cumulative)
def _(op: Cumulative, *specs: TensorSpec) -> CudaKernel | None:
    if op.combine is None:
        return None
    axes = normalize_axes(op.axis, len(specs[0].shape or ()))
    return cumulative(op.combine, axes, op.exclusive, op.reverse, specs[0])
