"""CPU kernels of the ops of :mod:`dl4py.layers.ops.step_ops` on the last step."""
# mypy: ignore-errors
from __future__ import annotations

from ....samediff.base.datatype import DataType
from ....samediff.cpu.compiler.sources import kernel
from ....samediff.cpu.kernel_table import kernel_for
from ....samediff.cpu.native.instruction import TYPES, instruction
from ....samediff.ir.op import Kernel
from ...ops.step_ops import AtLastUnmaskedStep, LastUnmaskedStep, ReverseUnmasked

FLOATS = (DataType.FLOAT, DataType.DOUBLE)


@kernel
def taken(series, mask, rows):
    """The last step of each series that is not masked out, zeros where there is none."""
    for n in range(mask.shape[0]):
        t = mask.shape[1] - 1
        while t >= 0 and mask[n, t] == 0:
            t -= 1
        for c in range(rows.shape[1]):
            rows[n, c] = series[n, c, t] if t >= 0 else 0


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


@kernel
def reverse_series(series, mask, out):
    """Series whose unmasked steps are in reverse order; 0 at the others."""
    for n in range(mask.shape[0]):
        source = mask.shape[1] - 1
        for t in range(mask.shape[1]):
            on = mask[n, t] != 0
            while on and mask[n, source] == 0:
                source -= 1
            for c in range(series.shape[1]):
                out[n, c, t] = series[n, c, source] if on else 0
            if on:
                source -= 1


def _served(*specs):
    return all(s.is_static and s.dtype.numpy in TYPES for s in specs) and specs[0].dtype in FLOATS


@kernel_for(LastUnmaskedStep)
def _(op, *specs):
    if not _served(*specs):
        return None
    return Kernel(taken, native=lambda series, mask, rows: instruction(taken, [series, mask, rows], work=20 * len(mask) + rows.size))


@kernel_for(AtLastUnmaskedStep)
def _(op, *specs):
    if not _served(*specs):
        return None
    return Kernel(put, native=lambda rows, mask, series: instruction(put, [rows, mask, series], work=20 * len(mask) + series.size))


@kernel_for(ReverseUnmasked)
def _(op, *specs):
    if not _served(*specs):
        return None
    return Kernel(reverse_series, native=lambda series, mask, out: instruction(
        reverse_series, [series, mask, out], work=20 * len(mask) + out.size))
