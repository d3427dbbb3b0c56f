"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.linalg.matrix_solve`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.linalg.matrix_solve import MatrixScale
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.elementwise import loop


@kernel_for(MatrixScale)
def _(op: MatrixScale, *specs: TensorSpec) -> CudaKernel | None:
    return loop(lambda xp, x, f: x * f, specs, (None, (*(specs[1].shape or ()), 1, 1)))
