"""Plans on a device, as text."""
from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..plans.plan_data import StepKind
from .captured_graph import CapturedGraph

if TYPE_CHECKING:
    from ..plans.plan_data import PlanData, PlanStep
    from .frame import DeviceFrame
    from .plan import DevicePlan


def explained_on_device(plan: DevicePlan) -> str:
    """Text on a plan: its launches and graph, and the steps that run as array code or on the host, with the reason."""
    frame = plan.acquire_device()
    count = sum(map(len, frame.actions.values()))
    host = [i for i in range(len(plan.steps)) if i not in frame.actions]
    lines = [f"device: {frame.driver.name}, steps: {len(plan.steps)}, actions: {count}, steps of array code: {len(host)}",
             _graph_line(frame)]
    for i, step in enumerate(plan.steps):
        lines += _step_lines(plan, frame, i, step)
    plan.release(frame)  # type: ignore[arg-type]  # the pool holds frames of devices only
    return "\n".join([*lines, "", f"arena of {plan.arena:,} bytes on the device"])


def _graph_line(frame: DeviceFrame) -> str:
    only = frame.program[0] if len(frame.program) == 1 else None
    if not isinstance(only, CapturedGraph):
        return "no CUDA graph: steps of array code come in between" if frame.program else "nothing to run"
    if only.reason:
        return f"no CUDA graph: {only.reason}"
    return "runs as one CUDA graph" if only.is_captured else "runs as one CUDA graph from the second run on"


def _step_lines(plan: PlanData, frame: DeviceFrame, i: int, step: PlanStep) -> list[str]:
    actions = frame.actions.get(i)
    way = "view" if step.kind is StepKind.VIEW and actions == [] else "array" if actions is None else "device"
    made = ", ".join(f"{n} {plan.specs[n]}" + (f" @{plan.offsets[n]}" if n in plan.offsets else "")
                     + " (written in place)" * (n in plan.pinned) for n in step.outputs)
    lines = [f"{i:4} {way:7} {step.label:28} {', '.join('-' if n is None else str(n) for n in step.inputs)} -> {made}"]
    if len(step.nodes) > 1:
        lines.append(f"{'':13}fused: {', '.join(n.name for n in step.nodes)}")
    if actions:
        kinds = Counter(getattr(a, "name", type(a).__name__.lower()) for a in actions)
        lines.append(f"{'':13}{', '.join(n if k == 1 else f'{n} x{k}' for n, k in kinds.items())}")
    return [*lines, f"{'':13}{_why(plan, step)}"] if way == "array" else lines


def _why(plan: PlanData, step: PlanStep) -> str:
    node = step.nodes[-1]
    given = [plan.specs[n] for n in (*step.inputs, *step.outputs) if n is not None]
    if step.stateful:
        return "draws random numbers on the host"
    if not all(s.is_static for s in given):
        return "sizes that only a run can tell: on the host"
    if not all(s.dtype.is_numeric or s.dtype.name == "BOOL" for s in given):
        return f"{', '.join(dict.fromkeys(s.dtype.name for s in given))} are no numbers: on the host"
    return f"{node.op.id} has no CUDA kernel for these inputs"
