"""Iterators around another iterator: repeat it, stop it early, divide it, join several."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ConfigurationError
from .dataset import DataSet
from .iterator import BatchIterator, D, DataSetIterator, MultiDataSetIterator, NoMoreDataError, copy_of
from .list_iterators import ExistingDataSetIterator, SingletonDataSetIterator, check_batch
from .multi_dataset import MultiDataSet


class _Wrapper(BatchIterator[D]):
    """Passes everything on to ``base``; subclasses change one thing."""

    def __init__(self, base: BatchIterator[D]) -> None:
        self._base = base

    def has_next(self) -> bool:
        return self._base.has_next()

    def take(self, num: int | None) -> D:
        return self._base.next(num)

    def reset(self) -> None:
        self._base.reset()

    def batch(self) -> int:
        return self._base.batch()

    def reset_supported(self) -> bool:
        return self._base.reset_supported()

    def async_supported(self) -> bool:
        return False


class _DataSetWrapper(_Wrapper[DataSet], DataSetIterator):
    _base: DataSetIterator

    def input_columns(self) -> int:
        return self._base.input_columns()

    def total_outcomes(self) -> int:
        return self._base.total_outcomes()

    def get_labels(self) -> list[str] | None:
        return self._base.get_labels()


class AsyncShieldDataSetIterator(_DataSetWrapper):
    """The same batches, never read ahead by a background thread."""


class AsyncShieldMultiDataSetIterator(_Wrapper[MultiDataSet], MultiDataSetIterator):
    """The same batches, never read ahead by a background thread."""


class ReconstructionDataSetIterator(_DataSetWrapper):
    """Batches whose labels are their features, for autoencoders."""

    def take(self, num: int | None) -> DataSet:
        batch = self._base.next(num)
        return DataSet(batch.features, batch.features, batch.features_mask, batch.features_mask)


class _EarlyTermination(_Wrapper[D]):
    def __init__(self, base: BatchIterator[D], max_batches: int) -> None:
        if max_batches < 1:
            raise ConfigurationError(f"early termination needs at least one batch, got {max_batches}")
        super().__init__(base)
        self._max, self._given = max_batches, 0

    def has_next(self) -> bool:
        return self._given < self._max and self._base.has_next()

    def take(self, num: int | None) -> D:
        self._given += 1
        return self._base.next(num)

    def reset(self) -> None:
        self._given = 0
        self._base.reset()


class EarlyTerminationDataSetIterator(_EarlyTermination[DataSet], _DataSetWrapper):
    """The first batches of another iterator.

    Parameters
    ----------
    base : DataSetIterator
    max_batches : int
        Number of batches until `reset`.
    """


class EarlyTerminationMultiDataSetIterator(_EarlyTermination[MultiDataSet], MultiDataSetIterator):
    """The first batches of another iterator."""


class MultipleEpochsIterator(_DataSetWrapper):
    """Goes through another iterator, or gives one data set, several times as if it were one pass.

    Parameters
    ----------
    num_epochs : int
    base : DataSetIterator or DataSet
    total_iterations : int, optional
        Stop after this number of batches.
    """

    def __init__(self, num_epochs: int, base: DataSetIterator | DataSet, total_iterations: int | None = None) -> None:
        if num_epochs < 1:
            raise ConfigurationError(f"MultipleEpochsIterator needs at least one epoch, got {num_epochs}")
        super().__init__(SingletonDataSetIterator(base) if isinstance(base, DataSet) else base)
        self._epochs, self._limit = num_epochs, total_iterations
        self._epoch, self._given = 1, 0

    def has_next(self) -> bool:
        if self._limit is not None and self._given >= self._limit:
            return False
        if not self._base.has_next() and self._epoch < self._epochs:
            self._epoch += 1
            self._base.reset()
        return self._base.has_next()

    def take(self, num: int | None) -> DataSet:
        self._given += 1
        return self._base.next(num)

    def reset(self) -> None:
        self._epoch, self._given = 1, 0
        self._base.reset()


class _Benchmark(BatchIterator[D]):
    def __init__(self, example: D, total_iterations: int) -> None:
        self._example, self._total, self._given = example, total_iterations, 0

    def has_next(self) -> bool:
        return self._given < self._total

    def take(self, num: int | None) -> D:
        self._no_part(num)
        self._given += 1
        return copy_of(self._example)

    def reset(self) -> None:
        self._given = 0


class BenchmarkDataSetIterator(_Benchmark[DataSet], DataSetIterator):
    """The same batch a number of times, to measure everything but reading data.

    Parameters
    ----------
    example : DataSet
    total_iterations : int
    """


class BenchmarkMultiDataSetIterator(_Benchmark[MultiDataSet], MultiDataSetIterator):
    """The same batch a number of times."""


class IteratorDataSetIterator(DataSetIterator):
    """Batches of a fixed size, cut from data sets of any size.

    Parameters
    ----------
    iterator : iterable of DataSet
        Taken once: the iterator cannot be reset.
    batch : int
    """

    def __init__(self, iterator: Any, batch: int) -> None:
        self._source = ExistingDataSetIterator(iter(iterator))
        self._batch = check_batch(batch)
        self._left: DataSet | None = None
        self._columns = (0, 0)

    def has_next(self) -> bool:
        if self._left is None and self._source.has_next():
            self._left = self._source.next()
            self._columns = (self._left.num_inputs(), self._left.num_outcomes())
        return self._left is not None

    def take(self, num: int | None) -> DataSet:
        wanted, parts = num or self._batch, []
        while wanted and self.has_next() and self._left is not None:
            n = self._left.num_examples()
            parts.append(self._left.get_range(0, wanted))
            self._left = self._left.get_range(wanted, n) if wanted < n else None
            wanted -= min(wanted, n)
        return DataSet.merge(parts)

    def reset(self) -> None:
        raise ConfigurationError("IteratorDataSetIterator cannot be reset: it takes its source once")

    def reset_supported(self) -> bool:
        return False

    def batch(self) -> int:
        return self._batch

    def input_columns(self) -> int:
        self.has_next()
        return self._columns[0]

    def total_outcomes(self) -> int:
        self.has_next()
        return self._columns[1]


class _Part(_DataSetWrapper):
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
        With ``total_batches`` as a number: share of the training part (the rest is the test part), or share of every part.

    Examples
    --------
    >>> data = DataSet([[float(i)] for i in range(5)], [[0.0]] * 5)
    >>> split = DataSetIteratorSplitter(ExistingDataSetIterator(data.as_list()), 5, 0.6)
    >>> len(list(split.get_train_iterator())), len(list(split.get_test_iterator()))
    (3, 2)
    """

    def __init__(self, base: DataSetIterator, total_batches: int | Sequence[int],
                 ratio: float | Sequence[float] | None = None) -> None:
        if isinstance(total_batches, int):
            shares = [ratio, 1 - ratio] if isinstance(ratio, (int, float)) else list(ratio or ())
            if not shares or min(shares) <= 0 or sum(shares) > 1 + 1e-9:
                raise ConfigurationError(f"DataSetIteratorSplitter: shares must be positive with a sum of at most 1, got {ratio}")
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
            raise NoMoreDataError("DataSetIteratorSplitter has only one part")
        return parts[1]


