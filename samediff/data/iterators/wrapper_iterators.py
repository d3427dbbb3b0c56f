"""Iterators around another iterator: repeat it, stop it early, divide it, join several."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import ConfigurationError
from ..sets.dataset import DataSet
from ..sets.multi_dataset import MultiDataSet
from .iterator import BatchIterator, D, DataSetIterator, MultiDataSetIterator, copy_of
from .list_iterators import SingletonDataSetIterator

__all__ = [
    "AsyncShieldDataSetIterator", "AsyncShieldMultiDataSetIterator", "BenchmarkDataSetIterator", "BenchmarkMultiDataSetIterator",
    "EarlyTerminationDataSetIterator", "EarlyTerminationMultiDataSetIterator", "MultipleEpochsIterator", "ReconstructionDataSetIterator",
    "WorkspacesShieldDataSetIterator",
]


class Wrapper(BatchIterator[D]):
    """Passes everything on to ``base``; subclasses change one thing.

    Parameters
    ----------
    base : DataSetIterator or MultiDataSetIterator
        The other iterator, which is not to be used otherwise in the meantime.
    """

    def __init__(self, base: BatchIterator[D]) -> None:
        self._base = base

    def inner_iterators(self) -> Iterable[BatchIterator[Any]]:
        return (self._base,)

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


class DataSetWrapper(Wrapper[DataSet], DataSetIterator):
    """A wrapper of a `DataSetIterator`, which keeps its columns and label names."""

    _base: DataSetIterator

    def input_columns(self) -> int:
        return self._base.input_columns()

    def total_outcomes(self) -> int:
        return self._base.total_outcomes()

    def get_labels(self) -> list[str] | None:
        return self._base.get_labels()


class AsyncShieldDataSetIterator(DataSetWrapper):
    """The same batches, never read ahead by a background thread."""


class AsyncShieldMultiDataSetIterator(Wrapper[MultiDataSet], MultiDataSetIterator):
    """The same batches, never read ahead by a background thread."""


class WorkspacesShieldDataSetIterator(DataSetWrapper):
    """The same batches; in Java they are copied out of a workspace, which dl4py does not have."""


class ReconstructionDataSetIterator(DataSetWrapper):
    """Batches whose labels, and their masks, are their features, for autoencoders."""

    def take(self, num: int | None) -> DataSet:
        batch = self._base.next(num)
        return DataSet(batch.features, batch.features, batch.features_mask, batch.features_mask)


class _EarlyTermination(Wrapper[D]):
    """The first batches of another iterator.

    Parameters
    ----------
    max_batches : int
        Number of batches until `reset`, at least 1.
    """

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


class EarlyTerminationDataSetIterator(_EarlyTermination[DataSet], DataSetWrapper):
    """The first batches of another iterator."""


class EarlyTerminationMultiDataSetIterator(_EarlyTermination[MultiDataSet], MultiDataSetIterator):
    """The first batches of another iterator."""


class MultipleEpochsIterator(DataSetWrapper):
    """Goes through another iterator, or gives one data set, several times as if it were one pass.

    Parameters
    ----------
    num_epochs : int
        How often, at least 1.
    base : DataSetIterator or DataSet
        The iterator, which can be reset, or the only batch.
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
    """The same batch a number of times.

    Parameters
    ----------
    example : DataSet or MultiDataSet
        The batch; each time its arrays are the same, in a data set of its own.
    total_iterations : int
        How many batches there are.
    """

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
    """The same batch a number of times, to measure everything but reading data."""


class BenchmarkMultiDataSetIterator(_Benchmark[MultiDataSet], MultiDataSetIterator):
    """The same batch a number of times."""
