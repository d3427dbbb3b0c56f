"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.index.scatter`."""
from __future__ import annotations

from typing import Any

from ....base.spec import TensorSpec
from ....ops.index.scatter import LastRow, Scatter, ScatterNd, taken
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.gather import equal_rows
from ...routines.scatter import changed, changed_nd, scattered


@kernel_for(Scatter)
def _(op: Scatter, *specs: TensorSpec) -> CudaKernel | None:
    ref, indices, _ = specs
    how: Any = op.how
    return scattered(changed(how, 0, ref, indices)) if how else None


@kernel_for(LastRow)
def _(op: LastRow, *specs: TensorSpec) -> CudaKernel | None:
    return equal_rows(True, *specs)


@kernel_for(ScatterNd)
def _(op: ScatterNd, *specs: TensorSpec) -> CudaKernel | None:
    ref, indices, updates = specs
    how: Any = op.how
    found = changed_nd(how, ref, indices) if updates.dtype is ref.dtype and updates.is_static else None
    return scattered(found) if updates.shape == taken(ref, indices) else None
