"""Forward and backward for batches of one form, once everything about it is decided."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...samediff.ir.run_context import RunContext
from ...samediff.plans.plan import Plan
from ...samediff.training.steps.step import PlannedStep, TrainingStep
from ...samediff.training.updaters.normalization import Normalization
from ..batches.batch import NetworkBatch


class CachedStep(PlannedStep):
    """A plan and where in a batch its placeholders are.

    Parameters
    ----------
    step, plan, normalization, counter : as in :class:`.PlannedStep`
    places : for each placeholder of the plan which part of a batch, and which array of it
    divisors : by what the losses are divided
    rows : what sums over examples are divided by
    scale : what sums of gradients are multiplied by

    Attributes
    ----------
    most : how many of these to take in one call, at most
    in_order : whether the plan takes features and labels, in this order, and nothing else
    """

    def __init__(self, step: TrainingStep, plan: Plan, places: list[tuple[int, int]], divisors: list[int], rows: int,
                 scale: float, normalization: Normalization | None, counter: Any) -> None:
        super().__init__(step, plan, normalization, counter)
        self.places, self.divisors, self.rows, self.scale = places, divisors, rows, scale
        self.in_order = places == [(0, 0), (1, 0)]

    @property
    def most(self) -> int:
        return 1 if self.compiled is None else self.compiled.most

    @staticmethod
    def places_of(feeds: Mapping[str, Any], plan: Plan, batch: NetworkBatch) -> list[tuple[int, int]] | None:
        """The places in a batch of a plan's placeholders; None where one is not taken from the batch as it is."""
        where = {id(a): (k, i) for k, part in enumerate(batch.parts()) for i, a in enumerate(part) if a is not None}
        found = [where.get(id(feeds[n])) for n in plan.feeds]
        return None if None in found else found  # type: ignore[return-value]

    def feeds(self, batch: NetworkBatch) -> list[Any]:
        """The arrays of a batch in the order of the plan's inputs."""
        parts = batch.parts()
        return [parts[k][i] for k, i in self.places]

    def run(self, batch: NetworkBatch, context: RunContext | None) -> float:
        """The summed losses, divided; the gradients land in the flat vector."""
        return self._total(self.step.run_plan(self.plan, self.feeds(batch), context))

    def run_compiled(self, batches: Sequence[Sequence[Any]], iteration: int, epoch: int, seed: int) -> float:
        """Take compiled steps, with updates, for the feeds of one batch or of several in turn; returns the score of the last."""
        compiled = self.compiled
        assert compiled is not None
        if len(batches) > 1:
            return self._total(compiled.series(batches, iteration, epoch, self.scale, seed))
        return self._total(compiled(batches[0], iteration, epoch, self.scale, seed))

    def _total(self, results: Sequence[Any]) -> float:
        total = 0.0
        for value, divisor in zip(results, self.divisors):
            total += value.item() / divisor
        return total
