"""Pickles of configurations, for networks and other processes."""
from __future__ import annotations

import pickle
from typing import Any

from ..errors import DL4PyError

_REGISTERED = 'register a class under a name (@layer("acme.Mine"), @configuration("acme.Mine"))'


def pickled(value: Any, what: str, kind: type[DL4PyError], otherwise: str = _REGISTERED) -> bytes:
    """The pickle of a value; an error of that kind says what stands in the way, and what to do or else ``otherwise``."""
    try:
        return pickle.dumps(value)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise kind(f"{what}: {error}; define its classes and functions at the top of a module, or {otherwise}") from error
