"""What training asks of a graph, whose class stands above it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ir.core import GraphCore
from ..ir.variable import SDVariable
from .config import TrainingConfig


class Trainable(GraphCore):
    """The part of :class:`~dl4py.samediff.SameDiff` that training knows; other parts do what is declared here."""

    _grad_graph: tuple[Any, ...]
    _training_data: Any = None

    def _run(self, placeholders: Mapping[str, Any] | None, names: Sequence[str], training: bool = False) -> dict[str, Any]:
        """Compute variables by name."""
        raise NotImplementedError

    def infer_loss_variables(self) -> list[str]:
        """Names of what is minimized."""
        raise NotImplementedError

    def _gradients_for(self, names: list[str]) -> tuple[GraphCore, dict[str, SDVariable | None]]:
        """A graph with gradients, and the gradient of each variable."""
        raise NotImplementedError

    def _checked_config(self, training: bool = True) -> TrainingConfig:
        """The training configuration; an error where none is set, or it has no updater for training."""
        raise NotImplementedError

    def _regularization_scores(self, every: bool = False) -> dict[str, float]:
        """What each kind of regularization adds to the loss."""
        raise NotImplementedError
