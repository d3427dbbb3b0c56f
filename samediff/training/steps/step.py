"""A training step: forward and backward plan, then the update of one flat parameter vector."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...base.bounded_cache import BoundedCache
from ...base.call_cache import CallCache
from ...base.environment import uses_reference
from ...base.lazy_property import lazy_property
from ...base.locks import LockRank, rlock
from ...device import devices
from ...device.device_memory import to_host
from ...executor.plan_cache import plan_for
from ...executor.request import RunRequest
from ...executor.session import call_key, checked_feeds, missing, request_for, run_reference
from ...expressions import expression as ex
from ...ir.run_context import RunContext
from ...plans.backend import Backend, CompiledLoops, backend_of, host_backend, present_backend
from ...plans.loops import LoopProgram, Loops
from ...plans.plan import Plan
from ...plans.training_step import CompiledStep
from ..updaters.kernel import FlatUpdate, UpdateKernel, UpdateRule
from ..updaters.normalization import Normalization
from ..updaters.regularization import Regularization
from ..updaters.updater import IUpdater
from .flat_layout import UpdaterBlock, initial_state, state_by_parameter, updater_blocks
from .transaction import Transaction


@dataclass(frozen=True)
class FlatSlot:
    """One parameter of the flat vector.

    ``order`` says how the piece is read as an array ("f": column-major); ``key`` keeps updater blocks apart;
    ``scaled`` is False for values whose gradient is not divided by the batch size (running statistics), ``updated`` for those that
    steps leave alone together with their updater state.
    """

    name: str
    shape: tuple[int, ...]
    updater: IUpdater
    order: str = "c"
    regularization: tuple[Regularization, ...] = ()
    key: object = None
    scaled: bool = True
    updated: bool = True

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)


@dataclass
class FlatParameters:
    """Parameters, gradients and updater state as flat vectors, and the same numbers as arrays by name.

    While a network runs on a device these live there, and come to the host when they are asked for.

    Attributes
    ----------
    gate : lock that is held while parameters and state change, and by who reads or replaces all of them
    """

    slots: Sequence[FlatSlot]
    dtype: Any
    gate: Any = field(default_factory=lambda: rlock(LockRank.STEPS))
    blocks: list[UpdaterBlock] = field(init=False)

    def __post_init__(self) -> None:
        total = sum(s.size for s in self.slots)
        self._params, self._gradients = np.zeros(total, self.dtype), np.zeros(total, self.dtype)
        self.blocks = updater_blocks([(s.name, s.size, s.updater, s.key) for s in self.slots])
        self._state = initial_state(np, self.blocks, self.dtype)
        self._arrays, self._gradient_arrays = self.views(self._params), self.views(self._gradients)

    @property
    def vectors(self) -> tuple[Any, Any, Any]:
        """Parameters, gradients and state as they are, even where a device has newer values: for what can work with these there."""
        return self._params, self._gradients, self._state

    @property
    def params(self) -> Any:
        """All parameters; brought from a device where that has newer ones, as are all of these."""
        return to_host(self._params)

    @property
    def gradients(self) -> Any:
        """The flat vector of all gradients, on the host."""
        return to_host(self._gradients)

    @property
    def state(self) -> Any:
        """The flat state vector of the updaters, on the host."""
        return to_host(self._state)

    @property
    def arrays(self) -> dict[str, Any]:
        """The parameters by name, as views."""
        to_host(self._params)
        return self._arrays

    @property
    def gradient_arrays(self) -> dict[str, Any]:
        """The gradients by parameter name, as views."""
        to_host(self._gradients)
        return self._gradient_arrays

    def views(self, flat: Any) -> dict[str, Any]:
        """The pieces of a flat vector as arrays by name."""
        made, at = {}, 0
        for s in self.slots:
            made[s.name] = flat[at:at + s.size].reshape(s.shape, order=s.order)
            at += s.size
        return made

    def pieces(self, flat: Any) -> dict[str, Any]:
        """The pieces of a flat vector by name, flat themselves."""
        ends = np.cumsum([0, *[s.size for s in self.slots]]).tolist()
        return {s.name: flat[low:high] for s, low, high in zip(self.slots, ends, ends[1:])}

    def state_by_parameter(self) -> dict[str, dict[str, Any]]:
        """The state arrays of each parameter (views), by DL4J's names."""
        sizes = {s.name: s.size for s in self.slots}
        return {name: state for block in self.blocks
                for name, state in zip(block.names, state_by_parameter(block, [sizes[n] for n in block.names], self.state))}

    def kernels(self, minimize: bool = True) -> list[UpdateKernel]:
        """One kernel for each run of neighbours with the same rule, or for each parameter where the rule looks at whole ones."""
        made, at = [], 0
        by_name = {s.name: s for s in self.slots}
        for block in self.blocks:
            begin, rule = at, None
            for name in [*block.names, None]:
                slot = by_name.get(name or "")
                new = UpdateRule(slot.updater, slot.regularization, minimize, slot.scaled) if slot and slot.updated else None
                if new != rule or (rule is not None and rule.updater.sees_parameters()):
                    if rule is not None:
                        made.append(self._kernel(rule, block, begin, at))
                    begin = at
                rule, at = new, at + (slot.size if slot else 0)
        return made

    def _kernel(self, rule: UpdateRule, block: UpdaterBlock, begin: int, end: int) -> UpdateKernel:
        where = slice(begin, end)
        state = [self.state[s][begin - block.start:end - block.start] for s in block.state_slices().values()]
        return UpdateKernel(rule, self.params[where], self.gradients[where], state, uses_reference())


