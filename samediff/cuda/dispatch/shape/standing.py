"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.standing`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.shape.standing import Standing
from ...actions import CudaKernel
from ...kernel_table import KERNELS, kernel_for


@kernel_for(Standing)
def _(op: Standing, *specs: TensorSpec) -> CudaKernel | None:
    return KERNELS.kernel(op.meant(), *specs)
