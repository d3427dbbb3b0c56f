"""Models as those see them who train copies of them: vectors to exchange, counters, a seed, steps."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...samediff.device.device_memory import to_host
from ...samediff.errors import ConfigurationError
from ...samediff.graph.graph import SameDiff
from ...samediff.training.steps.transaction import Transaction
from ..models.fitting import NetworkFittingMixin


@dataclass
class ReplicaState:
    """The place in training from which replicas start.

    Attributes
    ----------
    seed, iteration, epoch : of the model
    vectors : its parameters and updater state
    """

    seed: int
    iteration: int
    epoch: int
    vectors: list[Any]


class Replicated(ABC):
    """A model of which several replicas train.

    Attributes
    ----------
    model : the network or graph itself
    lock : held for a step
    gate : held while values change
    seed : of random numbers
    iteration, epoch : counters
    score : of the last step
    """

    model: Any
    lock: Any
    gate: Any
    seed: int
    iteration: int
    epoch: int
    score: float

    @abstractmethod
    def vectors(self, updater: bool = True) -> list[Any]:
        """The flat vectors of parameters and, on request, of updater state; a device may have newer values."""

    @abstractmethod
    def fit(self, data: Any) -> None:
        """Make the steps for one batch."""

    def host_vectors(self, updater: bool = True) -> list[Any]:
        """The vectors with the newest values."""
        return [to_host(a) for a in self.vectors(updater)]

    def replace(self, vectors: Sequence[Any], values: Sequence[Any]) -> None:
        """Give vectors other values: all of them or, after an error or an interrupt, none."""
        with self.lock, self.gate, Transaction(vectors):
            for vector, value in zip(vectors, values):
                to_host(vector)[...] = value

    def state(self) -> ReplicaState:
        """The place in training where the model is."""
        with self.gate:
            return ReplicaState(self.seed, self.iteration, self.epoch, self.host_vectors())

    def start(self, state: ReplicaState, rank: int = 0) -> None:
        """Go on from there as the replica of that rank: dropout of each draws other numbers."""
        self.replace(self.vectors(), state.vectors)
        self.seed, self.iteration, self.epoch = state.seed + rank, state.iteration, state.epoch


class ReplicatedNetwork(Replicated):
    """A network."""

    def __init__(self, network: NetworkFittingMixin) -> None:
        self.model = network

    @property
    def lock(self) -> Any:  # type: ignore[override]
        return self.model.engine.lock

    @property
    def gate(self) -> Any:  # type: ignore[override]
        return self.model.engine.flat.gate

    def vectors(self, updater: bool = True) -> list[Any]:
        params, _, state = self.model.engine.flat.vectors
        return [params, state] if updater else [params]

    def fit(self, data: Any) -> None:
        self.model.fit(data)

    @property
    def seed(self) -> int:  # type: ignore[override]
        return int(self.model.engine.progress.seed)

    @seed.setter
    def seed(self, seed: int) -> None:
        self.model.engine.progress.seed = seed

    @property
    def iteration(self) -> int:  # type: ignore[override]
        return int(self.model.engine.progress.iteration)

    @iteration.setter
    def iteration(self, count: int) -> None:
        self.model.engine.progress.iteration = count

    @property
    def epoch(self) -> int:  # type: ignore[override]
        return int(self.model.engine.progress.epoch)

    @epoch.setter
    def epoch(self, count: int) -> None:
        self.model.engine.progress.epoch = count

    @property
    def score(self) -> float:  # type: ignore[override]
        return float(self.model.score())

    @score.setter
    def score(self, score: float) -> None:
        self.model.engine.progress.score = score


class ReplicatedGraph(Replicated):
    """A SameDiff graph with its training configuration."""

    def __init__(self, graph: SameDiff) -> None:
        self.model, self.lock, self.score = graph, graph.training_session().step.lock, 0.0

    @property
    def gate(self) -> Any:  # type: ignore[override]
        return self.model.training_session().params.gate

    def vectors(self, updater: bool = True) -> list[Any]:
        groups = [flat for used, flat in self.model.training_session().params.groups if used]
        return [*(flat.params for flat in groups), *(flat.state for flat in groups if updater)]

    def fit(self, data: Any) -> None:
        losses = self.model.fit(data).loss_curve().losses()
        self.score = float(sum(losses[-1].loss_values()))

    @property
    def seed(self) -> int:  # type: ignore[override]
        return int(self.model.seed)

    @seed.setter
    def seed(self, seed: int) -> None:
        self.model.seed = seed

    @property
    def iteration(self) -> int:  # type: ignore[override]
        return int(self.model.checked_config().iteration_count)

    @iteration.setter
    def iteration(self, count: int) -> None:
        self.model.checked_config().iteration_count = count

    @property
    def epoch(self) -> int:  # type: ignore[override]
        return int(self.model.checked_config().epoch_count)

    @epoch.setter
    def epoch(self, count: int) -> None:
        self.model.checked_config().epoch_count = count


def replicated(model: Any) -> Replicated:
    """A network or graph, as replicas of it are trained."""
    if isinstance(model, NetworkFittingMixin):
        return ReplicatedNetwork(model)
    if isinstance(model, SameDiff):
        return ReplicatedGraph(model)
    raise ConfigurationError(f"expected a MultiLayerNetwork, ComputationGraph or SameDiff graph; got {type(model).__name__}")
