"""Positional arguments by their names."""
from __future__ import annotations

from typing import Any

from ...samediff.errors import ConfigurationError


def positional(owner: str, names: tuple[str, ...], *args: Any) -> dict[str, Any]:
    """Return positional arguments by name."""
    if len(args) > len(names):
        known = ", ".join(names) or "none"
        raise ConfigurationError(f"{owner} takes keyword arguments; positional ones: {known}; got {len(args)}")
    return dict(zip(names, args))
