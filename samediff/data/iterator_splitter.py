"""One iterator divided into parts."""
from __future__ import annotations

from collections.abc import Sequence

from ..errors import ConfigurationError
from .dataset import DataSet
from .iterator import DataSetIterator
from .wrapper_iterators import DataSetWrapper


class _Part(DataSetWrapper):
    """Some consecutive batches of an iterator that several parts share."""

    def __init__(self, splitter: DataSetIteratorSplitter, start: int, count: int) -> None:
        super().__init__(splitter.base)
        self._splitter, self._start, self._count, self._at = splitter, start, count, 0

    def has_next(self) -> bool:
        return self._at < self._count and self._splitter.go_to(self._start + self._at)

    def take(self, num: int | None) -> DataSet:
        self._no_part(num)
        self._at += 1
        self._splitter.position += 1
        return self._base.next()

    def reset(self) -> None:
        self._at = 0


class DataSetIteratorSplitter:
    """Divides the batches of one iterator into a training and a test part, or into any number of parts.

    The parts share the iterator, which must give its batches in the same order after every reset.

    Parameters
    ----------
    base : DataSetIterator
    total_batches : int or list of int
        Number of batches of ``base``, or the number of batches of every part.
    ratio : float or list of float, optional
        With ``total_batches`` as a number: share of the training part (the rest is the test part), or of every part.

    Examples
    --------
    >>> from dl4py.samediff.data import ListDataSetIterator
    >>> data = DataSet([[float(i)] for i in range(5)], [[0.0]] * 5)
    >>> split = DataSetIteratorSplitter(ListDataSetIterator(data.as_list(), 1), 5, 0.6)
    >>> len(list(split.get_train_iterator())), len(list(split.get_test_iterator()))
    (3, 2)
    """

    def __init__(self, base: DataSetIterator, total_batches: int | Sequence[int],
                 ratio: float | Sequence[float] | None = None) -> None:
        if isinstance(total_batches, int):
            shares = [ratio, 1 - ratio] if isinstance(ratio, (int, float)) else list(ratio or ())
            if not shares or min(shares) <= 0 or sum(shares) > 1 + 1e-9:
                raise ConfigurationError("DataSetIteratorSplitter: shares must be positive with a sum of at most 1, "
                                         f"got {ratio}")
            counts = [int(total_batches * share) for share in shares]
            if isinstance(ratio, (int, float)):
                counts[1] = total_batches - counts[0]
        else:
            counts = list(total_batches)
        if not base.reset_supported():
            raise ConfigurationError("DataSetIteratorSplitter needs an iterator that can be reset")
        self.base, self.position, self._counts = base, 0, counts
        base.reset()

    def go_to(self, position: int) -> bool:
        """Bring the shared iterator before this batch; False when it has fewer."""
        if position < self.position:
            self.base.reset()
            self.position = 0
        while self.position < position:
            if not self.base.has_next():
                return False
            self.base.next()
            self.position += 1
        return self.base.has_next()

    def get_iterators(self) -> list[DataSetIterator]:
        """One iterator for every part."""
        return [_Part(self, sum(self._counts[:i]), count) for i, count in enumerate(self._counts)]

    def get_train_iterator(self) -> DataSetIterator:
        """The first part."""
        return self.get_iterators()[0]

    def get_test_iterator(self) -> DataSetIterator:
        """The second part."""
        parts = self.get_iterators()
        if len(parts) < 2:
            raise ConfigurationError("DataSetIteratorSplitter has only one part")
        return parts[1]
