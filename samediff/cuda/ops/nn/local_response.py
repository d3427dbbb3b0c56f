"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.nn.local_response`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.nn.local_response import NeighbourSum
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.scan import neighbours


@kernel_for(NeighbourSum)
def _(op: NeighbourSum, *specs: TensorSpec) -> CudaKernel | None:
    return neighbours(op.depth, op.axis, specs[0])
