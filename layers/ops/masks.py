"""Rows of graphs under masks."""
from __future__ import annotations

from ...samediff.ir.variable import SDVariable


def masked(x: SDVariable, mask: SDVariable | None) -> SDVariable:
    """Rows times their mask, (batch, 1) or (batch,)."""
    return x if mask is None else x * column(mask)  # type: ignore[no-any-return]


def column(mask: SDVariable) -> SDVariable:
    """A mask with one value per example as a column."""
    return mask.sd.call("base", "expand_dims", mask, 1) if mask.spec.rank == 1 else mask  # type: ignore[no-any-return]
