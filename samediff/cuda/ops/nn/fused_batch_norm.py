"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.nn.fused_batch_norm`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.nn.fused_batch_norm import LEAST_EPSILON, FusedBatchNorm
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from .batch_norm import of_images


@kernel_for(FusedBatchNorm)
def _(op: FusedBatchNorm, *specs: TensorSpec) -> CudaKernel | None:
    return of_images(op.is_training, op.axis, max(op.epsilon, LEAST_EPSILON), *specs)
