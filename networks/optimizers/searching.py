"""Optimizers that choose a direction and search along it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...samediff.training.listener import Listeners
from ..batch import Batch
from .base import Optimizer, States
from .line_search import BackTrackLineSearch

if TYPE_CHECKING:
    from ..fitting import Fitting


class SearchingOptimizer(Optimizer):
    """Base of the optimizers with a line search.

    Directions are made of what the updaters make of the gradients: with learning rate, regularization and momentum. As in DL4J updaters
    run before the search and once more after it.
    """

    def __init__(self, network: Fitting, search: BackTrackLineSearch) -> None:
        super().__init__(network)
        self.search = search

    def direction(self, update: Any) -> Any:
        """Where to go from here, given the update at these parameters."""
        raise NotImplementedError

    def learn(self, before: Any, update: Any, params: Any, new_update: Any) -> None:
        """Take note of parameters and updates before and after a step."""

    def step(self, batch: Batch, states: States, hear: Listeners) -> dict[str, Any]:
        flat = self.network.engine.flat
        start, state, done = flat.params.copy(), flat.state.copy(), False
        try:
            after = self._step(batch, states, hear, start)
            done = True
        finally:
            if not done:            # a search that ends in an error leaves parameters as after the last whole step
                flat.params[...], flat.state[...] = start, state
        return after

    def _step(self, batch: Batch, states: States, hear: Listeners, start: Any) -> dict[str, Any]:
        network = self.network
        engine, flat = network.engine, network.engine.flat

        def score(params: Any) -> float:
            engine.set_params(params)
            return self._evaluate(batch, states)[0]

        self._evaluate_and_tell(batch, states, hear)
        network._updates.make(batch.rows)
        update = flat.gradients.copy()
        direction = self.direction(update)
        size = self.search.optimize(score, start, update, direction, network._score)
        params = start.copy()
        if size:
            self.search.step_function.step(params, direction, size)
        engine.set_params(params)
        after = self._evaluate_and_tell(batch, states, hear)
        network._updates.make(batch.rows)
        self.learn(start, update, params, flat.gradients)
        engine.constrain()
        return after
