"""The time of what a network does with its gradients."""
from __future__ import annotations

from collections.abc import Callable

from ...samediff.executor.profile import StepProfile
from ...samediff.expressions.expression import operations
from ...samediff.plans.machine_peak import shortest
from ...samediff.plans.way import Way
from .engine import Engine


def update_steps(engine: Engine, rows: int, repeats: int, first: int,
                 layer_of: Callable[[str], str]) -> list[StepProfile]:
    """A step for each update kernel, and for normalization and constraints where there are any; changes parameters and state."""
    flat, rules, progress = engine.flat, engine.parameters.rules, engine.progress
    made: list[StepProfile] = []
    pairs = zip(engine.parameters.slots, engine.parameters.owners)
    keys = {s.name: layer_of(getattr(m.conf, "layer_name", None) or m.key) for s, (m, _) in pairs}

    def add(name: str, way: Way, layer: str, call: Callable[[], object], moved: int, flops: int | None = None,
            members: tuple[str, ...] = ()) -> None:
        seconds = shortest(call, repeats + 1)
        made.append(StepProfile(first + len(made), name, name, way, layer, "update", seconds, moved, flops, members=members))
    if rules.normalizes:
        way = Way.NUMPY if rules.normalization is None else Way.NATIVE
        add("normalize_gradients", way, "", lambda: rules.prepare(rows), 2 * flat.gradients.nbytes)
    at = 0
    for kernel in flat.kernels():
        size, members, begin = kernel.arrays[0].size, [], 0
        for slot in (s for s in flat.slots if s.updated):
            if at <= begin < at + size:
                members.append(slot.name)
            begin += slot.size
        at += size
        owners = {keys[n] for n in members}
        layer = owners.pop() if len(owners) == 1 else ""
        add(type(kernel.rule.updater).__name__, Way.NATIVE if kernel.is_compiled else Way.NUMPY, layer,
            lambda kernel=kernel: kernel(progress.iteration, progress.epoch, 1.0),  # type: ignore[misc]  # bound now
            sum(2 * a.nbytes for a in kernel.arrays) - kernel.arrays[1].nbytes, size * operations(kernel.exprs), tuple(members))
    if rules.constrains:
        add("constraints", Way.NUMPY, "", rules.constrain, 2 * flat.params.nbytes)
    return made
