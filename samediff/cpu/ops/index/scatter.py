"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.index.scatter`."""
from __future__ import annotations

from typing import Any

from ....base.spec import TensorSpec
from ....families.indices import or_compute
from ....ir.op import Kernel, Op
from ....ops.index.scatter import Scatter, ScatterNd, taken
from ...code.fused import joined, stored
from ...kernel_table import kernel_for
from ...routines.gather_scatter import IndexedRows, Places, change
from .gather import by_vectors


def _on_copy(op: Op, rows: IndexedRows | None, find: Places | None = None) -> Kernel | None:
    """Rows of a copy changed, at indices or at the places that index vectors address."""
    if rows is None:
        return None

    def kernel(ref: Any, indices: Any, updates: Any, out: Any) -> bool:
        out[...] = ref
        places = indices if find is None else find(indices)
        return places is not None and rows(updates, places, out)

    def native(ref: Any, indices: Any, updates: Any, out: Any) -> Any:
        made: list[Any] = [stored(ref, out)]
        places = indices if find is None else find.native(indices, made)
        return joined(*made, rows.native(updates, places, out))
    return Kernel(or_compute(op, kernel), native=native)


@kernel_for(Scatter)
def _(op: Scatter, *specs: TensorSpec) -> Kernel | None:
    ref, indices, _ = specs
    how = op.how
    if not how or not all(s.is_static for s in specs):
        return None
    return _on_copy(op, change(how, 0, ref, indices))  # type: ignore[arg-type]


@kernel_for(ScatterNd)
def _(op: ScatterNd, *specs: TensorSpec) -> Kernel | None:
    ref, indices, updates = specs
    found = by_vectors(ref, indices)
    if found is None or updates.shape != taken(ref, indices) or updates.dtype is not ref.dtype:
        return None
    return _on_copy(op, change(op.how, 0, *found[1:]), found[0])  # type: ignore[arg-type]
