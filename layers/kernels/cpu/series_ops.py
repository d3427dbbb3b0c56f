"""CPU kernels of the ops of :mod:`dl4py.layers.ops.series_ops` that do more than move elements."""
from __future__ import annotations

from typing import Any

from ....samediff.base.spec import TensorSpec
from ....samediff.cpu.kernel_table import kernel_for
from ....samediff.cpu.sweeps.sweep import folded
from ....samediff.ir.op import Kernel
from ....samediff.plans.sweeps.table import REDUCTIONS
from ...ops.series_ops import ExampleSums


@kernel_for(ExampleSums)
def _(op: ExampleSums, *specs: TensorSpec) -> Kernel | None:
    (size,), n = specs[0].shape or (-1,), (specs[1].shape or (-1,))[0]
    if min(size, n) < 1:
        return None
    rows = TensorSpec((n, size // n), specs[0].dtype)
    made = folded(REDUCTIONS["reduce_sum"], (1,), rows, TensorSpec(None, rows.dtype))
    if made is None:
        return None
    call, native = made.call, made.native

    def seen(function: Any) -> Any:
        return lambda x, batch, *rest: function(x.reshape(rows.shape), *rest)
    return Kernel(seen(call), made.workspace, native=None if native is None else seen(native))
