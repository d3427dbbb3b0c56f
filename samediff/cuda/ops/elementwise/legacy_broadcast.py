"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.elementwise.legacy_broadcast`."""
from __future__ import annotations

from ....base.spec import TensorSpec, normalize_axes
from ....families.families import Elementwise
from ....ir.op import OPS
from ....ops.elementwise.legacy_broadcast import Along
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.elementwise import aligned as beside
from ...sweeps.elementwise import loop


@kernel_for(Along)
def _(op: Along, *specs: TensorSpec) -> CudaKernel | None:
    x, y = specs
    if not x.is_static or not y.is_static or not isinstance(OPS[op.of](), Elementwise):
        return None
    rank = len(x.shape or ())
    shape = beside(y.shape or (), normalize_axes(op.dimensions, rank), rank) if op.dimensions else None
    return loop(OPS[op.of]().compute, specs, (None, shape))
