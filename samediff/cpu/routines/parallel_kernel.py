"""Compiled functions that do one share of a kernel's work per call, on as many threads as the work is worth."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import TensorSpec
from ...ir.op import Kernel
from ..threads import parts, parts_for, ranges, run_parts

if TYPE_CHECKING:
    from ..native.instruction import Number


@dataclass(frozen=True)
class ParallelKernel:
    """A compiled function with its arguments: ``function(*operands(*arrays), *numbers, part, parts)``.

    Attributes
    ----------
    function : compiled; part ``part`` of ``parts`` writes what no other part writes
    operands : from the inputs, outputs and workspace of the kernel to dense arrays; views of arrays that are dense
    numbers : int, float, or tuples of these
    nanoseconds : what all of it takes, about
    workspace : of the kernel
    """

    function: Callable[..., Any]
    operands: Callable[..., tuple[Any, ...]]
    numbers: tuple[Number, ...]
    nanoseconds: float
    workspace: tuple[TensorSpec, ...] = ()

    def run(self, *arrays: Any) -> None:
        """Run all shares, on as many threads as the work is worth."""
        given, count = (*self.operands(*arrays), *self.numbers), parts_for(self.nanoseconds)
        if count == 1:
            self.function(*given, 0, 1)
        else:
            run_parts(lambda part, *_: self.function(*given, part, count), ranges(count, count))

    def instruction(self, *arrays: Any) -> Any:
        """The kernel as an instruction of a native program; None where an operand would have to be copied."""
        from ..native.instruction import instruction
        given = self.operands(*arrays)
        fixed = [a is b for a, b in zip(given, self.operands(*arrays))]
        memory = [a for a in arrays if a is not None]
        copied = [not known and a.size and not any(np.may_share_memory(a, m) for m in memory) for a, known in zip(given, fixed)]
        if any(copied) or not all(a.flags.carray for a in given):
            return None
        return instruction(self.function, given, self.numbers, work=self.nanoseconds, parts=True, most=parts())

    def kernel(self) -> Kernel:
        """The work as the kernel of an op."""
        return Kernel(self.run, self.workspace, native=self.instruction)
