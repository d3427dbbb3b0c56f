"""CUDA kernels of the ops of :mod:`dl4py.layers.ops.step_ops`."""
from __future__ import annotations

from ....samediff.base.spec import TensorSpec
from ....samediff.cuda.kernel_table import kernel_for
from ....samediff.cuda.routines.last_step import at_last, last
from ....samediff.cuda.sweeps.elementwise import constants
from ....samediff.plans.actions import CudaKernel
from ...ops.step_ops import AtLastUnmaskedStep, LastUnmaskedStep, MaskOfOnes


@kernel_for(LastUnmaskedStep)
def _(op: LastUnmaskedStep, *specs: TensorSpec) -> CudaKernel | None:
    return last(*specs)


@kernel_for(AtLastUnmaskedStep)
def _(op: AtLastUnmaskedStep, *specs: TensorSpec) -> CudaKernel | None:
    return at_last(*specs)


@kernel_for(MaskOfOnes)
def _(op: MaskOfOnes, *specs: TensorSpec) -> CudaKernel | None:
    return constants(1)
