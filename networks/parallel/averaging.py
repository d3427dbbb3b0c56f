"""Averaging: sums and means of what replicas of a model have trained, wherever they run."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .replicated import Replicated


def added(arrays: Sequence[Any]) -> Any:
    """The sum of arrays in the order of their ranks; of half precision in single precision."""
    dtype = arrays[0].dtype
    total = arrays[0].astype(np.float32 if dtype.itemsize == 2 else dtype)
    for other in arrays[1:]:
        total += other
    return total


def divide(total: Any, divisor: float) -> None:
    """Divide a sum in place."""
    if divisor != 1.0:
        total /= total.dtype.type(divisor)


@dataclass
class Sums:
    """The values of some replicas, added up: of those that had data, no others count.

    Attributes
    ----------
    count : number of these replicas
    score : their scores, added up
    steps : the most steps that one of them made
    arrays : their parameters, and perhaps updater state, added up
    seconds : time that they took for their parts
    """

    count: int = 0
    score: float = 0.0
    steps: int = 0
    arrays: list[Any] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, replica: Replicated, steps: int, updater: bool) -> Sums:
        """The values of one replica after so many steps, none after none."""
        return cls(1, replica.score, steps, replica.host_vectors(updater)) if steps else cls()

    @classmethod
    def together(cls, parts: Iterable[Sums]) -> Sums:
        """The sums over several, in their order."""
        active = [part for part in parts if part.count]
        if len(active) < 2:
            return active[0] if active else cls()
        return cls(sum(p.count for p in active), sum(p.score for p in active), max(p.steps for p in active),
                   [added(same) for same in zip(*(p.arrays for p in active))],
                   {key: [s for p in active for s in p.seconds.get(key, ())] for key in active[0].seconds})

    def step_to_means(self, model: Replicated, updater: bool) -> None:
        """Make the means the values of the model, which has taken as many steps as a replica; or, after an error, change nothing."""
        if not self.count:
            return
        for total in self.arrays:
            divide(total, self.count)
        model.replace(model.vectors(updater), self.arrays)
        model.score, model.iteration = self.score / self.count, model.iteration + self.steps
