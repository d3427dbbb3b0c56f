"""Forward and backward for batches of one form, once everything about it is decided."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..samediff.executor.context import RunContext
from ..samediff.executor.plan import Plan
from ..samediff.training.step import TrainingStep
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
    """

    def __init__(self, step: TrainingStep, made: NetworkGraph, plan: Plan, places: list[tuple[int, int]], divisors: list[int]) -> None:
        self.step, self.made, self.plan, self.places, self.divisors = step, made, plan, places, divisors

    @staticmethod
    def places_of(feeds: Mapping[str, Any], plan: Plan, batch: Batch) -> list[tuple[int, int]] | None:
        """Where the placeholders of a plan are; None where one is not taken from the batch as it is."""
        where = {id(a): (k, i) for k, part in enumerate(batch.parts()) for i, a in enumerate(part) if a is not None}
        found = [where.get(id(feeds[n])) for n in plan.feeds]
        return None if None in found else found  # type: ignore[return-value]

    def run(self, batch: Batch, context: RunContext | None) -> float:
        """The summed losses, divided; the gradients land in the flat vector."""
        parts = batch.parts()
        results = self.step.run_plan(self.plan, [parts[k][i] for k, i in self.places], context)
        return sum([float(v) / d for v, d in zip(results, self.divisors)])
