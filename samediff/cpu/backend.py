"""The CPU as a back end: compiled loops and kernels, joined to native programs."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..base.spec import TensorSpec
from ..device.devices import Device
from ..expressions import expression as ex
from ..ir.node import Node
from ..ir.op import Kernel
from ..plans.backend import Backend, Call, evaluated
from ..plans.frame import Frame
from ..plans.loops import MakeLoops
from ..plans.machine_peak import MachinePeak
from ..plans.plan import Plan
from ..plans.training_step import ParameterUpdate
from .blas.blas_threads import one_thread
from .code.fused import fused_instruction
from .code.loops import NativeLoopProgram
from .fused_step import FusedStep
from .kernel_table import KERNELS
from .plan import NativePlan

if TYPE_CHECKING:
    from .native.instruction import Instruction


class CpuBackend(Backend):
    """The CPU as a back end, with kernels that Numba compiles."""

    name = "cpu"
    kernels = KERNELS

    def plan(self, **parts: Any) -> NativePlan:
        """A plan for the CPU."""
        return NativePlan(**parts)

    def fused(self, exprs: Sequence[ex.Expr], names: Sequence[str], count: int, symbolic: Mapping[str, Any]) -> tuple[Call, Call | None]:
        """One compiled loop nest for all expressions of a group."""
        def native(*arrays: Any) -> Instruction | None:
            return fused_instruction(exprs, names, arrays[:count], arrays[count:], symbolic)
        return evaluated(exprs, count), native

    def compile(self, make: MakeLoops, counter: Any = None) -> NativeLoopProgram:
        """The loops as a program that runs in one native call."""
        return NativeLoopProgram(make, counter)

    def training_step(self, plan: Plan, update: ParameterUpdate) -> FusedStep | None:
        """The training step as one native call; None where a part of it has no compiled form."""
        return FusedStep.of(plan, update)

    def kernel(self, node: Node, given: Sequence[TensorSpec | None]) -> Kernel | None:
        """The kernel of an op; matrix products that are too small to share stay in one thread."""
        found = super().kernel(node, given)
        if found is None or not found.one_thread:
            return found
        return replace(found, call=one_thread(found.call))

    def native_call_text(self, frame: Frame, steps: Sequence[int]) -> str:
        """One line: number of instructions, and of threads that run them."""
        from .explain import call_text
        return call_text(frame, steps)

    def shared_steps(self, frame: Frame) -> set[int]:
        """Steps of native programs that helpers work on, too."""
        from .explain import shared_steps
        return shared_steps(frame)

    def repeated_step(self, frame: Frame, step: int, is_shared: bool) -> tuple[Call, int]:
        """A program of the step's instructions alone, and how often one call runs them."""
        from .explain import repeated_step
        return repeated_step(frame, step, is_shared)

    def peak(self, dtype: Any) -> MachinePeak:
        """Peak performance of all processors together."""
        from .machine_peak import limits
        return limits(dtype)


def cpu(device: Device) -> CpuBackend:
    """The back end for CPU devices."""
    return CpuBackend()
