"""One update from one gradient."""
from __future__ import annotations

from typing import Any

from ...samediff.training.listener import Listeners
from ..batch import Batch
from .base import Optimizer, States


class StochasticGradientDescent(Optimizer):
    """Takes what the updaters make of the gradient; nearly every network is fitted in this way."""

    def step(self, batch: Batch, states: States, hear: Listeners) -> dict[str, Any]:
        after = self._evaluate_and_tell(batch, states, hear)
        self.network.engine.update(batch.rows, batch, states is not None)
        return after
