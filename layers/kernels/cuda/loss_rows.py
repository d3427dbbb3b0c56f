"""CUDA kernels of the ops of :mod:`dl4py.layers.loss_rows`."""
from __future__ import annotations

from ....samediff.executor.cuda.actions import CudaKernel
from ....samediff.executor.cuda.elementwise import by_rows, loop
from ....samediff.executor.cuda.kernel_table import kernel_for
from ....samediff.executor.cuda.sweep import swept
from ....samediff.executor.cuda.sweeps import PROXIMITY, PROXIMITY_SLOPE
from ....samediff.spec import TensorSpec
from ...loss_rows import CosineProximity, MaskedRows, RowSlope


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
    return loop(lambda xp, scores, mask: scores * mask, specs, (None, specs[0].shape))
