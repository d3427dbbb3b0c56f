"""Positions of an array one after the other."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.java_names import NdIndexIteratorNames
from .arguments import flat, is_order


class NdIndexIterator(NdIndexIteratorNames):
    """The positions of all elements of an array of a given shape.

    Parameters
    ----------
    *shape : str and ints
        The order, where it is not "c", and the sizes.

    Examples
    --------
    >>> from dl4py.samediff import NdIndexIterator
    >>> positions = NdIndexIterator(1, 2)
    >>> positions.hasNext(), positions.next(), list(positions)
    (True, (0, 0), [(0, 1)])
    """

    def __init__(self, *shape: Any) -> None:
        order = shape[0] if is_order(shape[0]) else "c"
        self._sizes = tuple(int(n) for n in flat(shape[1:] if is_order(shape[0]) else shape))
        self._order, self._at, self._end = order, 0, int(np.prod(self._sizes))

    def has_next(self) -> bool:
        """Whether there is a further position."""
        return self._at < self._end

    def next(self) -> tuple[int, ...]:
        """The next position."""
        if not self.has_next():
            raise StopIteration
        self._at += 1
        return tuple(int(i) for i in np.unravel_index(self._at - 1, self._sizes, order=self._order.upper()))  # type: ignore[arg-type]

    __next__ = next

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return self
