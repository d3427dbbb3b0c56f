"""GPUs as a back end: CUDA kernels, array code of the device, or the host."""
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.spec import TensorSpec
from ..device.devices import Device
from ..errors import ShapeError
from ..expressions import expression as ex
from ..families.subgraph import graphs_of
from ..ir.node import Node
from ..ir.op import Kernel, Op, as_tuple
from ..ir.run_context import RunContext
from ..plans.actions import Action
from ..plans.backend import Backend, Call
from ..plans.loops import LoopProgram, MakeLoops
from ..plans.plan import Plan
from ..plans.reference import as_declared, compute
from ..plans.training_step import CompiledStep, ParameterUpdate
from .drivers.driver import Driver
from .drivers.drivers import driver_of
from .kernel_table import KERNELS

#: Errors of array code that CuPy cannot run: a function is missing, or NumPy or SciPy got the array.
_NOT_FOR_CUPY = (TypeError, AttributeError, NotImplementedError, ValueError)


class CudaBackend(Backend):
    """A GPU, or the emulator, as a back end."""

    kernels = KERNELS
    on_host = False
    hands_out = False

    def __init__(self, driver: Driver) -> None:
        self.driver, self.name, self.xp = driver, driver.name, driver.xp
        self.takes_gpu_arrays = self.xp.library is not np
        self._on_host: set[type[Op]] = set()

    def plan(self, **parts: Any) -> Plan:
        """A plan for this device."""
        from .plan import DevicePlan
        made = DevicePlan(**parts)
        made.driver = self.driver
        return made

    def fused(self, exprs: Sequence[ex.Expr], names: Sequence[str], count: int, symbolic: Mapping[str, Any]) -> tuple[Call, Call | None]:
        """One launch for all expressions of a group."""
        from .code.fused import fused_launch
        from .code.operators import NoText

        def native(*arrays: Any) -> list[Action] | None:
            try:
                made = fused_launch(exprs, arrays[:count], arrays[count:])
            except NoText:
                return None
            return [] if made is None else [made]

        def call(*arrays: Any) -> None:
            for out, value in zip(arrays[count:], ex.evaluate(exprs, self.xp, arrays[:count])):
                out[...] = value
        return call, native

    def compile(self, make: MakeLoops, counter: Any = None) -> LoopProgram:
        """The loops as launches."""
        from .code.loops import DeviceLoopProgram
        return DeviceLoopProgram(self.driver, make, counter)

    def training_step(self, plan: Plan, update: ParameterUpdate) -> CompiledStep:
        """The training step as one CUDA graph."""
        from .device_step import DeviceStep
        from .plan import DevicePlan
        assert isinstance(plan, DevicePlan)
        return DeviceStep(plan, update)

    def takes(self, spec: TensorSpec) -> bool:
        """True for numbers and truth values."""
        return spec.dtype.is_numeric or spec.dtype.name == "BOOL"

    def fuses(self, op: Op) -> bool:
        """Not where there is a kernel that was written for it."""
        return not self.kernels.has(type(op))

    def kernel(self, node: Node, given: Sequence[TensorSpec | None]) -> Kernel | None:
        """The CUDA kernel of an op."""
        found = self.kernels.kernel(node.op, *given)
        return None if found is None else Kernel(_unused, found.workspace, native=found.actions)

    def python(self, node: Node, specs: Sequence[TensorSpec]) -> Call:
        """The ``compute`` of an op with the arrays of the device, or on the host where these do not do."""
        def call(context: RunContext, *inputs: Any) -> tuple[Any, ...]:
            if self._takes(node.op, inputs, specs):
                try:
                    return self._computed(node.op, inputs, specs)
                except _NOT_FOR_CUPY as error:
                    self._leave_to_host(node.op, error)
            given = [a if a is None or isinstance(a, np.ndarray) else self.driver.download(a) for a in inputs]
            return tuple(as_declared(compute(node.op, given, context, node.name), specs))
        return call

    def explain(self, plan: Plan) -> str:
        """Text on a plan: launches and graphs, and the steps that run as array code with the reason."""
        from .explain import explained_on_device
        from .plan import DevicePlan
        assert isinstance(plan, DevicePlan)
        return explained_on_device(plan)

    def _takes(self, op: Op, inputs: Sequence[Any], specs: Sequence[TensorSpec]) -> bool:
        """Whether array code of the device is worth a try: no random numbers, no graph inside, nothing that lives on the host."""
        library = self.xp.library
        if library is np or op.stateful or graphs_of(op) or type(op) in self._on_host:
            return False
        return all(s.is_static for s in specs) and all(a is None or isinstance(a, library.ndarray) for a in inputs)

    def _computed(self, op: Op, inputs: Sequence[Any], specs: Sequence[TensorSpec]) -> tuple[Any, ...]:
        library = self.xp.library
        results = [library.asarray(r) for r in as_tuple(op.compute(self.xp, *inputs))]
        for r, s in zip(results, specs, strict=True):
            if not s.accepts(r.shape):
                raise ShapeError(f"a result of shape {s.shape} was expected, it has {r.shape}")
        return tuple(r.astype(s.dtype.numpy, copy=False) for r, s in zip(results, specs))

    def _leave_to_host(self, op: Op, error: Exception) -> None:
        if type(op) not in self._on_host:
            self._on_host.add(type(op))
            warnings.warn(f"op {op.id!r} has no CUDA kernel and CuPy cannot run it ({error}); it runs on the host, with copies "
                          "there and back", RuntimeWarning, stacklevel=2)


def _unused(*arrays: Any) -> None:
    raise AssertionError("steps of a device run as actions")


def gpu(device: Device) -> CudaBackend:
    """The back end of a GPU; DeviceError when it is not there."""
    return CudaBackend(driver_of(device))
