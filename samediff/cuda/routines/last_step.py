"""The last steps of series that a mask leaves."""
from __future__ import annotations

from typing import Any

from ...base.spec import TensorSpec
from ...plans.actions import Action, CudaKernel
from ..sweeps.elementwise import launches, traced
from ..sweeps.sweep import folded, swept
from ..sweeps.table import LAST, WHERE_SUM


def _where(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(y != 0, x, 0)


def last(x: TensorSpec, mask: TensorSpec) -> CudaKernel | None:
    """``(x, mask, out)``: (batch, size, time) and (batch, time) to (batch, size), by a row that is 1 at that step and 0 elsewhere.

    Series without a step that is left give zeros.
    """
    ones = TensorSpec(mask.shape, x.dtype)
    marks = swept(LAST, (1,), [mask], result=x.dtype)
    if marks is None or not x.is_static or not mask.is_static:
        return None
    (n, size, time), found = x.shape or (0, 0, 0), marks
    taken = folded(WHERE_SUM, (2,), [x, ones], [x], [(n, size, time), (n, 1, time)])
    if taken is None:
        return None
    chosen, count = taken, len(found.workspace)

    def actions(x: Any, mask: Any, out: Any, row: Any, *work: Any) -> list[Action]:
        return [*found.actions(mask, row, *work[:count]), *chosen.actions(x, row, out, *work[count:])]
    return CudaKernel(actions, (ones, *found.workspace, *chosen.workspace))


def at_last(rows: TensorSpec, mask: TensorSpec) -> CudaKernel | None:
    """``(rows, mask, out)``: (batch, size) and (batch, time) to (batch, size, time), 0 but for the last step."""
    ones = TensorSpec(mask.shape, rows.dtype)
    marks = swept(LAST, (1,), [mask], result=rows.dtype)
    if marks is None or not rows.is_static or not mask.is_static:
        return None
    found, (n, size), time = marks, rows.shape or (0, 0), (mask.shape or (0, 0))[1]
    exprs = traced(_where, (rows.dtype.numpy,) * 2)

    def actions(rows: Any, mask: Any, out: Any, row: Any, *work: Any) -> list[Action]:
        return [*found.actions(mask, row, *work), *launches(exprs, [rows.reshape(n, size, 1), row.reshape(n, 1, time)], [out])]
    return CudaKernel(actions, (ones, *found.workspace))
