"""Batches of a fixed size from data sets of any size."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from ...errors import ConfigurationError
from ..sets.dataset import DataSet
from ..sets.multi_dataset import MultiDataSet
from .iterator import BatchIterator, D, DataSetIterator, MultiDataSetIterator
from .list_iterators import check_batch

__all__ = ["IteratorDataSetIterator", "IteratorMultiDataSetIterator"]


class _Rebatched(BatchIterator[D]):
    """Batches of a fixed size, cut from those of another iterator.

    Parameters
    ----------
    iterator : iterable of DataSet or MultiDataSet
        Taken once: the iterator cannot be reset.
    batch : int
        Number of examples of a batch, at least 1; the last one may have fewer.
    """

    def __init__(self, iterator: Iterable[D], batch: int) -> None:
        self._source: Iterator[D] = iter(iterator)
        self._batch = check_batch(batch)
        self._left: D | None = None

    def has_next(self) -> bool:
        if self._left is None:
            self._left = next(self._source, None)
        return self._left is not None

    def take(self, num: int | None) -> D:
        wanted, parts = num or self._batch, []
        while wanted and self.has_next() and self._left is not None:
            n = self._left.num_examples()
            parts.append(self._left.get_range(0, wanted))
            self._left = cast(D, self._left.get_range(wanted, n)) if wanted < n else None
            wanted -= min(wanted, n)
        return cast(D, self._merge(parts))

    def _merge(self, parts: list[DataSet | MultiDataSet]) -> DataSet | MultiDataSet:
        return MultiDataSet.merge(parts)

    def reset(self) -> None:
        raise ConfigurationError(f"{type(self).__name__} cannot be reset: it takes its source once")

    def reset_supported(self) -> bool:
        return False

    def batch(self) -> int:
        return self._batch


class IteratorDataSetIterator(_Rebatched[DataSet], DataSetIterator):
    """Batches of a fixed size, cut from data sets of any size.

    Examples
    --------
    >>> parts = DataSet([[float(i)] for i in range(7)], [[0.0]] * 7).batch_by(3)
    >>> [len(batch) for batch in IteratorDataSetIterator(parts, 4)]
    [4, 3]
    """

    def _merge(self, parts: list[DataSet | MultiDataSet]) -> DataSet:
        return DataSet.merge(cast(list[DataSet], parts))

    def input_columns(self) -> int:
        return self._left.num_inputs() if self.has_next() and self._left is not None else 0

    def total_outcomes(self) -> int:
        return self._left.num_outcomes() if self.has_next() and self._left is not None else 0


class IteratorMultiDataSetIterator(_Rebatched[MultiDataSet], MultiDataSetIterator):
    """Batches of a fixed size, cut from multi data sets of any size."""
