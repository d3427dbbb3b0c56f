"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.losses.loss`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.losses.loss import WeightsSum, fit
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.elementwise import summed
from ...sweeps.table import REDUCTIONS


@kernel_for(WeightsSum)
def _(op: WeightsSum, *specs: TensorSpec) -> CudaKernel | None:
    x, weights = specs
    if not x.is_static or not weights.is_static:
        return None
    shape = fit(weights.shape or (), x.shape or ())
    return summed(tuple(i for i, n in enumerate(shape) if n == 1 and (x.shape or ())[i] != 1), x, REDUCTIONS["reduce_sum"], 1)
