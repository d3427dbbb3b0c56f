"""Models that the tasks of a Python process share, made once, with their plans."""
from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """The values that were used last.

    Parameters
    ----------
    most : int
        How many are kept.

    Examples
    --------
    >>> kept = Kept[int](1)
    >>> kept.get("a", lambda: 1), kept.get("a", lambda: 2), kept.get("b", lambda: 3), kept.get("a", lambda: 4)
    (1, 1, 3, 4)
    """

    def __init__(self, most: int = 4) -> None:
        self._most, self._values = most, dict[str, T]()

    def get(self, key: str, make: Callable[[], T]) -> T:
        """The value of a key; it is made where it is not there."""
        found = self._values.pop(key) if key in self._values else make()
        self._values[key] = found
        if len(self._values) > self._most:
            del self._values[next(iter(self._values))]
        return found
