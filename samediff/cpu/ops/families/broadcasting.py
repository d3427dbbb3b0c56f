"""CPU kernels of the ops of :mod:`dl4py.samediff.families.broadcasting`."""
from __future__ import annotations

from typing import Any

from ....base.spec import TensorSpec
from ....expressions.arrays import sum_over
from ....families.broadcasting import SumTo, broadcast_axes
from ....ir.op import Kernel
from ....plans.sweeps.table import REDUCTIONS
from ...kernel_table import kernel_for
from ...sweeps.sweep import folded


@kernel_for(SumTo)
def _(op: SumTo, *specs: TensorSpec) -> Kernel | None:
    x, like = specs[0].shape or (), specs[1].shape or ()
    axes = broadcast_axes(x, like)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x))
    sums = folded(REDUCTIONS["reduce_sum"], axes, specs[0], TensorSpec(kept, specs[0].dtype)) if specs[0].is_static else None

    def native(x: Any, like: Any, out: Any) -> Any:
        return sums.native(x, out) if sums is not None and sums.native is not None else None

    def call(x: Any, like: Any, out: Any) -> None:
        out.reshape(kept)[...] = sum_over(x, axes, keepdims=True)
    return Kernel(call, native=native)
