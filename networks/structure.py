"""Both kinds of networks as one list of members in the order in which they run."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..layers.parameters import Parameter
from ..samediff.datatype import DataType
from ..samediff.training.step import FlatSlot


@dataclass(frozen=True)
class Member:
    """A layer or vertex of a network.

    ``key`` is the prefix of its parameters ("0" or the vertex name), ``inputs`` are names of members or network inputs.
    """

    key: str
    conf: Any
    inputs: tuple[str, ...]
    preprocessor: Any = None
    is_layer: bool = True

    @property
    def label(self) -> str:
        """What messages call it."""
        name = getattr(self.conf, "layer_name", None) or self.key
        return f"layer {name!r} ({type(self.conf).__name__})" if self.is_layer else f"vertex {self.key!r} ({type(self.conf).__name__})"

    def slots(self) -> list[tuple[FlatSlot, Parameter]]:
        """Its parameters in the order of the flat vector."""
        table = self.conf.parameter_table() if hasattr(self.conf, "parameter_table") else []
        return [(FlatSlot(f"{self.key}_{p.name}", p.shape, self.conf.updater_for(p), p.order, self.conf.regularization_for(p),
                          key=self.conf.updater_key(p) if hasattr(self.conf, "updater_key") else None,
                          scaled=p.role != "statistic"), p) for p in table]


@dataclass(frozen=True)
class Structure:
    """What the engine needs to know of a network configuration."""

    inputs: tuple[str, ...]
    members: tuple[Member, ...]           # in an order in which they can run
    outputs: tuple[str, ...]
    dtype: DataType
    seed: int
    mini_batch: bool = True
    step_sign: int = -1

    def member(self, key: str) -> Member:
        """The member of that key."""
        return next(m for m in self.members if m.key == key)

    @property
    def losses(self) -> tuple[Member, ...]:
        """The output layers, in the order of the network's outputs."""
        return tuple(m for name in self.outputs for m in self.members if m.key == name and getattr(m.conf, "has_loss", False))


def topological(inputs: Sequence[str], vertex_inputs: dict[str, Sequence[str]]) -> list[str]:
    """DL4J's order of a graph: Kahn's algorithm with a queue, successors in the order of declaration.

    It also fixes the order of the flat parameter vector.
    """
    order = [*inputs, *vertex_inputs]
    index = {n: i for i, n in enumerate(order)}
    waiting = {n: set(vertex_inputs.get(n, ())) for n in order}
    successors: dict[str, list[str]] = {n: [] for n in order}
    for name, given in vertex_inputs.items():
        for source in set(given):
            successors[source].append(name)
    queue = [n for n in order if not waiting[n]]
    done = []
    while queue:
        name = queue.pop(0)
        done.append(name)
        for after in sorted(successors[name], key=index.__getitem__):
            waiting[after].discard(name)
            if not waiting[after]:
                queue.append(after)
    if len(done) < len(order):
        from ..samediff.errors import ConfigurationError
        stuck = ", ".join(n for n in order if n not in done)
        raise ConfigurationError(f"the graph has a cycle through {stuck}")
    return [n for n in done if n in vertex_inputs]
