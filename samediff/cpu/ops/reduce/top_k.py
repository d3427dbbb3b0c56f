"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.reduce.top_k`."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....families.indices import or_compute
from ....ir.op import Kernel
from ....ops.reduce.top_k import PutAlongLast, TakeAlongLast, TopK
from ...code.fused import joined, stored
from ...kernel_table import kernel_for
from ...routines.gather_scatter import put_along, take_along
from ...routines.sliced import SlicedKernel, dense, kernel_of

#: How many of the largest are found by insertion at most; above, NumPy's sort is faster.
MOST = 32
#: Nanoseconds of an element.
COST = 1.0


@kernel_for(TopK)
def _(op: TopK, x: TensorSpec) -> Kernel | None:
    shape, k = x.shape or (), int(op.k)
    if not x.is_static or 0 in shape or k > MOST or x.dtype.numpy.kind not in "fiu" or x.dtype.name in ("HALF", "BFLOAT16"):
        return None

    def build(x: Any, values: Any, places: Any) -> list[SlicedKernel]:
        from ...kernels.largest import largest
        rows = dense(x, -1, shape[-1]), values.reshape(-1, k), places.reshape(-1, k)
        return [SlicedKernel(largest, rows, (), (int(op.sorted),), COST * x.size)]
    made = kernel_of(build)

    def call(x: Any, *outputs: Any) -> None:
        dense_ones = [a if a.flags.c_contiguous else np.empty(a.shape, a.dtype) for a in outputs]
        made.call(x, *dense_ones)
        for found, out in zip(dense_ones, outputs, strict=True):
            if found is not out:
                out[...] = found
    return Kernel(call, native=made.native)


@kernel_for(TakeAlongLast)
def _(op: TakeAlongLast, x: TensorSpec, indices: TensorSpec, like: TensorSpec) -> Kernel | None:
    rows = take_along(x, indices, TensorSpec(like.shape, x.dtype))
    return None if rows is None else Kernel(or_compute(op, lambda x, indices, like, out: rows(x, indices, out)),
                                            native=lambda x, indices, like, out: rows.native(x, indices, out))


@kernel_for(PutAlongLast)
def _(op: PutAlongLast, x: TensorSpec, indices: TensorSpec, like: TensorSpec) -> Kernel | None:
    rows = put_along(x, indices, TensorSpec(like.shape, x.dtype))
    if rows is None:
        return None

    def call(x: Any, indices: Any, like: Any, out: Any) -> bool:
        out[...] = 0
        return rows(x, indices, out)
    return Kernel(or_compute(op, call), native=lambda x, indices, like, out: joined(stored(np.zeros((), out.dtype), out),
                                                                                    rows.native(x, indices, out)))
