"""CUDA kernels of the ops of :mod:`dl4py.layers.ops.embedding_ops`."""
from __future__ import annotations

from ....samediff.base.spec import TensorSpec
from ....samediff.cuda.kernel_table import kernel_for
from ....samediff.cuda.sweeps.elementwise import loop
from ....samediff.plans.actions import CudaKernel
from ...ops.embedding_ops import RowIndices


@kernel_for(RowIndices)
def _(op: RowIndices, *specs: TensorSpec) -> CudaKernel | None:
    return loop(op.or_none, specs)
