"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.local_response`."""
from __future__ import annotations

from ....op import Kernel
from ....ops.local_response import NeighbourSum
from ....spec import TensorSpec
from ..cells import neighbours
from ..kernel_table import kernel_for


@kernel_for(NeighbourSum)
def _(op: NeighbourSum, *specs: TensorSpec) -> Kernel | None:
    return neighbours(op.depth, op.axis, specs[0])
