"""Variables of the environment that are asked for in every run: those that are not set ten times as quickly as by ``os.environ``.

What stands behind ``os.environ`` is looked into where it is found and has what is expected, else ``os.environ`` itself.
"""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


def _behind() -> tuple[Mapping[Any, Any], bool]:
    """The mapping to look into, and whether its keys are those of the system."""
    found, encoded = getattr(os.environ, "_data", None), getattr(os.environ, "encodekey", None)
    if isinstance(found, dict) and encoded is not None and found.keys() == {encoded(name) for name in os.environ}:
        return found, True
    return os.environ, False


_MAPPING, _IS_ENCODED = _behind()


class Setting:
    """A variable of the environment."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._key = os.environ.encodekey(name) if _IS_ENCODED else name

    def value(self) -> str | None:
        """The value that it has now."""
        return os.environ.get(self.name) if self._key in _MAPPING else None


_executor = Setting("DL4PY_EXECUTOR")


def uses_reference() -> bool:
    """True when ``DL4PY_EXECUTOR=reference`` asks for the plain NumPy executor."""
    return _executor.value() == "reference"
