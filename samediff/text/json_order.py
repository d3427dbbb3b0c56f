"""The order of keys in DL4J's JSON: what a class's JSON constructor takes stands first, the rest follows by the alphabet."""
from __future__ import annotations

from collections.abc import Iterable, Sequence


def key_order(first: Sequence[str], keys: Iterable[str]) -> list[str]:
    """The keys of an object as Jackson writes them: those of its constructor, then the others.

    Examples
    --------
    >>> key_order(("p",), ["pschedule", "helperAllowFallback", "p"])
    ['p', 'helperAllowFallback', 'pschedule']
    """
    return sorted(keys, key=lambda key: (first.index(key) if key in first else len(first), key))
