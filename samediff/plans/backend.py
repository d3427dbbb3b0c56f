"""Protocol of a back end, which decides how the steps of a plan do their work."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..base.spec import TensorSpec
from ..device import devices
from ..errors import DeviceError
from ..expressions import expression as ex
from ..expressions.arrays import ArrayNamespace, xp
from ..ir.kernel_table import KernelTable
from ..ir.node import Node
from ..ir.op import Kernel, Op
from ..ir.run_context import RunContext
from .explain import explained
from .frame import Frame
from .loops import ArrayLoops, FunctionProgram, LoopProgram, MakeLoops
from .machine_peak import MachinePeak, limits
from .plan import Plan
from .reference import as_carray, as_declared, compute
from .training_step import CompiledStep, ParameterUpdate

Call = Callable[..., Any]


class Backend:
    """A back end without kernels: steps are array code of NumPy on arrays in the host's memory.

    Others are sub-classes that :func:`~dl4py.samediff.device.devices.register_device` makes known; their kernels stand in a
    :class:`~dl4py.samediff.ir.kernel_table.KernelTable`.

    Attributes
    ----------
    name : of the device
    kernels : kernels by class of op
    xp : the namespace of its arrays
    on_host : whether its arrays are NumPy arrays in the host's memory
    takes_gpu_arrays : whether it is fed arrays in the memory of a GPU as they are
    hands_out : whether steps make results that the caller keeps; else these have places in the arena, as all others
    """

    name: str = "numpy"
    kernels: ClassVar[KernelTable[Any]] = KernelTable("numpy")
    xp: ArrayNamespace = xp
    on_host = True
    takes_gpu_arrays = False
    hands_out = True

    def plan(self, **parts: Any) -> Plan:
        """A plan for this device; ``parts`` are the fields of :class:`Plan`."""
        return Plan(**parts)

    def fused(self, exprs: Sequence[ex.Expr], names: Sequence[str], count: int, symbolic: Mapping[str, Any]) -> tuple[Call, Call | None]:
        """Two functions for a fused group of ``count`` inputs: one computes it on arrays, one makes native instructions or is None."""
        return evaluated(exprs, count), None

    def compile(self, make: MakeLoops, counter: Any = None) -> LoopProgram:
        """Loops over whole arrays, besides any plan; in the end of each run ``counter``, an array of one number on the host, rises by 1."""
        return FunctionProgram(make(ArrayLoops()), counter)

    def training_step(self, plan: Plan, update: ParameterUpdate) -> CompiledStep | None:
        """A plan of this back end and what follows it in a training step as one call; None: they are run one after the other."""
        return None

    def takes(self, spec: TensorSpec) -> bool:
        """Whether kernels accept arrays of a spec."""
        return spec.dtype.is_numeric

    def fuses(self, op: Op) -> bool:
        """Whether an op that can be traced becomes part of a loop with its neighbours."""
        return True

    def kernel(self, node: Node, given: Sequence[TensorSpec | None]) -> Kernel | None:
        """The kernel of an op for static inputs; None: its ``compute`` is run."""
        return self.kernels.kernel(node.op, *given)

    def python(self, node: Node, specs: Sequence[TensorSpec]) -> Call:
        """The ``compute`` of an op, as ``call(context, *inputs)``."""
        def call(context: RunContext, *inputs: Any) -> tuple[Any, ...]:
            return tuple(map(as_carray, as_declared(compute(node.op, inputs, context, node.name), specs)))
        return call

    def explain(self, plan: Plan) -> str:
        """A description of a plan of this back end: fused ops, memory, and how steps run and why."""
        return explained(plan, self.kernels, self.native_call_text)

    # Native steps: of frames whose instructions run without Python

    def native_call_text(self, frame: Frame, steps: Sequence[int]) -> str:
        """One line that describes the native call of some steps."""
        return f"native call of {len(steps)} steps:"

    def shared_steps(self, frame: Frame) -> set[int]:
        """Numbers of the steps whose work several threads share."""
        return set()

    def repeated_step(self, frame: Frame, step: int, is_shared: bool) -> tuple[Call, int]:
        """A function that runs one native step by itself, to be timed, and the number of runs per call."""
        raise NotImplementedError(f"{type(self).__name__} has native steps and does not say how one is timed")

    def peak(self, dtype: Any) -> MachinePeak:
        """The peak performance of the machine for a data type, measured once per process."""
        return limits(dtype)


def evaluated(exprs: Sequence[ex.Expr], n_inputs: int) -> Callable[..., None]:
    """A function ``call(*inputs, *outputs)`` that computes expressions of ``n_inputs`` inputs by NumPy."""

    def call(*arrays: Any) -> None:
        for out, value in zip(arrays[n_inputs:], ex.evaluate(exprs, xp, arrays[:n_inputs])):
            np.copyto(out, value, casting="unsafe")

    return call


def backend_of(where: devices.Device | None = None) -> Backend:
    """The back end of a device (None: the CPU), made once."""
    found = devices.backend_of(where)
    if not isinstance(found, Backend):
        raise DeviceError(f"the back end registered for {where} is a {type(found).__name__}; expected a sub-class of "
                          f"{Backend.__module__}.Backend")
    return found


def present_backend() -> Backend:
    """The back end of the device on which this thread runs graphs now."""
    return backend_of(devices.current_device() if devices.active else None)


def host_backend() -> Backend:
    """The back end that works on arrays in the host's memory: the present one, or the CPU's where that has memory of its own."""
    found = present_backend()
    return found if found.on_host else backend_of()


class CompiledLoops:
    """The same loops, compiled by each back end that runs them."""

    def __init__(self) -> None:
        self._programs: dict[Backend, LoopProgram] = {}

    def of(self, backend: Backend, make: MakeLoops) -> LoopProgram:
        """The program of a back end, made when it is first asked for."""
        found = self._programs.get(backend)
        if found is None:
            found = self._programs.setdefault(backend, backend.compile(make))
        return found
