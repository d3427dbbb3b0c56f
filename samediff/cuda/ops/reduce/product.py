"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.reduce.product`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....families.broadcasting import axes_of
from ....ops.reduce.product import ReSpread
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.sweep import swept
from ...sweeps.table import SUM_SPREAD


@kernel_for(ReSpread)
def _(op: ReSpread, *specs: TensorSpec) -> CudaKernel | None:
    return None if len(specs) > 1 else swept(SUM_SPREAD, axes_of(op.dimensions, len(specs[0].shape or ())), specs)
