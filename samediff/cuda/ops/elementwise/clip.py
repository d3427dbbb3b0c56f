"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.elementwise.clip`."""
from __future__ import annotations

from ....base.spec import TensorSpec, normalize_axes
from ....ops.elementwise.clip import ClippedNorm
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.sweep import swept
from ...sweeps.table import clipped


@kernel_for(ClippedNorm)
def _(op: ClippedNorm, *specs: TensorSpec) -> CudaKernel | None:
    return swept(clipped(float(op.clip_value), op.average), normalize_axes(op.dimensions, len(specs[0].shape or ())), specs)
