"""Ops of variables besides their own methods, and their graph; ``variable_ops.pyi`` lists them for editors."""
from __future__ import annotations

from typing import Any


class VariableOps:
    """Ops called on variables; found through the registry."""

    __slots__ = ("_sd",)

    @property
    def sd(self) -> Any:
        """The owning graph."""
        return self._sd

    same_diff = sd

    def get_same_diff(self) -> Any:
        """The owning graph."""
        return self._sd
