"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.fused_batch_norm`."""
from __future__ import annotations

from ....ops.fused_batch_norm import LEAST_EPSILON, FusedBatchNorm
from ....spec import TensorSpec
from ..actions import CudaKernel
from ..batch_norm import of_images
from ..kernel_table import kernel_for


@kernel_for(FusedBatchNorm)
def _(op: FusedBatchNorm, *specs: TensorSpec) -> CudaKernel | None:
    return of_images(op.is_training, op.axis, max(op.epsilon, LEAST_EPSILON), *specs)
