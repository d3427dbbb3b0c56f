"""The way in which a step runs on the host, and why it is no native instruction where it is none."""
from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from enum import StrEnum
from typing import Any

from ..base.datatype import DataType
from ..base.spec import TensorSpec
from ..ir.kernel_table import KernelTable
from ..ir.op import Op
from ..ops.control.control import Scan
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
    if any(s.is_static and 0 in (s.shape or ()) for s in given):
        return "an array has no elements"
    if way is Way.KERNEL:
        return f"its kernel has no instruction for {types} in this order" if step.native is not None \
            else "its kernel is no instruction of native programs"
    node = step.nodes[-1]
    if step.stateful and not isinstance(node.op, Scan):
        return node.op.heeds
    if not all(s.is_static for s in given):
        return "sizes that only a run can tell"
    if node.op.is_view:
        return "which part or order it takes, only a run can tell"
    if not all(s.dtype.is_numeric for s in given):
        return f"{types} are no numbers"
    specs = [None if n is None else plan.specs[n] for n in node.inputs]
    if isinstance(node.op, Scan):
        return _of_steps(node.op, specs, kernels)
    return missing_kernel(node.op, specs, kernels, types) if kernels.has(type(node.op)) else f"{node.op.id} has no kernel"


def _of_steps(op: Scan, specs: Sequence[Any], kernels: KernelTable[Any]) -> str:
    """Why the steps of a scan are no native program: the first of its body that runs in Python."""
    body = op.body.plan(op.step_specs(specs))
    frame = body.peek()
    for i, step in enumerate(body.steps):
        if reason := why(body, frame, i, kernels):
            return f"{step.label} in its steps runs in Python: {reason}"
    return "a step of it may refuse its inputs, or is so long that threads share it"


def missing_kernel(op: Op, specs: Sequence[Any], kernels: KernelTable[Any], types: str) -> str:
    """Which option of an op, or else what of its inputs, its kernels do not serve."""
    def served(other: Op, given: Sequence[Any]) -> bool:
        with suppress(Exception):           # it need not fit together
            return kernels.kernel(other, *given) is not None
        return False
    for f in fields(op):  # type: ignore[arg-type]  # every op is a dataclass
        value, usual = getattr(op, f.name), f.default if f.default_factory is MISSING else f.default_factory()
        if usual is not MISSING and value != usual and served(op.replace(**{f.name: usual}), specs):
            return f"no kernel of {op.id} with {f.name} {value.id if isinstance(value, Op) else value!r}"
    if served(op, [s and TensorSpec(s.shape, DataType.FLOAT if s.dtype.is_floating else s.dtype) for s in specs]):
        return f"no kernel of {op.id} for {types}"
    return f"no kernel of {op.id} for {', '.join(map(str, dict.fromkeys(s for s in specs if s is not None)))}"
