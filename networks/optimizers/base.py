"""What all optimizers share."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ...samediff.base.javanames import JavaSpelling
from ...samediff.training.listeners.listener import Listeners
from ..engine.batch import Batch
from ..engine.protocols import HasUpdates

States = Mapping[str, Any] | None

#: What listeners hear when the gradient is there and the parameters have not changed.
BETWEEN = ("on_backward_pass", "on_gradient_calculation")


class Trainable(HasUpdates, Protocol):
    """A network, as optimizers see it."""

    _score: float
    _checks_finite: bool

    def score(self) -> float:
        """The score of the last step."""

    def _penalized(self, loss: float) -> float:
        """A loss with the penalties of the parameters."""


class Optimizer(JavaSpelling):
    """Fits a network to one batch after the other; ``network.get_optimizer()`` gives that of a network."""

    def __init__(self, network: Trainable) -> None:
        self.network = network

    def step(self, batch: Batch, states: States, hear: Listeners) -> dict[str, Any]:
        """Change the parameters for one batch; gives the recurrent states after it."""
        raise NotImplementedError

    def score(self) -> float:
        """The score of the last step."""
        return self.network.score()

    def _evaluate(self, batch: Batch, states: States) -> tuple[float, dict[str, Any]]:
        """Score and recurrent states at the present parameters; the flat gradient then holds sums over examples."""
        total, after = self.network.engine.gradient(batch, states, states is not None)
        return self.network._penalized(total), after

    def _evaluate_and_tell(self, batch: Batch, states: States, hear: Listeners) -> dict[str, Any]:
        """The same once for each step: checked if asked for, kept as the score of the network, told to listeners."""
        network = self.network
        total, after = network.engine.gradient(batch, states, states is not None)
        if network._checks_finite:
            network.engine.check_finite(total, batch, states, states is not None)
        network._score = network._penalized(total)
        for hook in BETWEEN:
            if hear.wants(hook):
                hear.call(hook, network)
        return after
