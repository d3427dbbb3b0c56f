"""One update from one gradient."""
from __future__ import annotations

from typing import Any

from ...samediff.training.listeners.listener import Listeners
from ..engine.batch import Batch
from .base import BETWEEN, Optimizer, States


class StochasticGradientDescent(Optimizer):
    """Takes what the updaters make of the gradient; nearly every network is fitted in this way."""

    def step(self, batch: Batch, states: States, hear: Listeners) -> dict[str, Any]:
        if states is None and self._in_one_go(batch, hear):
            return {}
        after = self._evaluate_and_tell(batch, states, hear)
        self.network.engine.update(batch.rows, batch, states is not None)
        return after

    def _in_one_go(self, batch: Batch, hear: Listeners) -> bool:
        """Gradient and update in one call, where nobody asks for what is between them; whether that was possible."""
        network = self.network
        if network._checks_finite or (hear and any(hear.wants(hook) for hook in BETWEEN)):
            return False
        score = network.engine.whole_step(batch)
        if score is not None:
            network._score = score
        return score is not None
