"""One update from one gradient."""
from __future__ import annotations

from typing import Any

from ...samediff.base.environment import uses_reference
from ...samediff.training.listeners.calls import Listeners
from ..batches.batch import NetworkBatch
from ..engine.steps import form_of_batch
from .base import BETWEEN, Optimizer, States


class StochasticGradientDescent(Optimizer):
    """Takes what the updaters make of the gradient; nearly every network is fitted in this way."""

    def step(self, batch: NetworkBatch, states: States, hear: Listeners) -> dict[str, Any]:
        if states is None and self._compiled(batch, hear):
            return {}
        after = self._evaluate_and_tell(batch, states, hear)
        self.network.engine.steps.update(batch.rows, batch, states is not None)
        return after

    def _compiled(self, batch: NetworkBatch, hear: Listeners) -> bool:
        """Gradient and update in one call, where nobody asks for what is between them; whether that was possible."""
        engine = self.network.engine
        if engine.progress.checks_finite or (hear and any(hear.wants(hook) for hook in BETWEEN)):
            return False
        known = engine.steps.compiled(form_of_batch(batch)) if engine.steps.is_compiled and not uses_reference() else None
        if known is None:
            return False
        engine.steps.run_compiled(known, [known.feeds(batch)])
        return True
