"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.merging`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.shape.merging import VariadicElementwise
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.elementwise import loop


@kernel_for(VariadicElementwise)
def _(op: VariadicElementwise, *specs: TensorSpec) -> CudaKernel | None:
    return loop(op.element, specs)
