"""Protocols of networks as the rooms below them use them."""
from __future__ import annotations

from typing import Protocol

from .engine import Engine


class HasEngine(Protocol):
    """A network, as far as its parameters and graphs go."""

    @property
    def engine(self) -> Engine: ...
