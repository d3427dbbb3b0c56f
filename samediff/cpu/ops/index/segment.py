"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.index.segment`."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ....base.spec import TensorSpec
from ....families.indices import or_compute
from ....ir.op import Kernel, Op
from ....ops.index.segment import Segment, UnsortedSegment, counts
from ...code.fused import joined, stored
from ...kernel_table import kernel_for
from ...routines.gather_scatter import change


def segment_kernel(op: Op, name: str, empty_is_zero: bool, *specs: TensorSpec) -> Kernel | None:
    """Rows joined in their order; ids out of range are left to ``compute``."""
    data, ids = specs[:2]
    if not all(s.is_static for s in specs) or not data.shape:
        return None
    how: Any = {"prod": "mul", "max": "max", "min": "min"}.get(name, "add")
    inner, dtype = data.shape[len(ids.shape or ()):], data.dtype.numpy
    calls = {1: change(how, 0, TensorSpec((1, *inner), data.dtype), ids)}      # by the number of segments
    if calls[1] is None or (name in ("mean", "sqrt_n") and dtype.kind != "f"):
        return None
    made_of = data.dtype
    limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    start = {"prod": 1, "max": limits.min, "min": limits.max}.get(name, 0)

    def kernel(data: Any, ids: Any, *rest: Any) -> bool:
        out = rest[-1]
        out[...] = start
        n = out.shape[0]
        call = calls[n] if n in calls else calls.setdefault(n, change(how, 0, TensorSpec(out.shape, made_of), ids))
        if call is None or not call(data, ids, out):
            return False
        if name in ("mean", "sqrt_n") or empty_is_zero:
            found = counts(np, ids.reshape(-1), out.shape[0], out)
            if name in ("mean", "sqrt_n"):
                out /= np.maximum(found, 1) if name == "mean" else np.sqrt(np.maximum(found, 1))
            else:
                out[found.reshape(-1) == 0] = 0
        return True

    def native(data: Any, ids: Any, *rest: Any) -> Any:
        out = rest[-1]
        rows = change(how, 0, TensorSpec(out.shape, made_of), specs[1])
        return None if rows is None else joined(stored(np.array(start, out.dtype), out), rows.native(data, ids, out))
    plain = name not in ("mean", "sqrt_n") and not empty_is_zero
    return Kernel(or_compute(op, kernel), native=native if plain else None)


@kernel_for(Segment)
def _(op: Segment, *specs: TensorSpec) -> Kernel | None:
    return segment_kernel(op, op.how, op.how in ("max", "min"), *specs)


@kernel_for(UnsortedSegment)
def _(op: UnsortedSegment, *specs: TensorSpec) -> Kernel | None:
    return segment_kernel(op, op.how, False, *specs) if len(specs) == 2 else None
