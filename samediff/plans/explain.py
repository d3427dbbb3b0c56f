"""Plans as text: what was fused, where values live, what runs without Python and why the rest does not."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.kernel_table import KernelTable
from .frame import Frame
from .memory import bytes_of
from .plan import Plan
from .plan_data import PlanStep
from .way import Way, way_of, why

#: Describes the native call of the steps with these numbers in a frame.
CallText = Callable[[Frame, Sequence[int]], str]


def explained(plan: Plan, kernels: KernelTable[Any], call_text: CallText) -> str:
    """A description of a plan: fused ops, memory, native calls, and steps that run in Python and why.

    Parameters
    ----------
    plan : of a back end whose arrays are in the host's memory
    kernels : of that back end
    call_text : one line on a native call
    """
    frame = plan.peek()
    calls = frame.runs
    count = sum(len(v) for v in frame.natives.values())
    python = [i for i in range(len(plan.steps)) if way_of(plan, frame, i) not in (Way.NATIVE, Way.VIEW)]
    lines = [f"steps: {len(plan.steps)}, instructions: {count}, native calls: {len(calls)}, steps called from Python: {len(python)}"]
    before = -1
    for i, step in enumerate(plan.steps):
        if i in calls:
            lines += ["", call_text(frame, calls[i])]
        elif i in python and before not in python:
            lines += ["", "called from Python:"]
        if way_of(plan, frame, i) is not Way.VIEW:
            before = i
        lines += _step_lines(plan, frame, i, step, kernels)
    return "\n".join([*lines, "", *_buffer_lines(plan)])


def _step_lines(plan: Plan, frame: Frame, i: int, step: PlanStep, kernels: KernelTable[Any]) -> list[str]:
    made = ", ".join(f"{n} {plan.specs[n]}" + (f" @{plan.offsets[n]}" if n in plan.offsets else "")
                     + " (written in place)" * (n in plan.pinned) for n in step.outputs)
    lines = [f"{i:4} {way_of(plan, frame, i):7} {step.label:28} {', '.join('-' if n is None else str(n) for n in step.inputs)} -> {made}"]
    if len(step.nodes) > 1:
        lines.append(f"{'':13}fused: {', '.join(n.name for n in step.nodes)}")
    if step.workspace:
        lines.append(f"{'':13}works in {', '.join(map(str, step.workspace))}")
    reason = why(plan, frame, i, kernels)
    return [*lines, f"{'':13}{reason}"] if reason else lines


def _buffer_lines(plan: Plan) -> list[str]:
    """Lines that list the values that share the same memory."""
    rows = [(at, n, bytes_of(plan.specs[n])) for n, at in plan.offsets.items()]
    rows += [(at, f"workspace of {w.step}", bytes_of(plan.steps[w.step].workspace[w.place])) for w, at in plan.workspaces.items()]
    places: dict[int, list[str]] = {}
    for offset, name, size in sorted(rows, key=lambda row: row[0]):
        places.setdefault(offset, []).append(f"{name} ({size:,})")
    head = f"arena of {plan.arena:,} bytes for values and workspaces of {sum(size for _, _, size in rows):,} bytes, by offset"
    return [head, *(f"{'@' + str(offset):>12}  {', '.join(names)}" for offset, names in places.items())]
