"""Frame of a run on a device: an arena, arrays in it, actions laid out for them, a queue."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from ..base.spec import TensorSpec
from ..device.device_memory import MirroredArray
from ..ir.run_context import RunContext
from ..plans.actions import Action, ArrayCopy
from ..plans.memory import ALIGNMENT
from ..plans.plan_data import ShapeSource, StepKind, Value, Workspace
from ..plans.reference import raise_explained
from .captured_graph import CapturedGraph

if TYPE_CHECKING:
    from ..plans.plan_data import PlanData, PlanStep
    from .drivers.driver import Driver


class PostStep(Protocol):
    """Further actions in the runs of a frame, after its steps."""

    #: Host arrays whose values every run takes along.
    numbers: list[Any]

    def actions(self, frame: DeviceFrame) -> list[Action]:
        """The actions after the steps; :attr:`numbers` are ``frame.numbers`` on the device."""


class DeviceFrame:
    """Arrays and actions of one run. Arrays of known size have a fixed address, so that actions are prepared once.

    Values whose size is known only after they are computed, and text, are kept on the host (``host_values`` values of a run).

    Attributes
    ----------
    values : every array whose place is known, by name
    program : the parts of a run in order: calls that queue actions, and numbers of steps that run as array code
    blocks : memory blocks of the stored arrays that are read
    written : memory blocks of the stored arrays that are written
    """

    def __init__(self, plan: PlanData, driver: Driver, post_step: PostStep | None = None) -> None:
        self.plan, self.driver, self.post_step = plan, driver, post_step
        self.stream = driver.stream()
        self.values: dict[Value, Any] = {}
        self.on_host: dict[Value, Any] = {}               # stored arrays that devices cannot have: text
        self._keep: list[Any] = []                      # arrays besides, which actions know by address
        with self.stream:
            self._arena = driver.empty((plan.arena,), np.uint8)
            self._place_feeds()
            self.blocks = self._place_stored()
            self.written = [MirroredArray.of(a) for a in plan.handed_in.values()]
            for name, offset in plan.offsets.items():
                self.values[name] = self._at(self._arena, offset, plan.specs[name])
            self.actions: dict[int, list[Action]] = {}
            for i, step in enumerate(plan.steps):
                self._add(i, step)
            closing = self._closing()
            if post_step is not None:
                closing += post_step.actions(self)
            self.program = self._joined(closing)

    # Places

    def _at(self, memory: Any, offset: int, spec: TensorSpec) -> Any:
        return self.driver.view(memory, offset, spec.shape or (), spec.dtype.numpy)

    def has_place(self, name: Value) -> bool:
        """Whether a value is an array of the device in a place of its own."""
        spec = self.plan.specs[name]
        return spec.is_static and (spec.dtype.is_numeric or spec.dtype.name == "BOOL")

    def _place_feeds(self) -> None:
        """Feeds and the random state lie side by side, so that one copy brings all of them."""
        self.fed: dict[Value, int] = {}
        size = 0
        for name in self.plan.given:
            if self.has_place(name):
                self.fed[name] = size
                spec = self.plan.specs[name]
                size += -(-math.prod(spec.shape or ()) * spec.dtype.numpy.itemsize // ALIGNMENT) * ALIGNMENT
        places: list[int] = []
        for array in self.post_step.numbers if self.post_step else ():
            places.append(size)
            size += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
        self.staging = self.driver.staging(size)
        self._places = places
        self.numbers = [self.driver.view(self.staging.device, at, a.shape, a.dtype)
                        for at, a in zip(places, self.post_step.numbers if self.post_step else ())]
        for name, offset in self.fed.items():
            self.values[name] = self._at(self.staging.device, offset, self.plan.specs[name])

    def _place_stored(self) -> list[MirroredArray]:
        plan, blocks = self.plan, dict[int, MirroredArray]()
        for name, array in plan.stored.items():
            if not self.has_place(name):
                self.on_host[name] = array
                continue
            if isinstance(name, ShapeSource):
                one = self.driver.empty((1,), array.dtype)
                self.values[name] = self.driver.view(one, 0, array.shape, array.dtype, (0,) * array.ndim)
                continue
            block = MirroredArray.of(array)
            blocks[id(block)] = block
            self.values[name] = block.view(self.driver, array)
        self.values.update({n: MirroredArray.of(a).view(self.driver, a) for n, a in plan.pinned.items()})
        return list(blocks.values())

    # Actions

    def _add(self, i: int, step: PlanStep) -> None:
        if step.kind is StepKind.VIEW:
            self._add_view(i, step)
            return
        for name in step.outputs:
            if name not in self.values and self.has_place(name):
                spec = self.plan.specs[name]
                self.values[name] = self.driver.empty(spec.shape or (), spec.dtype.numpy)
        if step.native is not None and all(n in self.values for n in (*step.inputs, *step.outputs) if n is not None):
            made = self._made(i, step)
            if made is not None:
                self.actions[i] = made

    def _made(self, i: int, step: PlanStep) -> list[Action] | None:
        """The actions of a step; kernels of ops get contiguous arrays, by way of copies where need be."""
        before: list[Action] = []
        after: list[Action] = []
        inputs = [None if n is None else self.values[n] for n in step.inputs]
        outputs = [self.values[n] for n in step.outputs]
        if step.kind is StepKind.KERNEL:
            inputs = [a if a is None or isinstance(n, ShapeSource) else self._contiguous(a, before, True)
                      for n, a in zip(step.inputs, inputs)]
            outputs = [self._contiguous(a, after, False) for a in outputs]
        work = [self._at(self._arena, self.plan.workspaces[Workspace(i, k)], s) for k, s in enumerate(step.workspace)]
        try:
            made = step.native(*inputs, *outputs, *work)  # type: ignore[misc]  # there is one
        except Exception as error:
            self._explain(error, step)
        return None if made is None else [*before, *made, *after]

    def _contiguous(self, array: Any, copies: list[Action], is_read: bool) -> Any:
        if array.flags.c_contiguous:
            return array
        made = self.driver.empty(array.shape, array.dtype)
        self._keep.append(made)
        copies.append(ArrayCopy(array, made) if is_read else ArrayCopy(made, array))
        return made

    def _add_view(self, i: int, step: PlanStep) -> None:
        """Make a view now; a view op whose result needs memory of its own is a copy, where the order of elements stays."""
        stored = self.plan.stored               # what steers a view, such as an order of axes, is looked at here and now
        given = [None if n is None else stored[n] if k and n in stored else self.values.get(n) for k, n in enumerate(step.inputs)]
        if any(n is not None and a is None for n, a in zip(step.inputs, given)):
            return
        try:
            results = step.call(*given)
        except Exception as error:
            self._explain(error, step)
        on_device = [a for k, a in enumerate(given) if a is not None and not (k and step.inputs[k] in stored)]
        if all(r.size == 0 or any(_shares(r, a) for a in on_device) for r in results):
            self.values.update(zip(step.outputs, results))
            self.actions[i] = []
            return
        for name, r in zip(step.outputs, results):
            self.values[name] = self.driver.empty(r.shape, r.dtype)
        if len(results) == 1 and given[0] is not None and self._keeps_order(step, given):
            self.actions[i] = [ArrayCopy(given[0], self.values[step.outputs[0]].reshape(given[0].shape))]

    def _keeps_order(self, step: PlanStep, given: Sequence[Any]) -> bool:
        x, y = given[0], self.values[step.outputs[0]]
        if x.dtype != y.dtype or x.size != y.size:
            return False
        library = self.driver.xp.library
        numbered = library.arange(x.size).reshape(x.shape)
        found = step.call(numbered, *given[1:])[0]
        return bool(found.shape == y.shape and (found.reshape(-1) == numbered.reshape(-1)).all())

    def _closing(self) -> list[Action]:
        """Copies of results to arrays that were handed in and that no step writes."""
        plan, made = self.plan, list[Action]()
        for name, source in zip(plan.outputs, plan.sources):
            if name in plan.handed_in and plan.handed_in[name] is not plan.pinned.get(source):
                array = plan.handed_in[name]
                made.append(ArrayCopy(self.values[source], MirroredArray.of(array).view(self.driver, array)))
        return made

    def _joined(self, closing: list[Action]) -> list[Callable[[], None] | int]:
        program: list[Callable[[], None] | int] = []
        waiting: list[Action] = []
        for i in range(len(self.plan.steps)):
            if i in self.actions:
                waiting += self.actions[i]
                continue
            if waiting:
                program.append(self.driver.prepare(waiting))
                waiting = []
            program.append(i)
        if waiting or closing:
            program.append(self.driver.prepare(waiting + closing))
        if len(program) == 1 and not isinstance(program[0], int):
            program = [CapturedGraph(self.driver, program[0])]
        return program

    # Runs

    def run(self, feeds: Sequence[Any], context: RunContext | None, stay: bool) -> tuple[Any, ...]:
        """The outputs that are not written into given arrays (None for these), on the host or where they are."""
        with self.stream:
            host_values = self.go(feeds, context)
            results = tuple(None if n in self.plan.handed_in else self.result(s, host_values, stay)
                            for n, s in zip(self.plan.outputs, self.plan.sources))
            if stay or all(r is None for r in results):
                self.driver.synchronize()
        return results

    @property
    def is_one_call(self) -> bool:
        """Whether a run is one launch, which no Python signal handler interrupts."""
        return len(self.program) == 1 and isinstance(self.program[0], CapturedGraph) and self.program[0].is_one_call

    def go(self, feeds: Sequence[Any], context: RunContext | None, then: Callable[[], object] | None = None) -> dict[Value, Any]:
        """Put all work of a run into the queue; gives the values that are on the host. With ``then`` a run is one call, and so is both."""
        host_values = self._load(feeds, context)
        for block in self.blocks:
            block.on_device(self.driver)
        for block in self.written:          # beforehand: whatever interrupts this, the device has what is newest
            block.changed_on(self.driver)
        for item in self.program:
            if isinstance(item, int):
                self._run_step(item, host_values, context)
            elif isinstance(item, CapturedGraph):
                item(then)
            else:
                item()
        return host_values

    def _load(self, feeds: Sequence[Any], context: RunContext | None) -> dict[Value, Any]:
        """Bring the feeds to the device; gives those that stay on the host."""
        host_values = dict(self.on_host)
        host = self.staging.host()
        on_device: list[tuple[Any, Any]] = []
        given: dict[Value, Any] = dict(zip(self.plan.feeds, feeds))
        if self.plan.rng_state is not None:
            given[self.plan.rng_state] = context.words()  # type: ignore[union-attr]  # who draws has one
        for name, array in given.items():
            if name not in self.fed:
                host_values[name] = array
            elif isinstance(array, np.ndarray):
                at = self.fed[name]
                host[at:at + array.nbytes].view(array.dtype).reshape(array.shape)[...] = array
            else:
                on_device.append((self.values[name], array))
        for at, numbers in zip(self._places, self.post_step.numbers if self.post_step else ()):
            host[at:at + numbers.nbytes].view(numbers.dtype)[...] = numbers
        self.staging.send()
        for place, array in on_device:
            place[...] = array
        return host_values

    def _run_step(self, i: int, host_values: dict[Value, Any], context: RunContext | None) -> None:
        step = self.plan.steps[i]
        inputs = [None if n is None else self.values[n] if n in self.values else host_values[n] for n in step.inputs]
        try:
            if step.kind is StepKind.PYTHON:
                results = step.call(context, *inputs)
            elif step.kind is StepKind.VIEW:
                results = step.call(*inputs)
            else:
                step.call(*inputs, *[self.values[n] for n in step.outputs])
                return
        except Exception as error:
            self._explain(error, step)
        for name, result in zip(step.outputs, results):
            if name not in self.values:
                host_values[name] = result
            elif isinstance(result, np.ndarray):
                self.driver.upload(np.ascontiguousarray(result), self.values[name])
            else:
                self.values[name][...] = result

    def result(self, name: str, host_values: dict[Value, Any], stay: bool = False) -> Any:
        """The value of a variable after a run, for the caller to keep."""
        if name in host_values:
            return np.array(host_values[name], copy=True, order="C")
        return self.values[name].copy() if stay else self.driver.download(self.values[name])

    def _explain(self, error: Exception, step: PlanStep) -> NoReturn:
        node = step.nodes[-1]
        raise_explained(error, node, [None if n is None else self.plan.specs[n] for n in node.inputs])


def _shares(a: Any, b: Any) -> bool:
    """Whether two arrays of a device use the same memory."""
    if isinstance(a, np.ndarray):
        return np.may_share_memory(a, b)
    return bool(a.size and b.size and a.data.mem is b.data.mem)
