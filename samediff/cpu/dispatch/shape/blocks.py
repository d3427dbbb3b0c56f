"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.shape.blocks`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.shape.blocks import RepeatCells, SumCells, Upsampling
from ...kernel_table import KERNELS, kernel_for
from ...routines.cells import repeated, summed


@kernel_for(RepeatCells)
def _(op: RepeatCells, *specs: TensorSpec) -> Kernel | None:
    return repeated(op.factors, specs[0])


@kernel_for(SumCells)
def _(op: SumCells, *specs: TensorSpec) -> Kernel | None:
    return summed(op.factors, specs[0])


@kernel_for(Upsampling)
def _(op: Upsampling, *specs: TensorSpec) -> Kernel | None:
    return KERNELS.kernel(op.repeat(), *specs)
