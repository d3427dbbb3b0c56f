"""One iterator divided into parts."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic

from ...base.java_names import DataSetIteratorSplitterNames, MultiDataSetIteratorSplitterNames
from ...base.javanames import JavaSpelling
from ...errors import ConfigurationError
from ..sets.dataset import DataSet
from ..sets.multi_dataset import MultiDataSet
from .iterator import BatchIterator, D, DataSetIterator, MultiDataSetIterator
from .wrapper_iterators import DataSetWrapper, Wrapper

__all__ = ["DataSetIteratorSplitter", "MultiDataSetIteratorSplitter", "ScrollableDataSetIterator", "ScrollableMultiDataSetIterator"]


class _Splitter(JavaSpelling, Generic[D]):
    """The position of an iterator that several parts share, and the number of batches of each part.

    Parameters
    ----------
    base : DataSetIterator or MultiDataSetIterator
        The iterator, which can be reset; it is not to be used otherwise in the meantime.
    total_batches : int or list of int
        Number of batches of ``base``, or the number of batches of every part.
    ratio : float or list of float, optional
        With ``total_batches`` as a number: share of the training part (the rest is the test part), or of every part. Shares are above
        0, with a sum of at most 1.
    """

    def __init__(self, base: BatchIterator[D], total_batches: int | Sequence[int],
                 ratio: float | Sequence[float] | None = None) -> None:
        if isinstance(total_batches, int):
            shares = [ratio, 1 - ratio] if isinstance(ratio, (int, float)) else list(ratio or ())
            if not shares or min(shares) <= 0 or sum(shares) > 1 + 1e-9:
                raise ConfigurationError(f"{type(self).__name__}: shares must be positive with a sum of at most 1, "
                                         f"got {ratio}")
            counts = [int(total_batches * share) for share in shares]
            if isinstance(ratio, (int, float)):
                counts[1] = total_batches - counts[0]
        else:
            counts = list(total_batches)
        if not base.reset_supported():
            raise ConfigurationError(f"{type(self).__name__} needs an iterator that can be reset")
        self.base, self.position, self.counts = base, 0, counts
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

    def _second(self, parts: list[Any]) -> Any:
        if len(parts) < 2:
            raise ConfigurationError(f"{type(self).__name__} has only one part")
        return parts[1]


class _Part(Wrapper[D]):
    """Some consecutive batches of an iterator that several parts share.

    Parameters
    ----------
    num : int
        Number of the part, from 0.
    splitter : DataSetIteratorSplitter or MultiDataSetIteratorSplitter
        What divides the iterator.
    """

    def __init__(self, num: int, splitter: _Splitter[D]) -> None:
        if not 0 <= num < len(splitter.counts):
            raise ConfigurationError(f"{type(self).__name__}: part {num} of {len(splitter.counts)} parts")
        super().__init__(splitter.base)
        self._splitter, self._at = splitter, 0
        self._start, self._count = sum(splitter.counts[:num]), splitter.counts[num]

    def has_next(self) -> bool:
        return self._at < self._count and self._splitter.go_to(self._start + self._at)

    def take(self, num: int | None) -> D:
        self._no_part(num)
        self._at += 1
        self._splitter.position += 1
        return self._base.next()

    def reset(self) -> None:
        self._at = 0

    def begin_pass(self) -> None:
        if not self._at:
            self._splitter.go_to(self._start)       # the shared iterator may begin a pass of another order here
        super().begin_pass()

    def set_order(self, order: Mapping[str, Any]) -> None:
        self._base.reset()
        self._splitter.position = 0
        super().set_order(order)


class ScrollableDataSetIterator(_Part[DataSet], DataSetWrapper):
    """One part of a `DataSetIteratorSplitter`: a window on an iterator that other parts share.

    Notes
    -----
    Source: DL4J's ``ScrollableDataSetIterator``; what Java's parts share in counters, these share in the splitter.
    """

    def __init__(self, num: int, splitter: DataSetIteratorSplitter) -> None:
        super().__init__(num, splitter)


class ScrollableMultiDataSetIterator(_Part[MultiDataSet], MultiDataSetIterator):
    """One part of a `MultiDataSetIteratorSplitter`."""

    def __init__(self, num: int, splitter: MultiDataSetIteratorSplitter) -> None:
        super().__init__(num, splitter)


class DataSetIteratorSplitter(_Splitter[DataSet], DataSetIteratorSplitterNames):
    """Divides the batches of one iterator into a training and a test part, or into any number of parts.

    The parts share the iterator, which must give its batches in the same order after every reset.

    Examples
    --------
    >>> from dl4py.samediff.data import ListDataSetIterator
    >>> data = DataSet([[float(i)] for i in range(5)], [[0.0]] * 5)
    >>> split = DataSetIteratorSplitter(ListDataSetIterator(data.as_list(), 1), 5, 0.6)
    >>> len(list(split.get_train_iterator())), len(list(split.get_test_iterator()))
    (3, 2)
    """

    def get_iterators(self) -> list[DataSetIterator]:
        """One iterator for every part."""
        return [ScrollableDataSetIterator(i, self) for i in range(len(self.counts))]

    def get_train_iterator(self) -> DataSetIterator:
        """The first part."""
        return self.get_iterators()[0]

    def get_test_iterator(self) -> DataSetIterator:
        """The second part."""
        found: DataSetIterator = self._second(self.get_iterators())
        return found


class MultiDataSetIteratorSplitter(_Splitter[MultiDataSet], MultiDataSetIteratorSplitterNames):
    """`DataSetIteratorSplitter` for iterators over multi data sets."""

    def get_iterators(self) -> list[MultiDataSetIterator]:
        """One iterator for every part."""
        return [ScrollableMultiDataSetIterator(i, self) for i in range(len(self.counts))]

    def get_train_iterator(self) -> MultiDataSetIterator:
        """The first part."""
        return self.get_iterators()[0]

    def get_test_iterator(self) -> MultiDataSetIterator:
        """The second part."""
        found: MultiDataSetIterator = self._second(self.get_iterators())
        return found
