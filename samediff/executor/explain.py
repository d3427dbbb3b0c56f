"""Plans as text: what was fused, where values live, what runs without Python and why the rest does not."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..plans.memory import bytes_of
from ..plans.plan import Plan
from ..plans.plan_data import PlanStep
from .way import Way, way_of, why

if TYPE_CHECKING:
    from ..cpu.native.instruction import Instruction
    from ..plans.frame import Frame


def explained(plan: Plan) -> str:
    """What was fused, where values live, what one native call does (of a device: what one launch or graph), what runs as Python and why."""
    if plan.device:
        from ..cuda.explain import explained_on_device
        from ..cuda.plan import DevicePlan
        assert isinstance(plan, DevicePlan)
        return explained_on_device(plan)
    frame = plan.look()
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
        lines += _step_lines(plan, frame, i, step)
    return "\n".join([*lines, "", *_buffer_lines(plan)])


def call_text(frame: Frame, steps: Sequence[int]) -> str:
    """One line on a native call."""
    from ..cpu.threads import parts
    made = [i for k in steps for i in frame.natives[k]]
    shared = sum(map(in_parts, made))
    text = f"native call of {len(made)} instruction{'s' * (len(made) > 1)}"
    if not shared or not is_helped(made):
        return f"{text}, by one thread:"
    return f"{text}, {shared} of them in {parts()} parts on as many threads:"


def in_parts(instruction: Instruction) -> bool:
    """Whether an instruction is long enough to be divided."""
    from ..cpu.native.program import thresholds
    from ..cpu.native.thresholds import LEAST
    from ..cpu.threads import parts
    return instruction.splits and instruction.work >= LEAST.parts and instruction.work >= thresholds().parts and parts() > 1


def is_helped(instructions: Sequence[Instruction]) -> bool:
    """Whether a native call of these instructions asks other threads for help."""
    from ..cpu.native.program import thresholds
    from ..cpu.native.thread_pool import pool
    return any(map(in_parts, instructions)) and sum(i.work for i in instructions) >= thresholds().help and pool() is not None


def _step_lines(plan: Plan, frame: Frame, i: int, step: PlanStep) -> list[str]:
    made = ", ".join(f"{n} {plan.specs[n]}" + (f" @{plan.offsets[n]}" if n in plan.offsets else "")
                     + " (written in place)" * (n in plan.pinned) for n in step.outputs)
    lines = [f"{i:4} {way_of(plan, frame, i):7} {step.label:28} {', '.join('-' if n is None else str(n) for n in step.inputs)} -> {made}"]
    if len(step.nodes) > 1:
        lines.append(f"{'':13}fused: {', '.join(n.name for n in step.nodes)}")
    if step.workspace:
        lines.append(f"{'':13}works in {', '.join(map(str, step.workspace))}")
    reason = why(plan, frame, i)
    return [*lines, f"{'':13}{reason}"] if reason else lines


def _buffer_lines(plan: Plan) -> list[str]:
    """Which values take turns in the same memory."""
    rows = [(at, n, bytes_of(plan.specs[n])) for n, at in plan.offsets.items()]
    rows += [(at, f"workspace of {w.step}", bytes_of(plan.steps[w.step].workspace[w.place])) for w, at in plan.workspaces.items()]
    places: dict[int, list[str]] = {}
    for offset, name, size in sorted(rows, key=lambda row: row[0]):
        places.setdefault(offset, []).append(f"{name} ({size:,})")
    head = f"arena of {plan.arena:,} bytes for values and workspaces of {sum(size for _, _, size in rows):,} bytes, by offset"
    return [head, *(f"{'@' + str(offset):>12}  {', '.join(names)}" for offset, names in places.items())]
