"""Kernels of elementwise expressions, as far as they have a compiled form."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...expressions.scalar_node import Expr
from ...plans.layout import OperandLayout, OutputReduction
from ..library.operators import NoKernel
from .kernel import ElementwiseKernel

Reductions = OutputReduction | Sequence[OutputReduction | None] | None


def elementwise_kernel(exprs: Sequence[Expr], layouts: Sequence[OperandLayout], reduction: Reductions = None,
                       output_layouts: Sequence[OperandLayout] | None = None,
                       in_place: Mapping[int, int] | None = None) -> ElementwiseKernel | None:
    """Compile expressions into one loop nest.

    Parameters
    ----------
    exprs : sequence of Expr
        One for each output; ``input_(i, dtype)`` is operand ``i``.
    layouts : sequence of Layout
        How each operand lies over the index space.
    reduction : Reduction, or a sequence with one for each output, optional
        A reduction of the outputs over axes of the index space.
    output_layouts : sequence of Layout, optional
        Where outputs are views with strides; by default they are contiguous.
    in_place : mapping, optional
        Outputs (by position) that are the memory of an input (by index); ``bind`` finds that out by itself.

    Returns
    -------
    Kernel or None
        None where a type (float16, bfloat16) or function has no compiled form; use
        :func:`~dl4py.samediff.expressions.expression.evaluate` then.

    Notes
    -----
    Kernels do not depend on sizes.  Equal sources are compiled once in a process, and once on a machine.
    An output may be the memory of an input of the same layout, but not overlap it otherwise.
    """
    reductions = [reduction] * len(exprs) if reduction is None or isinstance(reduction, OutputReduction) else list(reduction)
    ndim = len(layouts[0].varies) if layouts else 0
    outputs = output_layouts or [OperandLayout.same(ndim) if r is None else OperandLayout(r.kept(ndim)) for r in reductions]
    try:
        return ElementwiseKernel(exprs, layouts, outputs, reductions, in_place)
    except NoKernel:
        return None
