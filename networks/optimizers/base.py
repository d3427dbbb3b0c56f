"""Base of the optimizers."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ...samediff.base.javanames import JavaSpelling
from ...samediff.training.listeners.calls import Listeners
from ..batches.batch import NetworkBatch
from ..engine.protocols import HasEngine

States = Mapping[str, Any] | None

#: What listeners hear when the gradient is there and the parameters have not changed.
BETWEEN = ("on_backward_pass", "on_gradient_calculation")


class OptimizableNetwork(HasEngine, Protocol):
    """A network, as optimizers see it."""

    def score(self) -> float:
        """The score of the last step."""


class Optimizer(JavaSpelling):
    """Fits a network to one batch after the other; ``network.get_optimizer()`` gives that of a network."""

    def __init__(self, network: OptimizableNetwork) -> None:
        self.network = network

    def step(self, batch: NetworkBatch, states: States, hear: Listeners) -> dict[str, Any]:
        """Change the parameters for one batch; gives the recurrent states after it."""
        raise NotImplementedError

    def score(self) -> float:
        """The score of the last step."""
        return self.network.score()

    def _evaluate(self, batch: NetworkBatch, states: States) -> tuple[float, dict[str, Any]]:
        """Score and recurrent states at the present parameters; the flat gradient then holds sums over examples."""
        steps = self.network.engine.steps
        total, after = steps.gradient(batch, states, states is not None)
        return total + steps.penalty(), after

    def _evaluate_and_tell(self, batch: NetworkBatch, states: States, hear: Listeners) -> dict[str, Any]:
        """The same once for each step: checked if asked for, kept as the score of the network, told to listeners."""
        steps, progress = self.network.engine.steps, self.network.engine.progress
        total, after = steps.gradient(batch, states, states is not None)
        if progress.checks_finite:
            steps.check_finite(total, batch, states, states is not None)
        progress.score = total + steps.penalty()
        for hook in BETWEEN:
            if hear.wants(hook, progress.iteration):
                hear.call(hook, self.network)
        return after
