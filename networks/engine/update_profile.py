"""The time of what a network does with its gradients."""
from __future__ import annotations

from collections.abc import Callable

from ...samediff.executor.limits import shortest
from ...samediff.executor.profile import StepProfile
from ...samediff.executor.work import operations
from .engine import Engine


def update_steps(engine: Engine, rows: int, repeats: int, first: int,
                 layer_of: Callable[[str], str]) -> list[StepProfile]:
    """A step for each update kernel, and for normalization and constraints where there are any; changes parameters and state."""
    flat = engine.flat
    made: list[StepProfile] = []
    keys = {s.name: layer_of(getattr(m.conf, "layer_name", None) or m.key) for s, (m, _) in zip(engine.slots, engine.parameters)}

    def add(name: str, way: str, layer: str, call: Callable[[], object], moved: int, flops: int | None = None,
            members: tuple[str, ...] = ()) -> None:
        seconds = shortest(call, repeats + 1)
        made.append(StepProfile(first + len(made), name, name, way, layer, "update", seconds, moved, flops, members=members))
    if engine.rules.normalizes:
        way = "numpy" if engine.rules.normalization is None else "native"
        add("normalize_gradients", way, "", lambda: engine.prepare_gradients(rows), 2 * flat.gradients.nbytes)
    at = 0
    for kernel in flat.kernels():
        size, members, begin = kernel.arrays[0].size, [], 0
        for slot in flat.slots:
            if at <= begin < at + size:
                members.append(slot.name)
            begin += slot.size
        at += size
        owners = {keys[n] for n in members}
        layer = owners.pop() if len(owners) == 1 else ""
        add(type(kernel.rule.updater).__name__, "native" if kernel.is_compiled else "numpy", layer,
            lambda kernel=kernel: kernel(engine.iteration, engine.epoch, 1.0),  # type: ignore[misc]  # bound now
            sum(2 * a.nbytes for a in kernel.arrays) - kernel.arrays[1].nbytes, size * operations(kernel.exprs), tuple(members))
    if engine.rules.constrains:
        add("constraints", "numpy", "", engine.constrain, 2 * flat.params.nbytes)
    return made
