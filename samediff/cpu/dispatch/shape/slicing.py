"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.shape.slicing`."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....base.spec import Shape, TensorSpec
from ....ir.op import Kernel
from ....ops.shape.slicing import Placed, index_of
from ...code.fused import stored
from ...kernel_table import kernel_for


@kernel_for(Placed)
def _(op: Placed, *specs: TensorSpec) -> Kernel | None:
    if len(specs) > 2 or not all(s.is_static for s in specs):
        return None
    shape: Shape = specs[1].shape or ()
    index = index_of(shape, op.of.entries(len(shape)))

    def call(x: Any, like: Any, out: Any) -> None:
        out[...] = 0
        out[index] = x

    def native(x: Any, like: Any, out: Any) -> Any:
        zeros, part = stored(np.zeros((), x.dtype), out), stored(x, out[index])
        return None if zeros is None or part is None else [zeros, part]
    return Kernel(call, native=native)
