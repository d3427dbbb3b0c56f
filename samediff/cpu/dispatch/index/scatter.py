"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.index.scatter`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....base.spec import TensorSpec
from ....ir.op import Kernel, Op
from ....ops.index.indices import or_compute
from ....ops.index.scatter import Scatter, ScatterNd, taken
from ...kernel_table import kernel_for
from ...routines.indexed import change
from .gather import change_at


def _on_copy(op: Op, call: Callable[..., bool] | None) -> Kernel | None:
    if call is None:
        return None

    def kernel(ref: Any, indices: Any, updates: Any, out: Any) -> bool:
        out[...] = ref
        return call(updates, indices, out)
    return Kernel(or_compute(op, kernel))


@kernel_for(Scatter)
def _(op: Scatter, *specs: TensorSpec) -> Kernel | None:
    ref, indices, _ = specs
    how = op.id.removeprefix("scatter_")
    if how not in ("add", "sub", "mul", "div", "max", "min", "update") or not all(s.is_static for s in specs):
        return None
    return _on_copy(op, change(how, 0, ref, indices))  # type: ignore[arg-type]


@kernel_for(ScatterNd)
def _(op: ScatterNd, *specs: TensorSpec) -> Kernel | None:
    ref, indices, updates = specs
    if updates.shape != taken(ref, indices) or updates.dtype is not ref.dtype:
        return None
    return _on_copy(op, change_at(ref, indices, op.id.removeprefix("scatter_nd_")))
