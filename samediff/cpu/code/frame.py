"""Frames whose steps are instructions of native programs, as far as there are any."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...expressions import expression as ex
from ...plans.frame import Frame, raise_of_step
from ...plans.plan_data import PlanData, PlanStep
from .fused import fused_instruction

if TYPE_CHECKING:
    from ..native.instruction import Instruction
    from ..native.program import Program


class NativeFrame(Frame):
    """As :class:`Frame`.

    Attributes
    ----------
    natives : for each native step its instructions
    segments : the program of each of ``runs``
    """

    natives: dict[int, Sequence[Instruction]]

    def __init__(self, plan: PlanData) -> None:
        super().__init__(plan)
        self.segments = self._joined()

    def addresses(self) -> dict[int, int]:
        """Addresses of the native code of segments, by the number of their first step."""
        return {i: s.address for i, s in self.segments.items()}

    def copied(self, step: PlanStep) -> list[Instruction] | None:
        """The native copy for a view op whose result needs memory of its own, where the order of elements stays; else None."""
        given = [n for n in step.inputs if n is not None]
        x, y = self.layouts[given[0]], self.layouts[step.outputs[0]]
        if len(step.outputs) > 1 or x.dtype != y.dtype or x.size != y.size or not y.flags.c_contiguous or x.dtype.kind not in "fiu":
            return None
        numbered = np.arange(x.size).reshape(x.shape)
        found = step.call(numbered, *[None if n is None else self.layouts[n] for n in step.inputs[1:]])[0]
        if step.inputs[0] is None or found.shape != y.shape or not np.array_equal(found.reshape(-1), numbered.reshape(-1)):
            return None
        made = fused_instruction((ex.input_(0, x.dtype),), ("x", "y"), [x], [y.reshape(x.shape)], {})
        return None if made is None else [made]

    def instructions(self, step: PlanStep, work: list[Any], plan: PlanData) -> Sequence[Instruction] | None:
        """The native instructions of a step for arrays of their final layout; None where it has none."""
        names = [n for n in (*step.inputs, *step.outputs) if n is not None]
        if step.native is None or not all(n in self.layouts for n in names) or any(self.layouts[n].size == 0 for n in step.outputs):
            return None
        inputs = [None if n is None else self.layouts[n] for n in step.inputs]
        try:
            made = step.native(*inputs, *[self.layouts[n] for n in step.outputs], *work)
        except Exception as error:
            raise_of_step(error, step, plan)
        return made if made is None or isinstance(made, list) else [made]

    def _joined(self) -> dict[int, Program]:
        from ..native.program import Program
        return {first: Program([i for k in run for i in self.natives[k]], self.locals) for first, run in self.runs.items()}
