"""CPU kernels of running sums and products: axis by axis."""
from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from ....base.datatype import DataType
from ....base.spec import TensorSpec, normalize_axes
from ....ir.op import Kernel
from ....ops.reduce.cumulative import CumProd, CumSum
from ...kernel_table import kernel_for
from ...routines.sliced import SlicedKernel, dense, kernel_of

_SERVED = DataType.FLOAT, DataType.DOUBLE, DataType.INT, DataType.LONG


@kernel_for(CumSum)
@kernel_for(CumProd)
def running(op: CumSum | CumProd, x: TensorSpec) -> Kernel | None:
    """``call(x, y, *work)``: one array in between for each further axis."""
    shape = x.shape or ()
    if x.dtype not in _SERVED or 0 in shape or not shape:
        return None
    from ...kernels.running import accumulate
    axes = normalize_axes(op.axis, len(shape))
    flags = int(op.combine == "prod"), int(op.exclusive), int(op.reverse)

    def build(x: Any, y: Any, *work: Any) -> list[SlicedKernel]:
        made = []
        for axis, (source, target) in zip(axes, pairwise((x, *work, y))):
            sizes = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1:])
            made.append(SlicedKernel(accumulate, (dense(source, *sizes), dense(target, *sizes)), (), flags))
        return made
    return kernel_of(build, (x,) * (len(axes) - 1))
