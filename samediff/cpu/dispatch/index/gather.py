"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.index.gather`."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec, normalize_axis
from ....ir.op import Kernel
from ....ops.index.gather import Gather, GatherGradient, GatherNd, GatherNdGradient
from ....ops.index.indices import or_compute
from ...kernel_table import kernel_for
from ...routines.indexed import change, places, take


def change_at(y: TensorSpec, indices: TensorSpec, how: Any) -> Callable[..., bool] | None:
    """``call(updates, indices, y)``: y changed in place at index vectors; False when one is out of range."""
    table, at = _table(y, indices)
    find, call = (None, None) if table is None else (places(y.shape or (), indices), change(how, 0, table, at))
    if find is None or call is None:
        return None

    def kernel(updates: Any, indices: Any, y: Any) -> bool:
        found = find(indices)
        return found is not None and call(updates, found, y)
    return kernel


def _table(x: TensorSpec, indices: TensorSpec) -> tuple[Any, TensorSpec]:
    """An array as rows that index vectors address, and the places of those; None where shapes are not known."""
    given = indices.shape or ()
    if not (x.is_static and indices.is_static and given):
        return None, indices
    shape, k = x.shape or (), given[-1]
    return TensorSpec((math.prod(shape[:k]), *shape[k:]), x.dtype), TensorSpec((math.prod(given[:-1]),), DataType.LONG)


@kernel_for(Gather)
def _(op: Gather, *specs: TensorSpec) -> Kernel | None:
    x, fixed = specs[0], np.asarray(op.indices, np.int64)
    positions = specs[1] if len(specs) > 1 else TensorSpec((fixed.size,), DataType.LONG)
    if not (x.is_static and positions.is_static and x.shape):
        return None
    call = take(normalize_axis(op.axis, len(x.shape)), x, positions)
    return None if call is None else Kernel(or_compute(op, call) if len(specs) > 1 else lambda x, out: call(x, fixed, out))


@kernel_for(GatherGradient)
def _(op: GatherGradient, *specs: TensorSpec) -> Kernel | None:
    x, like, indices = specs
    if not like.shape or not indices.is_static:
        return None
    add = change("add", normalize_axis(op.axis, len(like.shape)), TensorSpec(like.shape, x.dtype), indices)
    if add is None:
        return None

    def call(x: Any, like: Any, indices: Any, out: Any) -> bool:
        out[...] = 0
        return add(x, indices, out)
    return Kernel(or_compute(op, call))


@kernel_for(GatherNd)
def _(op: GatherNd, *specs: TensorSpec) -> Kernel | None:
    x, indices = specs
    table, at = _table(x, indices)
    find, call = (None, None) if table is None else (places(x.shape or (), indices), take(0, table, at))
    if find is None or call is None:
        return None

    def kernel(x: Any, indices: Any, out: Any) -> bool:
        found = find(indices)
        return found is not None and call(x.reshape(table.shape), found, out)
    return Kernel(or_compute(op, kernel))


@kernel_for(GatherNdGradient)
def _(op: GatherNdGradient, *specs: TensorSpec) -> Kernel | None:
    x, like, indices = specs
    call = change_at(TensorSpec(like.shape, x.dtype), indices, "add")
    if call is None:
        return None

    def kernel(x: Any, like: Any, indices: Any, out: Any) -> bool:
        out[...] = 0
        return call(x, indices, out)
    return Kernel(or_compute(op, kernel))
