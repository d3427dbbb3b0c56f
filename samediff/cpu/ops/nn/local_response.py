"""Sums of cells and their neighbours along an axis, on the CPU."""
from __future__ import annotations

import math

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.conv.window import Window
from ....ops.nn.local_response import NeighbourSum
from ...kernel_table import kernel_for
from ...routines.window_sums import served, window_sums


@kernel_for(NeighbourSum)
def neighbours(op: NeighbourSum, x: TensorSpec) -> Kernel | None:
    """Sums of each cell and ``depth`` neighbours on both sides along an axis: ``call(x, y)``."""
    if not served(x) or op.depth < 0:
        return None
    shape = x.shape or ()
    axis = op.axis % len(shape)
    planes, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1:])
    reach = min(op.depth, shape[axis] - 1)
    return window_sums(Window((2 * reach + 1, 1), (1, 1), (reach, 0), (1, 1)), (planes, shape[axis], inner), x)
