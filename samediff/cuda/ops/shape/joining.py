"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.joining`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.shape.joining import TileSum
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.elementwise import summed
from ...sweeps.table import REDUCTIONS


@kernel_for(TileSum)
def _(op: TileSum, *specs: TensorSpec) -> CudaKernel | None:
    x, like = specs[:2]
    if not x.is_static or not like.is_static or 0 in (like.shape or ()):
        return None
    pairs = tuple(v for whole, n in zip(x.shape or (), like.shape or ()) for v in (whole // n, n))
    return summed(range(0, len(pairs), 2), TensorSpec(pairs, x.dtype), REDUCTIONS["reduce_sum"], len(specs) - 1)
