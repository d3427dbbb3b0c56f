"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.reduce.distances`."""
from __future__ import annotations

from ....base.spec import TensorSpec, broadcast, normalize_axes
from ....ops.reduce.distances import Distance, aligned
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.sweep import folded
from ...sweeps.table import DISTANCES


@kernel_for(Distance)
def _(op: Distance, *specs: TensorSpec) -> CudaKernel | None:
    x, y = specs
    if op.id not in DISTANCES or not x.is_static or not y.is_static or not x.dtype.is_floating or y.dtype is not x.dtype:
        return None
    shape = x.shape or ()
    axes = normalize_axes(op.dimensions, len(shape))
    other = aligned(shape, y.shape or (), axes)
    if broadcast(shape, other) != shape:
        return None
    return folded(DISTANCES[op.id], axes, specs, [x], [shape, (1,) * (len(shape) - len(other)) + other])