class TrainingStep:
    """Runs forward and backward, then updates the parameters: one optimizer step per call.

    Parameters
    ----------
    graph : the gradient graph (a fork with the backward nodes)
    gradients : name of a parameter -> name of its gradient variable; parameters without one keep a zero gradient
    flat : FlatParameters
        Its gradient arrays are the very memory that the plan writes gradients into.
    outputs : names computed besides, such as the losses

    Attributes
    ----------
    pinned : by the name of a gradient variable the array that it is written into
    is_complete : whether every parameter has a gradient
    """

    def __init__(self, graph: Any, gradients: Mapping[str, str], flat: FlatParameters, outputs: Sequence[str],
                 minimize: bool = True) -> None:
        self.graph, self.flat, self.outputs = graph, flat, tuple(outputs)
        self._minimize = minimize
        self.pinned: dict[str, Any] = {}
        self._copied: list[tuple[str, Any]] = []
        for name, gradient in gradients.items():
            array = flat.gradient_arrays[name]
            if gradient in self.pinned:
                self._copied.append((gradient, array))
            else:
                self.pinned[gradient] = array
        self.names = frozenset(gradients)
        self._others = [a for n, a in flat.gradient_arrays.items() if n not in gradients]
        self.is_complete = not self._others
        self._clearing = CompiledLoops()                # zero fills of those arrays, where they are on a device
        self.lock = rlock()
        self._updating: tuple[int, Backend, LoopProgram | None, Any] | None = None
        self.last_plan: Plan | None = None          # the plan of the last :meth:`compute`
        self._known: BoundedCache[Any, PlannedStep] = CallCache().table()     # by what was given, where that needs no checks again

    def clear_others(self) -> None:
        """Set the gradients to zero that this step does not compute."""
        if self._others and devices.active and not (backend := present_backend()).on_host:
            self._clearing.of(backend, self._cleared_by)()
            return
        for array in self._others:
            to_host(array)[...] = 0

    def _cleared_by(self, loops: Loops) -> dict[int, Any]:
        return {k: loops.each([ex.constant(0, a.dtype)], [], [a]) for k, a in enumerate(self._others)}

    def compute(self, feeds: Mapping[str, Any], context: RunContext) -> tuple[Any, ...]:
        """Forward and backward: gradients land in the flat vector, the outputs are returned."""
        values = checked_feeds(self.graph, feeds)
        request = self._request(context.training)
        for name in request.placeholders:
            if name not in values:
                missing(self.graph, request, name, values)
        if uses_reference():
            self.last_plan, results = None, self._reference(values, request, context)
            self._copy()
            return results
        plan = self.last_plan = self.plan_for(values, context.training)
        if context.training and all(values[n] is feeds.get(n) for n in plan.feeds):
            key = call_key(feeds, self.outputs, True)
            known = self._known.get(key)
            if known is None or known.plan is not plan:
                self._known[key] = PlannedStep(self, plan)
        return self.run_plan(plan, [values[n] for n in plan.feeds], context)

    def run_compiled(self, feeds: Mapping[str, Any], iteration: int, epoch: int, seed: int, counter: Any = None) -> Sequence[Any] | None:
        """Gradients and update in one call, for feeds of a form that :meth:`compute` has seen; None where that cannot be.

        The results are valid until the next call.
        """
        key = None if uses_reference() else call_key(feeds, self.outputs, True)
        known = self._known.get(key)
        if known is None:
            return None
        if known.counter is not counter:
            known = self._known[key] = PlannedStep(self, known.plan, counter=counter)
        compiled = known.compiled
        return None if compiled is None else compiled([feeds[n] for n in known.plan.feeds], iteration, epoch, 1.0, seed)

    def _request(self, training: bool) -> RunRequest:
        return request_for(self.graph, (*self.outputs, *self.pinned), training)

    def plan_for(self, feeds: Mapping[str, Any], training: bool = True) -> Plan:
        """The plan for checked feeds of these shapes."""
        return plan_for(self.graph, feeds, self._request(training), self.pinned)

    def run_plan(self, plan: Plan, feeds: Sequence[Any], context: RunContext | None) -> tuple[Any, ...]:
        """As :meth:`compute`, with the plan of an earlier call, for arrays of the same shapes and types."""
        results = plan.run(feeds, context)[:len(self.outputs)]
        if self._copied:
            self._copy()
        return results

    def _copy(self) -> None:
        for gradient, array in self._copied:
            to_host(array)[...] = to_host(self.pinned[gradient])

    def _reference(self, feeds: Mapping[str, Any], request: RunRequest, context: RunContext) -> tuple[Any, ...]:
        values = run_reference(self.graph, feeds, request, context)
        for name, array in self.pinned.items():
            to_host(array)[...] = values[name]
        return tuple(values[n] for n in self.outputs)

    def update(self, iteration: int, epoch: int, scale: float = 1.0, counter: Any = None,
               afterwards: Callable[[], None] | None = None) -> None:
        """Turn the gradients into updates and subtract them; ``scale`` multiplies the gradients first.

        All of it happens or, after an error or an interrupt, nothing: ``afterwards`` too, which changes the new parameters, and that
        ``counter``, an array of one number, rises by 1.
        """
        kernels = self.kernels()
        update = self._update_program(counter) if afterwards is None else None
        if update is not None:
            for kernel in kernels:
                kernel.set_rates(iteration, epoch, scale)
            with self.flat.gate:
                update()
            return
        with self.flat.gate, Transaction([a for k in kernels for a in k.changed], counter):
            for kernel in kernels:
                kernel(iteration, epoch, scale)
            if afterwards is not None:
                afterwards()
            if counter is not None:
                counter += 1

    def _update_program(self, counter: Any) -> LoopProgram | None:
        """All updaters and the counter as one call; None where they are not compiled to one."""
        key, backend, known = id(counter), host_backend(), self._updating
        if known is None or known[:2] != (key, backend):
            kernels = self.kernels()
            program = backend.compile(lambda loops: {i: k.compile_for(loops) for i, k in enumerate(kernels)}, counter)
            is_whole = program.is_one_call and len(program.made) == len(kernels)
            known = self._updating = key, backend, program if is_whole else None, counter
        return known[2]

    def kernels(self) -> list[UpdateKernel]:
        """The kernels that update the parameters by the gradients."""
        return self._kernels

    @lazy_property
    def _kernels(self) -> list[UpdateKernel]:
        return self.flat.kernels(self._minimize)        # the same for all threads: they hold the rates of a step

    def compiled(self, plan: Plan, normalization: Normalization | None = None, counter: Any = None) -> CompiledStep | None:
        """A plan of this step together with normalization and update as one call of its back end; None where that cannot be.

        Each step adds 1 to ``counter``, an array of one number.
        """
        if self._copied or any(k.rule.updater.sees_parameters() for k in self.kernels()):
            return None
        update = FlatUpdate(self.kernels(), len(self.outputs), self.flat.gate, normalization, counter)
        return backend_of(plan.where).training_step(plan, update)

    def __call__(self, feeds: Mapping[str, Any], context: RunContext, iteration: int, epoch: int, scale: float = 1.0,
                 between: Callable[[], None] | None = None) -> tuple[Any, ...]:
        """Take one step; ``between`` is called after the gradients are computed and before the update."""
        with self.lock:
            results = self.compute(feeds, context)
            if between is not None:
                between()
            self.update(iteration, epoch, scale)
            return results


class PlannedStep:
    """A step for feeds of one form.

    Parameters
    ----------
    step : the step
    plan : the plan for feeds of the form
    normalization : what happens to gradients before the updaters, if anything does
    counter : array of one number, to which compiled steps add 1

    Attributes
    ----------
    compiled : forward, backward and update as one call, where nothing has to happen between them
    """

    def __init__(self, step: TrainingStep, plan: Plan, normalization: Normalization | None = None, counter: Any = None) -> None:
        self.step, self.plan, self.normalization, self.counter = step, plan, normalization, counter

    @lazy_property
    def compiled(self) -> CompiledStep | None:
        return self.step.compiled(self.plan, self.normalization, self.counter)
