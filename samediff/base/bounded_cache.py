"""A dictionary that forgets: what every cache is whose keys come from data, so that their number has no end."""
from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(dict[K, V]):
    """At most ``most`` entries; the one that was put first goes first. Looking up costs what it costs in a dictionary.

    Any number of threads may use it, without a lock. What a thread took out of it lives on after it was forgotten here.

    Parameters
    ----------
    most : int
        How many entries there may be.
    weight : callable, optional
        What an entry weighs, such as bytes of memory.
    heaviest : float
        What all entries may weigh together; the last ``least`` ones stay however heavy they are.

    Examples
    --------
    >>> squares = BoundedCache(2)
    >>> for n in range(4):
    ...     squares[n] = n * n
    >>> squares
    {2: 4, 3: 9}
    """

    def __init__(self, most: int, weight: Callable[[V], float] | None = None, heaviest: float = float("inf"), least: int = 1) -> None:
        super().__init__()
        self.most, self.heaviest, self.least = most, heaviest, least
        self._weight = weight

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        while len(self) > self.most or (len(self) > self.least and self.total() > self.heaviest):
            try:
                self.pop(next(iter(self)), None)
            except (StopIteration, RuntimeError):       # another thread forgot it, or put something, in this very moment
                continue

    def total(self) -> float:
        """Total weight of all entries."""
        return 0.0 if self._weight is None else sum(map(self._weight, list(self.values())))

    def used(self, key: K) -> V | None:
        """The entry, which is the last to be forgotten from now on; None where there is none."""
        value = self.get(key)
        if value is not None:
            self[key] = value
        return value
