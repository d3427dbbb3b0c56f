"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.activations`."""
from __future__ import annotations

from ....ops.activations import Prelu
from ....spec import TensorSpec
from ..actions import CudaKernel
from ..elementwise import loop
from ..kernel_table import kernel_for


@kernel_for(Prelu)
def _(op: Prelu, *specs: TensorSpec) -> CudaKernel | None:
    return loop(op.compute, specs)
