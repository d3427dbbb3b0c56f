"""Forward passes of a network: activations and losses."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...samediff.base.bounded_cache import BoundedCache
from ...samediff.base.environment import uses_reference
from ...samediff.device import devices
from ...samediff.executor.session import call_key, run
from ...samediff.plans.plan import Plan
from ..batches.batch import NetworkBatch
from ..batches.batch_checks import Explained
from .build import NetworkGraph, input_name
from .graphs import Graphs
from .placement import Place, in_device_scope
from .progress import Progress


class Forward:
    """Runs the graphs without gradients; any number of threads may.

    Attributes
    ----------
    known : plans of plain passes by what was given, and for each placeholder of the plan which input it takes
    """

    def __init__(self, graphs: Graphs, progress: Progress, place: Place) -> None:
        self.graphs, self.progress, self.place = graphs, progress, place
        self.structure = graphs.structure
        self.known: BoundedCache[Any, tuple[Plan, tuple[int, ...]]] = place.forms.table()

    def known_output(self, x: Any) -> Any:
        """The first output for one input of a shape and type that :meth:`activations` has seen; None when it has not."""
        known = self.known.get((self.structure.outputs[0], (x.shape, x.dtype)))
        if known is None or devices.active or uses_reference():
            return None
        return known[0].run((x,), self.progress.context(False) if known[0].needs_rng else None)[0]

    @in_device_scope
    def activations(self, batch: NetworkBatch, members: Sequence[str], training: bool = False, states: Mapping[str, Any] | None = None,
                    stateful: bool = False, as_in_step: bool = False) -> tuple[list[Any], dict[str, Any]]:
        """The activations of members, and the recurrent state afterwards; ``as_in_step`` draws the random numbers of the next step."""
        plain = not (training or stateful or batch.features_masks or batch.labels_masks)
        key = (*members, *[(x.shape, x.dtype) for x in batch.inputs]) if plain else None
        known = self.known.get(key) if plain else None
        if known is not None and not uses_reference():
            plan, order = known
            return list(plan.run([batch.inputs[i] for i in order], self.progress.context(False))), {}
        with Explained(self.structure, batch):
            made = self.graphs.of(batch.unlabelled(), stateful)
        names = [self._place(made, m) for m in members]
        kept = made.states if stateful else {}
        feeds = self.graphs.feeds(batch, made, states)
        with Explained(self.structure, batch):
            context = self.progress.context(training) if as_in_step else self.progress.fresh_context(training)
            values = run(made.sd, feeds, [*names, *kept.values()], context)
        made_plan = made.sd.tables.plans.known.get(call_key(feeds, names, False)) if plain else None
        if made_plan is not None and len(set(names)) == len(names):
            places = {input_name(i): i for i, x in enumerate(batch.inputs) if feeds.get(input_name(i)) is x}
            if all(n in places for n in made_plan.feeds):       # given as the plan takes them: the same shapes need no checks again
                self.known[key] = made_plan, tuple(places[n] for n in made_plan.feeds)
        return [values[n] for n in names], {key: values[n] for key, n in kept.items()}

    def _place(self, made: NetworkGraph, member: str) -> str:
        """The variable of a member's activations, or of an input."""
        if member in made.activations or member in made.unavailable:
            return made.activations[member]
        return input_name(self.structure.inputs.index(member)) if member in self.structure.inputs else member

    @in_device_scope
    def scores(self, batch: NetworkBatch, training: bool = False) -> tuple[list[Any], float]:
        """Loss of each example for each output layer, and the score without regularization."""
        made = self.graphs.with_loss(batch)
        with Explained(self.structure, batch):
            values = run(made.sd, self.graphs.feeds(batch, made), [*made.scores, *made.losses], self.progress.context(training))
        sums = [np.sum(values[n], dtype=np.float64) for n in made.losses]
        return [values[n] for n in made.scores], made.total(sums, batch)
