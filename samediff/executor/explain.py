"""What a plan does, as text: what was fused, where values live, what runs without Python and why the rest does not."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..cpu.kernel_table import KERNELS
from ..plans.memory import bytes_of
from ..plans.plan import Plan
from ..plans.plan_data import Step

if TYPE_CHECKING:
    from ..cpu.native.entry import Instruction
    from ..plans.frame import Frame


def explained(plan: Plan) -> str:
    """What was fused, where values live, what one native call does (of a device: what one launch or graph), what runs as Python and why."""
    if plan.device:
        from ..cuda.explain import explained_on_device
        from ..cuda.plan import DevicePlan
        assert isinstance(plan, DevicePlan)
        return explained_on_device(plan)
    frame = plan.look()
    calls = native_calls(frame)
    count = sum(len(v) for v in frame.natives.values())
    python = [i for i in range(len(plan.steps)) if way_of(plan, frame, i) in ("python", "numpy", "kernel", "copy")]
    lines = [f"steps: {len(plan.steps)}, instructions: {count}, native calls: {len(calls)}, steps called from Python: {len(python)}"]
    before = -1
    for i, step in enumerate(plan.steps):
        if i in calls:
            lines += ["", call_text(frame, calls[i])]
        elif i in python and before not in python:
            lines += ["", "called from Python:"]
        if way_of(plan, frame, i) != "view":
            before = i
        lines += _step_lines(plan, frame, i, step)
    return "\n".join([*lines, "", *_buffer_lines(plan)])


def native_calls(frame: Frame) -> dict[int, list[int]]:
    """The steps of each native call, by the first of them."""
    found: dict[int, list[int]] = {}
    starts = frame.addresses()
    for i in frame.natives:
        if i in starts:
            first = i
        found.setdefault(first, []).append(i)
    return found


def call_text(frame: Frame, steps: Sequence[int]) -> str:
    """One line on a native call."""
    from ..cpu.native.pool import parts
    made = [i for k in steps for i in frame.natives[k]]
    shared = sum(map(in_parts, made))
    text = f"native call of {len(made)} instruction{'s' * (len(made) > 1)}"
    if not shared or not is_helped(made):
        return f"{text}, by one thread:"
    return f"{text}, {shared} of them in {parts()} parts on as many threads:"


def in_parts(instruction: Instruction) -> bool:
    """Whether an instruction is long enough to be divided."""
    from ..cpu.native.pool import parts
    from ..cpu.native.program import thresholds
    from ..cpu.native.thresholds import LEAST
    return instruction.splits and instruction.work >= LEAST.parts and instruction.work >= thresholds().parts and parts() > 1


def is_helped(instructions: Sequence[Instruction]) -> bool:
    """Whether a native call of these instructions asks other threads for help."""
    from ..cpu.native.pool import pool
    from ..cpu.native.program import thresholds
    return any(map(in_parts, instructions)) and sum(i.work for i in instructions) >= thresholds().help and pool() is not None


def way_of(plan: Plan, frame: Frame, i: int) -> str:
    """How a step runs: "native", "kernel" (compiled, called from Python), "numpy", "python", "view" or "copy"."""
    step = plan.steps[i]
    if i in frame.natives:
        return "native"
    if step.kind == "view":
        return "copy" if i in frame.copies else "view"
    return "numpy" if step.kind == "fused" else step.kind


def why(plan: Plan, frame: Frame, i: int) -> str:
    """Why a step is no native instruction; empty for those that are, and for views."""
    step, way = plan.steps[i], way_of(plan, frame, i)
    if way in ("native", "view"):
        return ""
    if way == "copy":
        return "the memory is not laid out for a view, so elements are copied"
    given = [plan.specs[n] for n in (*step.inputs, *step.outputs) if n is not None]
    types = ", ".join(dict.fromkeys(s.dtype.name for s in given))
    if way == "numpy":
        return f"no compiled loop for {step.label} of {types}" if step.inputs else "there is nothing to loop over"
    if way == "kernel":
        return "strides that no instruction takes" if step.native is not None else "its kernel is no instruction of native programs"
    node = step.nodes[-1]
    if step.stateful:
        return "draws random numbers"
    if not all(s.is_static for s in given):
        return "sizes that only a run can tell"
    if node.op.is_view:
        return "which part or order it takes, only a run can tell"
    if not all(s.dtype.is_numeric for s in given):
        return f"{types} are no numbers"
    return f"no kernel of {node.op.id} for these inputs ({types})" if KERNELS.has(type(node.op)) else f"{node.op.id} has no kernel"


def _step_lines(plan: Plan, frame: Frame, i: int, step: Step) -> list[str]:
    made = ", ".join(f"{n} {plan.specs[n]}" + (f" @{plan.offsets[n]}" if n in plan.offsets else "")
                     + " (written in place)" * (n in plan.pinned) for n in step.outputs)
    lines = [f"{i:4} {way_of(plan, frame, i):7} {step.label:28} {', '.join(n or '-' for n in step.inputs)} -> {made}"]
    if len(step.nodes) > 1:
        lines.append(f"{'':13}fused: {', '.join(n.name for n in step.nodes)}")
    if step.workspace:
        lines.append(f"{'':13}works in {', '.join(map(str, step.workspace))}")
    reason = why(plan, frame, i)
    return [*lines, f"{'':13}{reason}"] if reason else lines


def _buffer_lines(plan: Plan) -> list[str]:
    """Which values take turns in the same memory."""
    sizes = {n: bytes_of(plan.specs[n]) for n in plan.offsets if ":work" not in n}
    for i, step in enumerate(plan.steps):
        sizes.update({f"{i}:work{k}": bytes_of(s) for k, s in enumerate(step.workspace)})
    places: dict[int, list[str]] = {}
    for name, offset in sorted(plan.offsets.items(), key=lambda item: item[1]):
        places.setdefault(offset, []).append(f"{name} ({sizes[name]:,})")
    head = f"arena of {plan.arena:,} bytes for values and workspaces of {sum(sizes.values()):,} bytes, by offset"
    return [head, *(f"{'@' + str(offset):>12}  {', '.join(names)}" for offset, names in places.items())]
