"""Protocol of a graph as training uses it; its class stands above it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ir.core import GraphCore
from .config import TrainingConfig
from .listeners.has_listeners import HasListeners


class Trainable(HasListeners, GraphCore):
    """The interface of :class:`~dl4py.samediff.SameDiff` for training; other base classes implement it."""

    def compute(self, placeholders: Mapping[str, Any] | None, names: Sequence[str], training: bool = False) -> dict[str, Any]:
        """Compute variables by name."""
        raise NotImplementedError

    def checked_config(self, training: bool = True, outputs: Sequence[str] = ()) -> TrainingConfig:
        """The training configuration; one with features alone where none is set and ``outputs`` depend on a single placeholder.

        Raises
        ------
        ConfigurationError
            None is set, or it has no updater for training.
        """
        raise NotImplementedError

    def training_session(self) -> Any:
        """Parameters and step of the graph as it is now."""
        raise NotImplementedError
