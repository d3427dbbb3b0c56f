"""CUDA kernels of the ops of :mod:`dl4py.layers.ops.step_ops`."""
from __future__ import annotations

from ....samediff.base.spec import TensorSpec
from ....samediff.cuda.actions import CudaKernel
from ....samediff.cuda.code.copies import copied, stack_padded
from ....samediff.cuda.code.elementwise import broadcast, constants
from ....samediff.cuda.kernel_table import kernel_for
from ....samediff.cuda.routines.steps import at_last, last
from ...ops.step_ops import AtLastUnmaskedStep, LastUnmaskedStep, MaskOfOnes, RepeatSteps, StackedPart, StackPadded


@kernel_for(LastUnmaskedStep)
def _(op: LastUnmaskedStep, *specs: TensorSpec) -> CudaKernel | None:
    return last(op.strict, *specs)


@kernel_for(AtLastUnmaskedStep)
def _(op: AtLastUnmaskedStep, *specs: TensorSpec) -> CudaKernel | None:
    return at_last(*specs)


@kernel_for(RepeatSteps)
def _(op: RepeatSteps, *specs: TensorSpec) -> CudaKernel | None:
    return broadcast((*(specs[0].shape or ()), 1), specs[0]) if specs[0].is_static and specs[1].is_static else None


@kernel_for(MaskOfOnes)
def _(op: MaskOfOnes, *specs: TensorSpec) -> CudaKernel | None:
    return constants(1)


@kernel_for(StackPadded)
def _(op: StackPadded, *specs: TensorSpec) -> CudaKernel | None:
    return stack_padded(*specs)


@kernel_for(StackedPart)
def _(op: StackedPart, *specs: TensorSpec) -> CudaKernel | None:
    return copied(lambda *arrays: [(op.compute(None, *arrays[:-1]), arrays[-1])], *specs)
