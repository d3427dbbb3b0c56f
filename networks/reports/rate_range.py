"""Learning rate range test: how the score falls, and where it runs away, as the rate grows."""
from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...samediff.base.javanames import JavaSpelling
from ...samediff.drawing.figures import figure_of
from ...samediff.errors import ConfigurationError
from ...samediff.training import ExponentialSchedule

#: Times the best score so far: from there on a score has run away.
RUN_AWAY = 4.0


@dataclass(frozen=True)
class LearningRateRange(JavaSpelling):
    """Scores of a network whose learning rate grows from step to step (Smith 2017).

    Parameters
    ----------
    rates, scores : sequence of float
        The rate of each step, and the score after it.
    present : float
        The rate that the network has now.
    untrained : float
        The score of the network without training. Scores below a tenth of it are told apart no more: those of a trained network may
        grow a little.

    Examples
    --------
    >>> found = LearningRateRange([1e-4, 1e-3, 1e-2, 1e-1, 1.0], [2.0, 1.9, 1.2, 1.1, 9.0], 0.5)
    >>> found.suggestion(), found.limit()
    (0.01, 0.1)
    """

    rates: Sequence[float]
    scores: Sequence[float]
    present: float
    untrained: float = 0.0

    def limit(self) -> float:
        """Return the largest rate before the score runs away."""
        best = math.inf
        for k, score in enumerate(self.scores):
            best = min(best, score)
            if not score <= _highest(best, self.untrained):
                return self.rates[max(k - 1, 0)]
        return self.rates[-1]

    def suggestion(self) -> float:
        """Return the rate at which the score falls most; a third of the limit where it falls nowhere."""
        known = [(r, s) for r, s in zip(self.rates, self.scores) if r <= self.limit() and math.isfinite(s)]
        falls = [after - before for (_, before), (_, after) in pairwise(known)]
        if not falls or min(falls) >= 0:
            return self.limit() / 3
        return known[int(np.argmin(falls)) + 1][0]

    def plot(self, save_to: str | os.PathLike[str] | None = None) -> Any:
        """Draw scores by rate with the present and the suggested rate; needs matplotlib."""
        def draw(axes: Any) -> None:
            axes.plot(self.rates, self.scores, marker=".")
            axes.axvline(self.suggestion(), color="green", linestyle="--", label=f"suggested {self.suggestion():.3g}")
            axes.axvline(self.present, color="gray", linestyle=":", label=f"present {self.present:.3g}")
            axes.set(title="learning rate range test", xlabel="learning rate", ylabel="score", xscale="log")
            axes.legend(fontsize="small")
        return figure_of([draw], save_to, size=(6, 4))


def _highest(best: float, untrained: float) -> float:
    """The score from which on one has run away."""
    return RUN_AWAY * max(best, untrained / 10, 1e-12)


def rate_range(network: Any, data: Any, lowest: float, highest: float, steps: int) -> LearningRateRange:
    """The range test on a copy of a network; see :meth:`MultiLayerNetwork.find_learning_rate`."""
    if not 0 < lowest < highest or steps < 3:
        raise ConfigurationError("a range test goes from a rate above 0 to a higher one in at least 3 steps; "
                                 f"got {lowest}, {highest} and {steps}")
    present = next((r for m in network.structure.as_declared if (r := network.get_learning_rate(m.key)) is not None), None)
    if present is None:
        raise ConfigurationError("no updater of the network has a learning rate, so there is none to find")
    growth = (highest / lowest) ** (1 / (steps - 1))
    twin = network.clone()
    twin.set_iteration_count(0)
    twin.set_learning_rate(ExponentialSchedule("ITERATION", lowest, growth))
    untrained = float(type(network)(network.configuration).init().score(data))
    rates, scores = [], []
    for k in range(steps):
        twin.fit(data)
        rates.append(lowest * growth ** k)
        scores.append(float(twin.score(data)))
        if not math.isfinite(scores[-1]) or scores[-1] > _highest(min(scores), untrained):
            break
    return LearningRateRange(rates, [s if math.isfinite(s) else math.inf for s in scores], float(present), untrained)