class MultiDataSetIteratorAdapter(_Wrapper[Any], MultiDataSetIterator):
    """The batches of a DataSetIterator as MultiDataSets with one input and one output."""

    def take(self, num: int | None) -> MultiDataSet:
        return MultiDataSet.merge([self._base.next(num)])


class MultiDataSetWrapperIterator(_Wrapper[Any], DataSetIterator):
    """The batches of a MultiDataSetIterator with one input and one output as DataSets."""

    def take(self, num: int | None) -> DataSet:
        batch: MultiDataSet = self._base.next(num)
        if batch.num_feature_arrays() > 1 or batch.num_labels_arrays() > 1:
            raise ConfigurationError(f"expected one input and one output, got {batch}")
        masks = (m[0] if m else None for m in (batch.features_masks, batch.labels_masks))
        return DataSet(*(arrays[0] if arrays else None for arrays in (batch.features, batch.labels)), *masks)


class JointMultiDataSetIterator(MultiDataSetIterator):
    """One MultiDataSet of the batches of several DataSetIterators, as long as all of them have one.

    Parameters
    ----------
    *iterators : DataSetIterator
    """

    def __init__(self, *iterators: DataSetIterator) -> None:
        if not iterators:
            raise ConfigurationError("JointMultiDataSetIterator needs at least one iterator")
        self._iterators = iterators

    def has_next(self) -> bool:
        return all(it.has_next() for it in self._iterators)

    def take(self, num: int | None) -> MultiDataSet:
        batches = [it.next(num) for it in self._iterators]
        lists = [[b._part(name) for b in batches] for name in ("features", "labels", "features_mask", "labels_mask")]
        return MultiDataSet(*lists)

    def reset(self) -> None:
        for it in self._iterators:
            it.reset()

    def reset_supported(self) -> bool:
        return all(it.reset_supported() for it in self._iterators)

    def batch(self) -> int:
        return self._iterators[0].batch()
