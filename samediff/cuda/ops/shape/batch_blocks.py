"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.batch_blocks`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.shape.batch_blocks import BatchToSpaceNd, SpaceToBatchNd
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.space_to_depth import batch_to_space, space_to_batch


@kernel_for(SpaceToBatchNd)
def _(op: SpaceToBatchNd, *specs: TensorSpec) -> CudaKernel | None:
    x, blocks, edges = specs
    return None if blocks.value is None else space_to_batch(blocks.value.reshape(-1).tolist(), x, edges)


@kernel_for(BatchToSpaceNd)
def _(op: BatchToSpaceNd, *specs: TensorSpec) -> CudaKernel | None:
    x, blocks, edges = specs
    return None if blocks.value is None else batch_to_space(blocks.value.reshape(-1).tolist(), x, edges)
