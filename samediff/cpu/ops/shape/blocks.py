"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.shape.blocks`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.shape.blocks import RepeatBlocks, SumBlocks
from ...kernel_table import kernel_for
from ...routines.upsampling import repeated, summed


@kernel_for(RepeatBlocks)
def _(op: RepeatBlocks, *specs: TensorSpec) -> Kernel | None:
    return repeated(op.factors, specs[0])


@kernel_for(SumBlocks)
def _(op: SumBlocks, *specs: TensorSpec) -> Kernel | None:
    return summed(op.factors, specs[0])
