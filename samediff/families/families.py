"""Families of ops: a way of looping, with its shape rule and gradient, so that most ops are a few lines."""
from __future__ import annotations

from ..ir.op import Op, OpClass
from .elementwise import Elementwise, Pairwise, Partial, binary, promoted, scalar_form, unary
from .reduction import Reduction, reduction
from .spreading import BroadcastLike, Spread, SumTo, spread, sum_to


class View(Op):
    """Gives another view of the same numbers: ``compute`` must not copy where NumPy need not."""

    is_view = True


class ZeroGradient(Op):
    """Mixed into ops that are piecewise constant or have integer results."""

    gradient = "zero"


__all__ = ["BroadcastLike", "Elementwise", "OpClass", "Pairwise", "Partial", "Reduction", "Spread", "SumTo", "View",
           "ZeroGradient", "binary",
           "promoted", "reduction", "scalar_form", "spread", "sum_to", "unary"]
