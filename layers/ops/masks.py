"""Rows of graphs under masks."""
from __future__ import annotations

from ...samediff.ir.variable import SDVariable
from ...samediff.ops.elementwise.masking import times_mask


def masked(x: SDVariable, mask: SDVariable | None) -> SDVariable:
    """Rows times their mask, (batch, 1) or (batch,)."""
    return x if mask is None else times_mask(x, column(mask))


def column(mask: SDVariable) -> SDVariable:
    """A mask with one value per example as a column."""
    return mask.sd.call("base", "expand_dims", mask, 1) if mask.spec.rank == 1 else mask  # type: ignore[no-any-return]


def any_output(mask: SDVariable) -> SDVariable:
    """1 for each example of which a mask, (batch, 1) or (batch, outputs), leaves something, else 0: (batch, 1)."""
    return column(mask).neq(0.0).cast_to(mask.dtype).max(True, 1)  # type: ignore[no-any-return]
