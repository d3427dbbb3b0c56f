"""Forward and backward for batches of one form, once everything about it is decided."""
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from ..samediff.executor.context import RunContext
from ..samediff.executor.plan import Plan
from ..samediff.training.step import TrainingStep
from ..samediff.training.whole_step import WholeStep
from .batch import Batch
from .build import NetworkGraph


class KnownStep:
    """A plan and where in a batch its placeholders are.

    Parameters
    ----------
    step, made : the step of the variant, and its graph
    plan : the plan for the form of the batch
    places : for each placeholder of the plan which part of a batch, and which array of it
    divisors : by what the losses are divided
    whole : forward, backward and update as one call, where nothing has to happen between them
    """

    def __init__(self, step: TrainingStep, made: NetworkGraph, plan: Plan, places: list[tuple[int, int]], divisors: list[int]) -> None:
        self.step, self.made, self.plan, self.places, self.divisors = step, made, plan, places, divisors

    @functools.cached_property
    def whole(self) -> WholeStep | None:
        return self.step.whole(self.plan)

    @staticmethod
    def places_of(feeds: Mapping[str, Any], plan: Plan, batch: Batch) -> list[tuple[int, int]] | None:
        """Where the placeholders of a plan are; None where one is not taken from the batch as it is."""
        where = {id(a): (k, i) for k, part in enumerate(batch.parts()) for i, a in enumerate(part) if a is not None}
        found = [where.get(id(feeds[n])) for n in plan.feeds]
        return None if None in found else found  # type: ignore[return-value]

    def run(self, batch: Batch, context: RunContext | None) -> float:
        """The summed losses, divided; the gradients land in the flat vector."""
        return self._total(self.step.run_plan(self.plan, self.feeds(batch), context))

    def feeds(self, batch: Batch) -> list[Any]:
        """What the plan takes of a batch."""
        parts = batch.parts()
        return [parts[k][i] for k, i in self.places]

    def run_whole(self, whole: WholeStep, feeds: Sequence[Any], iteration: int, epoch: int, scale: float) -> float:
        """The same for such feeds, and the parameters are updated."""
        return self._total(whole(feeds, iteration, epoch, scale))

    def _total(self, results: Sequence[Any]) -> float:
        total = 0.0
        for value, divisor in zip(results, self.divisors):
            total += value.item() / divisor
        return total
