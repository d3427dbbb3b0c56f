"""CPU kernels of the ops of :mod:`dl4py.layers.ops.loss_terms`."""
# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from ....samediff.cpu.compiler.sources import kernel
from ....samediff.cpu.kernel_table import kernel_for
from ....samediff.cpu.native.instruction import TYPES, instruction
from ....samediff.families.indices import or_compute
from ....samediff.ir.op import Kernel
from ...ops.loss_terms import OneHotLabels


@kernel
def ones_at(labels, rows):
    """Rows with a 1 in the column of the label; False where a label is no column."""
    for i in range(rows.shape[0]):
        v = labels[i]
        if not (v >= 0 and v < rows.shape[1]):         # NaN is neither
            return False
        k = np.int64(v)
        if k != v:
            return False
        for j in range(rows.shape[1]):
            rows[i, j] = 1 if j == k else 0
    return True


@kernel_for(OneHotLabels)
def _(op, labels, output):
    if not (labels.is_static and output.is_static) or labels.dtype.numpy not in TYPES or output.dtype.name not in ("FLOAT", "DOUBLE"):
        return None
    if labels.dtype.name == "BOOL" or len(output.shape) != 2 or labels.shape[:1] != output.shape[:1]:
        return None

    def call(labels, output, rows):
        return ones_at(np.ascontiguousarray(labels).reshape(-1), rows)

    def native(labels, output, rows):
        if not labels.flags.c_contiguous:
            return None
        return instruction(ones_at, [labels.reshape(-1), rows], work=10 + rows.size, refuses=True)
    return Kernel(or_compute(op, call), native=native)
