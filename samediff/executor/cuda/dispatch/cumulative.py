"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.cumulative`."""
from __future__ import annotations

from ....ops.cumulative import Cumulative
from ....spec import TensorSpec, normalize_axes
from ..actions import CudaKernel
from ..along import cumulative
from ..kernel_table import kernel_for


@kernel_for(Cumulative)
def _(op: Cumulative, *specs: TensorSpec) -> CudaKernel | None:
    if op.combine is None:
        return None
    axes = normalize_axes(op.axis, len(specs[0].shape or ()))
    return cumulative(op.combine, axes, op.exclusive, op.reverse, specs[0])
