"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.blocks`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.shape.blocks import BatchToSpace, RepeatBlocks, SpaceToBatch, SumBlocks
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.space_to_depth import batch_to_space, space_to_batch
from ...routines.upsampling import repeated, summed


@kernel_for(SpaceToBatch)
def _(op: SpaceToBatch, *specs: TensorSpec) -> CudaKernel | None:
    return space_to_batch(op.sides(), *specs)


@kernel_for(BatchToSpace)
def _(op: BatchToSpace, *specs: TensorSpec) -> CudaKernel | None:
    return batch_to_space(op.sides(), *specs)


@kernel_for(RepeatBlocks)
def _(op: RepeatBlocks, *specs: TensorSpec) -> CudaKernel | None:
    return repeated(op.factors, specs[0])


@kernel_for(SumBlocks)
def _(op: SumBlocks, *specs: TensorSpec) -> CudaKernel | None:
    return summed(op.factors, specs[0])
