"""CPU kernels of the ops of :mod:`dl4py.layers.ops.embedding_ops`."""
# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from ....samediff.cpu.compiler.sources import kernel
from ....samediff.cpu.kernel_table import kernel_for
from ....samediff.cpu.native.instruction import TYPES, instruction
from ....samediff.families.indices import or_compute
from ....samediff.ir.op import Kernel
from ...ops.embedding_ops import RowIndices


@kernel
def whole_numbers(x, y, count):
    """Elements of ``x`` as whole numbers from 0 to ``count - 1``; False where one is none."""
    for i in range(x.size):
        v = x[i]
        if not (v >= 0 and v < count):          # NaN is neither
            return False
        y[i] = np.int32(v)
        if y[i] != v:
            return False
    return True


@kernel_for(RowIndices)
def _(op, x):
    if not x.is_static or x.dtype.numpy not in TYPES or x.dtype.name == "BOOL":
        return None

    def call(x, out):
        return whole_numbers(np.ascontiguousarray(x).reshape(-1), out.reshape(-1), op.count)

    def native(x, out):
        if not x.flags.c_contiguous:
            return None
        return instruction(whole_numbers, [x.reshape(-1), out.reshape(-1)], [op.count], work=10 + x.size, refuses=True)
    return Kernel(or_compute(op, call), native=native)
