"""Two things together, as DL4J gives them."""
from __future__ import annotations

from typing import Any, Generic, TypeVar

from ..java_names import PairNames

__all__ = ["Pair"]

A = TypeVar("A")
B = TypeVar("B")


class Pair(tuple[Any, ...], PairNames, Generic[A, B]):
    """A tuple of two with DL4J's names for its entries.

    Parameters
    ----------
    first, second : object
        The two.

    Examples
    --------
    >>> pair = Pair(1, "a")
    >>> pair.getFirst(), pair.get_second(), pair == (1, "a")
    (1, 'a', True)
    """

    __slots__ = ()

    def __new__(cls, first: A = None, second: B = None) -> Pair[A, B]:  # type: ignore[assignment]
        return super().__new__(cls, (first, second))

    def __getnewargs__(self) -> tuple[A, B]:
        return self[0], self[1]

    def get_first(self) -> A:
        """The first."""
        return self[0]  # type: ignore[no-any-return]

    def get_second(self) -> B:
        """The second."""
        return self[1]  # type: ignore[no-any-return]

    get_left = get_key = get_first
    get_right = get_value = get_second

    @staticmethod
    def of(first: A, second: B) -> Pair[A, B]:
        """A pair of both."""
        return Pair(first, second)

    create = make_pair = of
