"""The way in which a step runs on the host, and why it is no native instruction where it is none."""
from __future__ import annotations

from enum import StrEnum
from typing import Any

from ..ir.kernel_table import KernelTable
from .frame import Frame
from .plan import Plan
from .plan_data import StepKind


class Way(StrEnum):
    """Ways in which a step runs; an enum of strings, which profiles show."""

    NATIVE = "native"       # an instruction of a native program
    KERNEL = "kernel"       # compiled, called from Python
    NUMPY = "numpy"         # an elementwise group without a compiled loop
    PYTHON = "python"       # the op's ``compute``
    VIEW = "view"           # worked out beforehand
    COPY = "copy"           # a view in name only


_WAYS = {StepKind.KERNEL: Way.KERNEL, StepKind.FUSED: Way.NUMPY, StepKind.VIEW: Way.VIEW, StepKind.PYTHON: Way.PYTHON}


def way_of(plan: Plan, frame: Frame, i: int) -> Way:
    """The way in which a step of a plan runs in a frame."""
    if i in frame.natives:
        return Way.NATIVE
    return Way.COPY if i in frame.copies else _WAYS[plan.steps[i].kind]


def why(plan: Plan, frame: Frame, i: int, kernels: KernelTable[Any]) -> str:
    """The reason why a step is no native instruction of a back end with these kernels; empty for those that are, and for views."""
    step, way = plan.steps[i], way_of(plan, frame, i)
    if way in (Way.NATIVE, Way.VIEW):
        return ""
    if way is Way.COPY:
        return "the memory is not laid out for a view, so elements are copied"
    given = [plan.specs[n] for n in (*step.inputs, *step.outputs) if n is not None]
    types = ", ".join(dict.fromkeys(s.dtype.name for s in given))
    if way is Way.NUMPY:
        return f"no compiled loop for {step.label} of {types}" if step.inputs else "there is nothing to loop over"
    if way is Way.KERNEL:
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
    return f"no kernel of {node.op.id} for these inputs ({types})" if kernels.has(type(node.op)) else f"{node.op.id} has no kernel"
