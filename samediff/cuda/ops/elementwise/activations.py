"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.elementwise.activations`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.elementwise.activations import Prelu
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.elementwise import loop


@kernel_for(Prelu)
def _(op: Prelu, *specs: TensorSpec) -> CudaKernel | None:
    return loop(op.compute, specs)
