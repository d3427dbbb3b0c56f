"""Java's arguments of any number."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def flat(arguments: Iterable[Any]) -> list[Any]:
    """Arguments one by one, of which some are lists of arguments.

    Examples
    --------
    >>> flat(["a", ["b", "c"]])
    ['a', 'b', 'c']
    """
    return [one for given in arguments for one in (given if isinstance(given, (list, tuple, set, frozenset)) else (given,))]
