"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.alias`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.shape.alias import AliasOp
from ....plans.actions import CudaKernel
from ...kernel_table import KERNELS, kernel_for


@kernel_for(AliasOp)
def _(op: AliasOp, *specs: TensorSpec) -> CudaKernel | None:
    return KERNELS.kernel(op.target_op(), *specs)
