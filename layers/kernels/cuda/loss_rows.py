"""CUDA kernels of the ops of :mod:`dl4py.layers.ops.loss_rows`."""
from __future__ import annotations

from ....samediff.base.spec import TensorSpec
from ....samediff.cuda.kernel_table import kernel_for
from ....samediff.cuda.sweeps.elementwise import by_rows, loop
from ....samediff.cuda.sweeps.sweep import swept
from ....samediff.cuda.sweeps.table import PROXIMITY, PROXIMITY_SLOPE
from ....samediff.plans.actions import CudaKernel
from ...ops.loss_rows import CosineProximity, MaskedRows, RowSlope


@kernel_for(RowSlope)
def _(op: RowSlope, *specs: TensorSpec) -> CudaKernel | None:
    shape = specs[0].shape or ()
    if not isinstance(op.of, CosineProximity) or specs[1].shape != shape or any(s.dtype is not specs[0].dtype for s in specs):
        return None
    return swept(PROXIMITY_SLOPE, (1,), specs, [shape, shape, (shape[0], 1)])


@kernel_for(CosineProximity)
def _(op: CosineProximity, *specs: TensorSpec) -> CudaKernel | None:
    return by_rows(PROXIMITY, *specs)


@kernel_for(MaskedRows)
def _(op: MaskedRows, *specs: TensorSpec) -> CudaKernel | None:
    return loop(lambda xp, scores, mask: xp.where(mask != 0, scores * mask, 0), specs, (None, specs[0].shape))
