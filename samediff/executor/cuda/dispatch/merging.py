"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.merging`."""
from __future__ import annotations

from ....ops.merging import Merge
from ....spec import TensorSpec
from ..actions import CudaKernel
from ..elementwise import loop
from ..kernel_table import kernel_for


@kernel_for(Merge)
def _(op: Merge, *specs: TensorSpec) -> CudaKernel | None:
    return loop(op.element, specs)
