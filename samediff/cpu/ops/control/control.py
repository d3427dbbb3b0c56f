"""CPU kernel of the scan: its body as native instructions, again and again in one call."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ir.run_context import WORD_COUNT, RunContext
from ....ops.control.control import STRIDE, Scan
from ....plans.frame import Frame
from ....plans.plan import Plan
from ...code.fused import laid_out, stored
from ...kernel_table import kernel_for
from ...kernels.random_numbers import step_words
from ...native.instruction import Instruction, instruction
from ...native.repetition import Moving, repetition

#: Nanoseconds of a body that is better called from Python: there several threads share its work.
LONG = 1_000_000


@kernel_for(Scan)
def _(op: Scan, *specs: TensorSpec) -> Kernel | None:
    split = op.carries + op.sequences
    if not all((s.shape or (1,))[0] for s in specs[op.carries:split]):
        return None
    given = op.step_specs(specs)
    plan = op.body.plan(given)
    if any(n in plan.specs and plan.specs[n] != s for n, s in zip(op.body.inputs, given)):      # made for others: these are converted
        return None
    body = _instructions(plan, plan.frames(plan))
    if body is None or sum(i.work for i in body) > LONG:
        return None

    begin, end = int(op.stateful), len(specs) + len(op.body.outputs) + op.carries
    work = (TensorSpec(((specs[op.carries].shape or ())[0], WORD_COUNT), DataType.LONG),) * begin

    def call(*arrays: Any) -> None:
        words, given = arrays[:begin], arrays[begin:]
        context = RunContext.of_words(words[0]) if words else None
        for out, value in zip(given[len(specs):end], op.compute(np, *given[:len(specs)], context=context), strict=True):
            np.copyto(out, value)

    def native(*arrays: Any) -> list[Instruction] | None:
        words, given = arrays[:begin], arrays[begin:]
        if any(a.size == 0 for a in given) or not all(a.flags.c_contiguous for a in given[len(specs):]):
            return None
        made = _ScanInstructions(op, plan, given[:len(specs)], given[len(specs):end])
        return made.instructions(*words, *given[end:])
    return Kernel(call, work, native=native)


def _instructions(plan: Plan, frame: Frame) -> list[Instruction] | None:
    """The native instructions of all steps; None where a step runs in Python, or an instruction can refuse its inputs."""
    found = [i for k in range(len(plan.steps)) for i in frame.natives.get(k, ())]
    return None if frame.calls or frame.copies or any(i.answer is not None for i in found) else found


def _source(plan: Plan, output: str) -> str:
    """The value that an output of a plan is."""
    return plan.sources[plan.outputs.index(output)]


class _ScanInstructions:
    """The instructions of a scan for given arrays: what comes before the steps, and the steps."""

    def __init__(self, op: Scan, plan: Plan, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.plan, self.frame, self.body = plan, plan.frames(plan), op.body
        carries, split, made = op.carries, op.carries + op.sequences, len(op.body.outputs)
        self.steps = len(inputs[carries])
        self.first, self.by = (self.steps - 1, -1) if op.reverse else (0, 1)
        self.initial, self.rows, self.outside = inputs[:carries], inputs[carries:split], inputs[split:]
        self.last, self.results, self.before = outputs[:carries], outputs[carries:made], outputs[made:]
        self.ready: list[Instruction | None] = []        # what comes before the steps

    def instructions(self, words: Any = None, of_steps: Any = None) -> list[Instruction] | None:
        """All of them; None where some do not exist for these arrays.

        Parameters
        ----------
        words, of_steps : state of the random generator, and memory for that of each step, where steps draw
        """
        self.ready += [stored(x, b[self.first, ...]) for x, b in zip(self.initial, self.before)]
        moving, stand_ins, copies = self._places()
        state: Any = self.plan.rng_state
        if state is not None:
            self.ready.append(instruction(step_words, [words, of_steps], [STRIDE - (1 << 64)]))        # as a word with sign
            moving[state], stand_ins[state] = self._along(of_steps), self.frame.locals[state]
        body = [*(_instructions(self.plan, self.frame) or ()), *copies]
        if None in (*self.ready, *body):
            return None
        return [*self.ready, repetition(body, stand_ins, moving, self.steps)]  # type: ignore[list-item, arg-type]  # none is None

    def _along(self, array: Any, shift: int = 0, last: Any = None) -> Moving:
        stride = array.strides[0]
        return Moving(array, (self.first + shift) * stride, self.by * stride, last)

    def _places(self) -> tuple[dict[Any, Moving], dict[Any, Any], list[Instruction | None]]:
        """The place of each local of the body, its substitute, and copies of those that the body does not write there."""
        read = [*map(self._along, self.before), *(self._along(laid_out(x, self.ready, x[0].flags.c_contiguous)) for x in self.rows),
                *(Moving(laid_out(x, self.ready), 0, 0) for x in self.outside)]
        moving: dict[Any, Moving] = {n: m for n, m in zip(self.body.inputs, read, strict=True) if n in self.frame.locals}
        stand_ins = {n: self.frame.locals[n] for n in moving}
        written = [*(self._along(b, self.by, end) for b, end in zip(self.before, self.last)), *map(self._along, self.results)]
        copies = []
        for place, (name, target) in enumerate(zip(self.body.outputs, written, strict=True)):
            source = _source(self.plan, name)
            if source in self.frame.locals and source not in moving:
                moving[source], stand_ins[source] = target, self.frame.locals[source]
                continue
            value = self.frame.layouts[source]           # an input, a constant, a view, or written elsewhere as well
            moving[place], stand_ins[place] = target, np.empty(value.shape, value.dtype)
            copies.append(stored(value, stand_ins[place]))
        return moving, stand_ins, copies
