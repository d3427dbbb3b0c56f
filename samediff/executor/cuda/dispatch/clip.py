"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.clip`."""
from __future__ import annotations

from ....ops.clip import ClippedNorm
from ....spec import TensorSpec, normalize_axes
from ..actions import CudaKernel
from ..kernel_table import kernel_for
from ..sweep import swept
from ..sweeps import clipped


@kernel_for(ClippedNorm)
def _(op: ClippedNorm, *specs: TensorSpec) -> CudaKernel | None:
    return swept(clipped(float(op.clip_value), op.average), normalize_axes(op.dimensions, len(specs[0].shape or ())), specs)
