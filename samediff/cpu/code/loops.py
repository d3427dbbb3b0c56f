"""Loops over whole arrays that are no part of a graph, as native instructions."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.lazy_property import lazy_property
from ...device.device_memory import to_host
from ...expressions import expression as ex
from ...plans.layout import OperandLayout, OutputReduction
from ...plans.loops import MakeLoops

if TYPE_CHECKING:
    from ..native.instruction import Instruction
    from ..native.program import Program


class NativeLoops:
    """Compiles :class:`~dl4py.samediff.plans.loops.Loops` to native instructions.

    Attributes
    ----------
    arrays : all that they read or write
    """

    def __init__(self) -> None:
        self.arrays: list[Any] = []

    def each(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any]) -> Instruction | None:
        """A native instruction that evaluates expressions for each element; None where there is no compiled form."""
        return self._made(exprs, inputs, outputs, None)

    def total(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], output: Any) -> Instruction | None:
        """A native instruction that sums an expression over all elements; None where there is no compiled form."""
        return self._made(exprs, inputs, [output], OutputReduction("sum"))

    def _made(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any],
              reduction: OutputReduction | None) -> Instruction | None:
        from .elementwise import elementwise_kernel
        size = max(a.size for a in inputs)
        layouts = [OperandLayout.same(1) if a.size == size else OperandLayout.scalar(1) for a in inputs]
        kernel = elementwise_kernel(exprs, layouts, reduction)
        if kernel is None:
            return None
        self.arrays += inputs
        self.arrays += outputs
        return kernel.instruction(kernel.views([*inputs, *outputs]))


class NativeLoopProgram:
    """A :class:`~dl4py.samediff.plans.loops.LoopProgram` that is one native call, ``counter`` included."""

    is_one_call = True

    def __init__(self, make: MakeLoops, counter: Any = None) -> None:
        loops = NativeLoops()
        self.made = {k: m for k, m in make(loops).items() if m is not None}
        self._arrays, self._counter = list({id(a): a for a in loops.arrays}.values()), counter

    @lazy_property
    def _run(self) -> Program:
        from ..native.program import Program
        return Program([*self.made.values(), *([] if self._counter is None else [counted(self._counter)])])

    def __call__(self) -> None:
        """Run all loops in one native call."""
        for array in self._arrays:
            to_host(array)
        self._run()


def counted(counter: Any) -> Instruction:
    """The instruction that adds 1 to an array of one number. No signal handler comes between it and others of the same native call."""
    from ..native.instruction import Instruction
    from ..native.interpreter import ADD_ONE
    return Instruction(ADD_ONE, [counter], [True], work=1.0)
