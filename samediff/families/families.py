"""Families of ops: a way of looping, with its shape rule and gradient, so that most ops are a few lines."""
from __future__ import annotations

from ..ir.op import Op, OpClass
from .broadcasting import BroadcastLike, BroadcastReduced, SumTo, broadcast_reduced, sum_to
from .elementwise import Elementwise, Pairwise, PartialDerivative, binary, promoted, scalar_form, unary
from .reduction import Reduction, reduction


class View(Op):
    """Gives another view of the same numbers: ``compute`` must not copy where NumPy need not."""

    is_view = True
    flops_per_element = 0


class ZeroGradient(Op):
    """Mixed into ops that are piecewise constant or have integer results."""

    gradient = "zero"


__all__ = [
    "BroadcastLike",
    "BroadcastReduced",
    "Elementwise",
    "OpClass",
    "Pairwise",
    "PartialDerivative",
    "Reduction",
    "SumTo",
    "View",
    "ZeroGradient",
    "binary",
    "broadcast_reduced",
    "promoted",
    "reduction",
    "scalar_form",
    "sum_to",
    "unary",
]
