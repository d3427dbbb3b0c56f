"""CUDA kernels of the ops of :mod:`dl4py.layers.embedding_ops`."""
from __future__ import annotations

from ....samediff.executor.cuda.actions import CudaKernel
from ....samediff.executor.cuda.elementwise import loop
from ....samediff.executor.cuda.kernel_table import kernel_for
from ....samediff.spec import TensorSpec
from ...embedding_ops import RowIndices


@kernel_for(RowIndices)
def _(op: RowIndices, *specs: TensorSpec) -> CudaKernel | None:
    return loop(op.or_none, specs)
