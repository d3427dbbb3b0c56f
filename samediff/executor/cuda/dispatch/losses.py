"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.losses`."""
from __future__ import annotations

from ....ops.losses import L2
from ....spec import TensorSpec
from ..actions import CudaKernel
from ..kernel_table import kernel_for
from ..sweep import folded
from ..sweeps import HALF_SQUARES


@kernel_for(L2)
def _(op: L2, *specs: TensorSpec) -> CudaKernel | None:
    return folded(HALF_SQUARES, range(len(specs[0].shape or ())), specs, specs)
