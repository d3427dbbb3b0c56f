"""Optimizers that choose a direction and search along it."""
from __future__ import annotations

from typing import Any

from ...samediff.training.listeners.calls import Listeners
from ...samediff.training.steps.transaction import Transaction
from ..batches.batch import NetworkBatch
from .base import OptimizableNetwork, Optimizer, States
from .line_search import BackTrackLineSearch


class SearchingOptimizer(Optimizer):
    """Base of the optimizers with a line search.

    Directions are made of what the updaters make of the gradients: with learning rate, regularization and momentum. As in DL4J updaters
    run before the search and once more after it.

    Attributes
    ----------
    learned : what :meth:`learn` gave after the last whole step
    """

    learned: Any = None

    def __init__(self, network: OptimizableNetwork, search: BackTrackLineSearch) -> None:
        super().__init__(network)
        self.search = search

    def direction(self, update: Any) -> Any:
        """Where to go from here, given the update at these parameters."""
        raise NotImplementedError

    def learn(self, before: Any, update: Any, params: Any, new_update: Any) -> Any:
        """What is known for the next step, from parameters and updates before and after this one; :attr:`learned` is not changed."""
        return None

    def step(self, batch: NetworkBatch, states: States, hear: Listeners) -> dict[str, Any]:
        engine, learned = self.network.engine, self.learned
        progress, done = engine.progress, engine.progress.iteration
        try:
            with engine.flat.gate, Transaction([engine.flat.params, engine.flat.state], progress.counter):
                after = self._step(batch, states, hear)
                progress.counter += 1
        except BaseException:
            if progress.iteration == done:
                self.learned = learned
            raise
        return after

    def _step(self, batch: NetworkBatch, states: States, hear: Listeners) -> dict[str, Any]:
        engine, flat = self.network.engine, self.network.engine.flat
        start = flat.params.copy()

        def score(params: Any) -> float:
            engine.parameters.set(params)
            return self._evaluate(batch, states)[0]

        self._evaluate_and_tell(batch, states, hear)
        engine.updates.make(batch.rows)
        update = flat.gradients.copy()
        direction = self.direction(update)
        size = self.search.optimize(score, start, update, direction, engine.progress.score)
        params = start.copy()
        if size:
            self.search.step_function.step(params, direction, size)
        engine.parameters.set(params)
        after = self._evaluate_and_tell(batch, states, hear)
        engine.updates.make(batch.rows)
        self.learned = self.learn(start, update, params, flat.gradients)
        engine.parameters.rules.constrain()
        return after
