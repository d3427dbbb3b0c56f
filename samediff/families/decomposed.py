"""Ops that are given as a composition of other ops and nothing else."""
from __future__ import annotations

import functools
from typing import Any

from ..base.spec import TensorSpec, spec_of
from ..ir.op import Expandable, Specs, as_tuple
from .composite import Composite
from .followed import scratch


class Decomposed(Composite):
    """One node whose shapes, values and gradients all come from ``expand``."""

    inlines = True

    def infer(self, *specs: TensorSpec) -> Specs:
        """Shapes and types of the results of the composition."""
        found = tuple(o.spec for o in composition(self, specs)[1])
        return found if self.has_several else found[0]

    def compute(self, xp: Any, *inputs: Any) -> Any:
        """Run the composition on a graph of its own."""
        sd, outputs = composition(self, tuple(None if a is None else TensorSpec(tuple(a.shape), spec_of(a).dtype) for a in inputs))
        feeds = {f"in{i}": a for i, a in enumerate(inputs) if a is not None}
        values = sd.output(feeds, *[o.name() for o in outputs])
        return tuple(values[o.name()] for o in outputs)

    #: Whether the op has a list of outputs, even of one.
    has_several = True


@functools.lru_cache(maxsize=512)
def composition(op: Expandable, specs: tuple[TensorSpec | None, ...]) -> tuple[Any, tuple[Any, ...]]:
    """A graph with the nodes that the op stands for, and its results; inputs are ``in0``, ``in1`` ..."""
    found = as_tuple(op.expand(*scratch(specs)[1]))
    return found[0].sd, found           # without inputs a graph that the op made
