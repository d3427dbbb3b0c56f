"""Running a plan step by step, to time each one by itself."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DeviceError
from ..ir.run_context import RunContext
from ..plans.backend import backend_of
from ..plans.frame import Frame
from ..plans.machine_peak import shortest
from ..plans.plan_data import ShapeSource, StepKind, Value
from ..plans.reference import as_carray
from ..plans.way import Way, way_of, why
from .cost_model import flops_of, sizes_of
from .profile import Profile, StepProfile

if TYPE_CHECKING:
    from ..ir.node import Node
    from ..plans.plan import Plan


def profiled(plan: Plan, feeds: Mapping[str, Any], context: RunContext, repeats: int = 10,
             layer_of: Callable[[str], str] | None = None, title: str = "plan") -> Profile:
    """Time, bytes and operations of every step, on these feeds. Arrays that the plan writes in place are as before afterwards.

    Parameters
    ----------
    plan : Plan
    feeds : a value for each placeholder of the plan
    context : for the random numbers
    repeats : how often each step is timed; the shortest time counts
    layer_of : what the layer of a name scope ("a/b") is called; by default the scope is
    title : what the profile is called

    Raises
    ------
    DeviceError
        A plan for a device whose arrays are not in the host's memory.
    """
    backend = backend_of(plan.where)
    if not backend.on_host:
        raise DeviceError(f"steps are timed one by one on the CPU only, this plan is for {backend.name}: profile in a block "
                          "`with device(\"cpu\")`, or use explain() for what runs on the device, and NVIDIA's profilers for times")
    given = [as_carray(np.asarray(feeds[n])) for n in plan.feeds]
    with _restored(plan):
        whole = shortest(lambda: plan.run(given, context), repeats + 1)
        frame = plan.new_frame()
        seconds, values = _timed(plan, frame, dict(zip(plan.feeds, given)), context, repeats)
    shared = backend.shared_steps(frame)
    named, steps = layer_of or (lambda scope: scope), []
    for i, step in enumerate(plan.steps):
        way = way_of(plan, frame, i)
        owner, back = _owner(step.nodes)
        counts = [flops_of(n, plan.specs) for n in step.nodes]
        used = {n for n in (*step.inputs, *step.outputs) if n is not None and not isinstance(n, ShapeSource)}
        moved = 0 if way is Way.VIEW else sum(sizes_of(values[n]) for n in used)
        steps.append(StepProfile(
            i, step.outputs[0], step.label, way, named(owner), "backward" if back else "forward", seconds[i], moved,
            None if None in counts else sum(c or 0 for c in counts), i in shared, tuple(n.name for n in step.nodes),
            why(plan, frame, i, backend.kernels)))
    dtype = next((s.dtype.numpy for s in plan.specs.values() if s.dtype.is_floating), np.dtype(np.float32))
    return Profile(title, tuple(steps), {"plan": whole}, dtype)


@contextmanager
def _restored(plan: Plan) -> Iterator[None]:
    """Context manager that restores the arrays the plan writes into."""
    arrays = list({id(a): a for a in (*plan.pinned.values(), *plan.handed_in.values())}.values())
    before = [a.copy() for a in arrays]
    try:
        yield
    finally:
        for array, value in zip(arrays, before):
            array[...] = value


def _timed(plan: Plan, frame: Frame, feeds: Mapping[str, Any], context: RunContext, repeats: int) -> tuple[list[float], dict[Value, Any]]:
    """Seconds of each step, and all values. No step overwrites its inputs, so each can be repeated before the next one."""
    shared = backend_of(plan.where).shared_steps(frame)
    values = dict(frame.layouts)
    for name, array in feeds.items():
        _set(values, name, array)
    if plan.rng_state is not None:
        _set(values, plan.rng_state, context.words())
    seconds = []
    with np.errstate(all="ignore"):
        for i in range(len(plan.steps)):
            call, count = _call(plan, frame, i, values, context, i in shared)
            if call is None:
                seconds.append(0.0)
                continue
            call()
            seconds.append(shortest(call, repeats) / count)
    return seconds, values


def _call(plan: Plan, frame: Frame, i: int, values: dict[Value, Any], context: RunContext,
          is_shared: bool) -> tuple[Callable[[], Any] | None, int]:
    """A function that runs a step, and how many times per call; None for a view that is made beforehand."""
    step = plan.steps[i]
    if i in frame.natives:
        return backend_of(plan.where).repeated_step(frame, i, is_shared)
    inputs = [None if n is None else values[n] for n in step.inputs]
    if step.writes:
        function, *work = frame.calls[i]
        return (lambda: function(*inputs, *[values[n] for n in step.outputs], *work)), 1
    if step.kind is StepKind.VIEW and i not in frame.copies:
        return None, 1
    given = (context, *inputs) if step.kind is StepKind.PYTHON else tuple(inputs)

    def fresh() -> None:
        for name, array in zip(step.outputs, step.call(*given)):
            _set(values, name, array)
    return fresh, 1


def _set(values: dict[Value, Any], name: Value, array: Any) -> None:
    """A value into the array that stands in for it, where there is one: views of that see it."""
    if name in values and values[name].shape == array.shape:
        np.copyto(values[name], array)
    else:
        values[name] = array


def _owner(nodes: Sequence[Node]) -> tuple[str, bool]:
    """The name scope of the last node that has one, and whether the node is part of the gradient of that scope."""
    back = nodes[-1].gradient_of is not None
    for node in reversed(nodes):
        name = (node.gradient_of or node.name).split(">")[0]
        if "/" in name:
            return name.rpartition("/")[0], back
    return "", back
