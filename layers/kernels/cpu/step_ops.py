"""CPU kernels of the ops of :mod:`dl4py.layers.ops.step_ops` on the last step."""
# mypy: ignore-errors
from __future__ import annotations

from ....samediff.base.datatype import DataType
from ....samediff.cpu.cache.sources import kernel
from ....samediff.cpu.kernel_table import kernel_for
from ....samediff.cpu.native.instruction import TYPES, instruction
from ....samediff.ir.op import Kernel
from ....samediff.ops.index.indices import or_compute
from ...ops.step_ops import AtLastUnmaskedStep, LastUnmaskedStep

FLOATS = (DataType.FLOAT, DataType.DOUBLE)


@kernel
def taken(series, mask, rows, strict):
    """The last step of each series that is not masked out, zeros where there is none; False if ``strict`` and there is none."""
    for n in range(mask.shape[0]):
        t = mask.shape[1] - 1
        while t >= 0 and mask[n, t] == 0:
            t -= 1
        if t < 0 and strict != 0:
            return False
        for c in range(rows.shape[1]):
            rows[n, c] = series[n, c, t] if t >= 0 else 0
    return True


@kernel
def put(rows, mask, series):
    """Rows at that step of series that are 0 elsewhere."""
    for n in range(mask.shape[0]):
        last = mask.shape[1] - 1
        while last >= 0 and mask[n, last] == 0:
            last -= 1
        for c in range(rows.shape[1]):
            for t in range(mask.shape[1]):
                series[n, c, t] = rows[n, c] if t == last else 0


def _served(*specs):
    return all(s.is_static and s.dtype.numpy in TYPES for s in specs) and specs[0].dtype in FLOATS


@kernel_for(LastUnmaskedStep)
def _(op, *specs):
    if not _served(*specs):
        return None
    strict = int(op.strict)

    def native(series, mask, rows):
        return instruction(taken, [series, mask, rows], [strict], work=20 * len(mask) + rows.size, refuses=True)
    return Kernel(or_compute(op, lambda series, mask, rows: taken(series, mask, rows, strict)), native=native)


@kernel_for(AtLastUnmaskedStep)
def _(op, *specs):
    if not _served(*specs):
        return None
    return Kernel(put, native=lambda rows, mask, series: instruction(put, [rows, mask, series], work=20 * len(mask) + series.size))
