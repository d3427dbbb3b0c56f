"""CPU kernels of the ops of :mod:`dl4py.samediff.families.spreading`."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....base.spec import TensorSpec, size
from ....families.spreading import Spread, SumTo, axes_of, broadcast_axes
from ....ir.op import Kernel
from ...kernel_table import kernel_for
from ...sweeps.sweep import folded
from ...sweeps.sweeps import REDUCTIONS


@kernel_for(Spread)
def _(op: Spread, *specs: TensorSpec) -> Kernel | None:
    x, like = specs[0], specs[1]
    if op.divisor is None or len(specs) > 2 or not x.dtype.is_floating:
        return None
    gone = axes_of(op.dimensions, len(like.shape or ()))
    shape = [1 if i in gone else n for i, n in enumerate(like.shape or ())]
    count = x.dtype.numpy.type((size(like.shape) // size(x.shape) if size(x.shape) else 0) - op.divisor)
    return Kernel(lambda x, like, out: np.divide(x.reshape(shape), count, out=out))


@kernel_for(SumTo)
def _(op: SumTo, *specs: TensorSpec) -> Kernel | None:
    x, like = specs[0].shape or (), specs[1].shape or ()
    axes = broadcast_axes(x, like)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x))
    sums = folded(REDUCTIONS["reduce_sum"], axes, specs[0], TensorSpec(kept, specs[0].dtype)) if specs[0].is_static else None

    def native(x: Any, like: Any, out: Any) -> Any:
        return sums.native(x, out) if sums is not None and sums.native is not None else None
    return Kernel(lambda x, like, out: np.add.reduce(x, axis=axes, out=out.reshape(kept), keepdims=True), native=native)
