"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.nn.local_response`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.nn.local_response import NeighbourSum
from ...kernel_table import kernel_for
from ...routines.upsampling import neighbours


@kernel_for(NeighbourSum)
def _(op: NeighbourSum, *specs: TensorSpec) -> Kernel | None:
    return neighbours(op.depth, op.axis, specs[0])
