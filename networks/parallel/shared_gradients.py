"""One update from the gradients of all workers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.errors import ConfigurationError
from ...samediff.training.listeners.calls import Listeners
from ..batches.batch import NetworkBatch
from ..optimizers import StochasticGradientDescent
from ..optimizers.base import States
from ..structure.settings import OptimizationAlgorithm
from .all_reduce import AllReduce

if TYPE_CHECKING:
    from ..models.fitting import NetworkFittingMixin


class SharedGradientDescent(StochasticGradientDescent):
    """The step of plain training on the batches of all ranks together: every rank makes the same update.

    Gradients are sums over examples, so the joint batch's gradient is the sum of all ranks' and is divided by the number of all examples.
    Steps of running statistics are averaged, each rank's weighted by its examples.
    """

    def __init__(self, network: NetworkFittingMixin, ranks: AllReduce) -> None:
        algorithm = network.engine.structure.solver.algorithm
        if algorithm is not OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT:
            raise ConfigurationError(f"SHARED_GRADIENTS works with STOCHASTIC_GRADIENT_DESCENT; the network is fitted by {algorithm.name}, "
                                     "for which AVERAGING can be used")
        super().__init__(network)
        self._ranks = ranks

    def step(self, batch: NetworkBatch, states: States, hear: Listeners) -> dict[str, Any]:
        after = self._evaluate_and_tell(batch, states, hear)
        self.network.engine.steps.update(self._exchange(batch.rows), batch, states is not None)
        return after

    def step_without_data(self, batch: NetworkBatch | None, stateful: bool) -> None:
        """Take part where this rank has no batch, or none any more: ``batch`` is one it has already been fitted to."""
        engine = self.network.engine
        with engine.lock:
            engine.flat.gradients[...] = 0
            rows = self._exchange(0)
            if batch is not None:
                engine.steps.update(rows, batch, stateful)

    def _exchange(self, rows: int) -> int:
        """Replace gradients and score by those of the joint batch, and return its number of examples."""
        engine = self.network.engine
        count = np.array([rows], np.float64)
        self._ranks.reduce(count)
        weight = rows / count[0]
        score = np.array([self.network.score() * weight if rows else 0.0])
        self._ranks.reduce(score)
        engine.progress.score = float(score[0])
        for slot in engine.parameters.slots:
            if not slot.scaled:
                engine.flat.gradient_arrays[slot.name][...] *= weight
        self._ranks.reduce(engine.flat.vectors[1])
        return int(count[0])
