"""Frames whose steps are instructions of native programs, as far as there are any."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...expressions import expression as ex
from ...plans.frame import Frame, raise_of_step
from ...plans.plan_data import PlanData, PlanStep
from .fused import fused_instruction, joined, stored

if TYPE_CHECKING:
    from ..native.instruction import Entry, Instruction
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
        self._compile(plan)
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
        if step.native is None or not all(n in self.layouts for n in names) or any(self.layouts[n].size == 0 for n in names):
            return None         # the kernels' sums over nothing are those of their calls
        inputs, outputs = [None if n is None else self.layouts[n] for n in step.inputs], [self.layouts[n] for n in step.outputs]
        try:
            made = step.native(*inputs, *outputs, *work)
            return joined(made) if made is not None else _by_dense_arrays(step, inputs, outputs, work)
        except Exception as error:
            raise_of_step(error, step, plan)

    def _compile(self, plan: PlanData) -> None:
        """Have the machine code of all instructions; what fails names its step."""
        from ..native.helper_process import HelperProcess
        with HelperProcess(i.entry for made in self.natives.values() for i in made) as helper:
            self._compile_where(helper.leaves, plan)
        self._compile_where(lambda entry: True, plan)

    def _compile_where(self, chosen: Callable[[Entry | int], bool], plan: PlanData) -> None:
        for k, made in self.natives.items():
            try:
                for i in made:
                    if chosen(i.entry):
                        i.address  # noqa: B018
            except Exception as error:
                raise_of_step(error, plan.steps[k], plan)

    def _joined(self) -> dict[int, Program]:
        from ..native.program import Program
        return {first: Program([i for k in run for i in self.natives[k]], self.locals) for first, run in self.runs.items()}


def _by_dense_arrays(step: PlanStep, inputs: Sequence[Any], outputs: Sequence[Any], work: Sequence[Any]) -> list[Instruction] | None:
    """The instructions of a kernel that does not take these strides: on dense copies of what is not dense, of as few bytes as will do."""
    assert step.native is not None
    arrays, count = [*inputs, *outputs], len(inputs)
    strided = [k for k, a in enumerate(arrays) if a is not None and not a.flags.c_contiguous]
    several = itertools.chain.from_iterable(itertools.combinations(strided, n) for n in range(1, len(strided) + 1))
    for copied in sorted(several, key=lambda chosen: sum(arrays[k].nbytes for k in chosen)):
        dense = [np.empty(a.shape, a.dtype) if k in copied else a for k, a in enumerate(arrays)]
        made = step.native(*dense, *work)
        if made is not None:
            return joined(*(stored(arrays[k], dense[k]) for k in copied if k < count), made,
                          *(stored(dense[k], arrays[k]) for k in copied if k >= count))
    return None
