"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.shape_info`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.shape.shape_info import Cast
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.elementwise import loop


@kernel_for(Cast)
def _(op: Cast, *specs: TensorSpec) -> CudaKernel | None:
    return loop(op.compute, specs) if op.data_type.is_numeric else None
