"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.blocks`."""
from __future__ import annotations

from ....op import Kernel
from ....ops.blocks import RepeatCells, SumCells, Upsampling
from ....spec import TensorSpec
from ..cells import repeated, summed
from ..kernel_table import KERNELS, kernel_for


@kernel_for(RepeatCells)
def _(op: RepeatCells, *specs: TensorSpec) -> Kernel | None:
    return repeated(op.factors, specs[0])


@kernel_for(SumCells)
def _(op: SumCells, *specs: TensorSpec) -> Kernel | None:
    return summed(op.factors, specs[0])


@kernel_for(Upsampling)
def _(op: Upsampling, *specs: TensorSpec) -> Kernel | None:
    return KERNELS.kernel(op.repeat(), *specs)
