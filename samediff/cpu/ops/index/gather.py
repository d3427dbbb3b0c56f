"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.index.gather`."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec, normalize_axis
from ....families.indices import or_compute
from ....ir.op import Kernel
from ....ops.index.gather import Gather, GatherGradient, GatherNd, GatherNdGradient
from ...code.fused import joined, stored
from ...kernel_table import kernel_for
from ...routines.gather_scatter import IndexedRows, Places, change, places, take


def by_vectors(x: TensorSpec, indices: TensorSpec) -> tuple[Places, TensorSpec, TensorSpec] | None:
    """Positions for index vectors, and specs of the array as rows and of the row numbers; None where shapes are not known."""
    shape, given = x.shape or (), indices.shape or ()
    if not (x.is_static and indices.is_static and given):
        return None
    k = given[-1]
    find = places(shape, indices)
    return None if find is None else (find, TensorSpec((math.prod(shape[:k]), *shape[k:]), x.dtype),
                                      TensorSpec((math.prod(given[:-1]),), DataType.LONG))


@kernel_for(Gather)
def _(op: Gather, *specs: TensorSpec) -> Kernel | None:
    x, fixed = specs[0], np.asarray(op.indices, np.int64)
    positions = specs[1] if len(specs) > 1 else TensorSpec((fixed.size,), DataType.LONG)
    if not (x.is_static and positions.is_static and x.shape):
        return None
    rows = take(normalize_axis(op.axis, len(x.shape)), x, positions)
    if rows is None:
        return None
    if len(specs) > 1:
        return Kernel(or_compute(op, rows), native=rows.native)
    return Kernel(lambda x, out: rows(x, fixed, out), native=lambda x, out: rows.native(x, fixed, out))


@kernel_for(GatherGradient)
def _(op: GatherGradient, *specs: TensorSpec) -> Kernel | None:
    x, like, indices = specs
    if not like.shape or not indices.is_static:
        return None
    return _on_zeros(op, change("add", normalize_axis(op.axis, len(like.shape)), TensorSpec(like.shape, x.dtype), indices))


def _on_zeros(op: GatherGradient, add: IndexedRows | None) -> Kernel | None:
    """Rows added where they came from, to an array of zeros."""
    if add is None:
        return None

    def call(x: Any, like: Any, indices: Any, out: Any) -> bool:
        out[...] = 0
        return add(x, indices, out)
    return Kernel(or_compute(op, call), native=lambda x, like, indices, out: joined(stored(np.zeros((), out.dtype), out),
                                                                                    add.native(x, indices, out)))


@kernel_for(GatherNd)
def _(op: GatherNd, *specs: TensorSpec) -> Kernel | None:
    found = by_vectors(*specs)
    rows = None if found is None else take(0, *found[1:])
    if found is None or rows is None:
        return None
    find, table, _ = found

    def kernel(x: Any, indices: Any, out: Any) -> bool:
        places = find(indices)
        return places is not None and rows(x.reshape(table.shape), places, out)

    def native(x: Any, indices: Any, out: Any) -> Any:
        made: list[Any] = []
        places = find.native(indices, made)
        return joined(*made, rows.native(x, places, out))
    return Kernel(or_compute(op, kernel), native=native)


@kernel_for(GatherNdGradient)
def _(op: GatherNdGradient, *specs: TensorSpec) -> Kernel | None:
    x, like, indices = specs
    found = by_vectors(TensorSpec(like.shape, x.dtype), indices)
    add = None if found is None else change("add", 0, *found[1:])
    if found is None or add is None:
        return None
    find = found[0]

    def kernel(x: Any, like: Any, indices: Any, out: Any) -> bool:
        out[...] = 0
        places = find(indices)
        return places is not None and add(x, places, out)

    def native(x: Any, like: Any, indices: Any, out: Any) -> Any:
        made: list[Any] = [stored(np.zeros((), out.dtype), out)]
        places = find.native(indices, made)
        return joined(*made, add.native(x, places, out))
    return Kernel(or_compute(op, kernel), native=native)
