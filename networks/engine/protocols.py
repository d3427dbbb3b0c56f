"""What the rooms below the networks use of them."""
from __future__ import annotations

from typing import Protocol

from .engine import Engine
from .updates import Updates


class HasEngine(Protocol):
    """A network, as far as its parameters and graphs go."""

    @property
    def engine(self) -> Engine: ...


class HasUpdates(HasEngine, Protocol):
    """A network whose updaters can be asked what they would do."""

    _updates: Updates
