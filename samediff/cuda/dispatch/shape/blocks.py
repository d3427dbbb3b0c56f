"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.blocks`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.shape.blocks import BatchToSpace, DepthToSpace, RepeatCells, SpaceToBatch, SpaceToDepth, SumCells, Upsampling
from ...actions import CudaKernel
from ...kernel_table import KERNELS, kernel_for
from ...routines.blocks import batch_to_space, depth_to_space, space_to_batch, space_to_depth
from ...routines.cells import repeated, summed


@kernel_for(SpaceToDepth)
def _(op: SpaceToDepth, *specs: TensorSpec) -> CudaKernel | None:
    return space_to_depth(op.block_size, op.data_format.upper() == "NHWC", specs[0])


@kernel_for(DepthToSpace)
def _(op: DepthToSpace, *specs: TensorSpec) -> CudaKernel | None:
    return depth_to_space(op.block_size, op.data_format.upper() == "NHWC", specs[0])


@kernel_for(SpaceToBatch)
def _(op: SpaceToBatch, *specs: TensorSpec) -> CudaKernel | None:
    return space_to_batch(op.sides(), *specs)


@kernel_for(BatchToSpace)
def _(op: BatchToSpace, *specs: TensorSpec) -> CudaKernel | None:
    return batch_to_space(op.sides(), *specs)


@kernel_for(RepeatCells)
def _(op: RepeatCells, *specs: TensorSpec) -> CudaKernel | None:
    return repeated(op.factors, specs[0])


@kernel_for(SumCells)
def _(op: SumCells, *specs: TensorSpec) -> CudaKernel | None:
    return summed(op.factors, specs[0])


@kernel_for(Upsampling)
def _(op: Upsampling, *specs: TensorSpec) -> CudaKernel | None:
    return KERNELS.kernel(op.repeat(), *specs)
