"""Loops over whole arrays that are no part of a graph: updates, normalizations, penalties; as native instructions, or as what another
device takes in their place."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...expressions import expression as ex
from ...plans.layout import OperandLayout, OutputReduction


class Loops(Protocol):
    """What makes loops for a device.

    Inputs of one element count for every element; outputs may be inputs. None where there is no compiled form.
    """

    def each(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Expressions of each element of flat arrays."""

    def total(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], output: Any) -> Any:
        """The sum of an expression over all elements, into an array of one."""


class NativeLoops:
    """Instructions of the CPU."""

    def each(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """An instruction, as :class:`Loops` says."""
        return self._made(exprs, inputs, outputs, None)

    def total(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], output: Any) -> Any:
        """An instruction, as :class:`Loops` says."""
        return self._made(exprs, inputs, [output], OutputReduction("sum"))

    def _made(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any], reduction: OutputReduction | None) -> Any:
        from .elementwise import elementwise_kernel
        size = max(a.size for a in inputs)
        layouts = [OperandLayout.same(1) if a.size == size else OperandLayout.scalar(1) for a in inputs]
        kernel = elementwise_kernel(exprs, layouts, reduction)
        return None if kernel is None else kernel.instruction(kernel.views([*inputs, *outputs]))
