"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.linalg.matmul`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.linalg.matmul import BatchMmul, Matmul, TensorMmul
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.products import contraction, matmul, matmuls


@kernel_for(Matmul)
def _(op: Matmul, *specs: TensorSpec) -> CudaKernel | None:
    return matmul((op.transpose_x, op.transpose_y, op.transpose_z), *specs)


@kernel_for(BatchMmul)
def _(op: BatchMmul, *specs: TensorSpec) -> CudaKernel | None:
    return None if op.scaled else matmuls(op.transpose_a, op.transpose_b, specs)


@kernel_for(TensorMmul)
def _(op: TensorMmul, *specs: TensorSpec) -> CudaKernel | None:
    transposed = op.transpose_x, op.transpose_y, op.transpose_z
    return contraction(op.dimensions_x, op.dimensions_y, transposed, *specs)
