"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.losses.losses`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.losses.losses import L2
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.sweep import folded
from ...sweeps.table import HALF_SQUARES


@kernel_for(L2)
def _(op: L2, *specs: TensorSpec) -> CudaKernel | None:
    return folded(HALF_SQUARES, range(len(specs[0].shape or ())), specs, specs)
