"""Iterators of multi data sets made of iterators of data sets, and back."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import ConfigurationError
from ..sets.dataset import PARTS, DataSet
from ..sets.multi_dataset import MultiDataSet
from .iterator import DataSetIterator, MultiDataSetIterator, copy_of
from .list_iterators import check_batch
from .wrapper_iterators import Wrapper

__all__ = ["JointMultiDataSetIterator", "MultiDataSetIteratorAdapter", "MultiDataSetWrapperIterator", "TestMultiDataSetIterator"]


class MultiDataSetIteratorAdapter(Wrapper[Any], MultiDataSetIterator):
    """The batches of a DataSetIterator as MultiDataSets with one input and one output."""

    def take(self, num: int | None) -> MultiDataSet:
        return MultiDataSet.merge([self._base.next(num)])


class MultiDataSetWrapperIterator(Wrapper[Any], DataSetIterator):
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
        One for each input and output; the first that ends is the end of all.
    """

    def __init__(self, *iterators: DataSetIterator) -> None:
        if not iterators:
            raise ConfigurationError("JointMultiDataSetIterator needs at least one iterator")
        self._iterators = iterators

    def inner_iterators(self) -> Iterable[DataSetIterator]:
        return self._iterators

    def has_next(self) -> bool:
        return all(it.has_next() for it in self._iterators)

    def take(self, num: int | None) -> MultiDataSet:
        batches = [it.next(num) for it in self._iterators]
        lists = [[getattr(b, name) for b in batches] for name in PARTS]
        return MultiDataSet(*lists)

    def reset(self) -> None:
        for it in self._iterators:
            it.reset()

    def reset_supported(self) -> bool:
        return all(it.reset_supported() for it in self._iterators)

    def batch(self) -> int:
        return self._iterators[0].batch()


class TestMultiDataSetIterator(MultiDataSetIterator):
    """Batches merged from given multi data sets (ND4J's ``TestMultiDataSetIterator``).

    Parameters
    ----------
    batch : int
        How many of them make one batch.
    *data_sets : MultiDataSet
        Usually of one example each.
    """

    __test__ = False        # not a test class, in spite of its name

    def __init__(self, batch: int, *data_sets: MultiDataSet) -> None:
        self._list, self._batch, self._at = list(data_sets), check_batch(batch), 0

    def has_next(self) -> bool:
        return self._at < len(self._list)

    def take(self, num: int | None) -> MultiDataSet:
        start, self._at = self._at, self._at + (num or self._batch)
        return copy_of(MultiDataSet.merge(self._list[start:self._at]))

    def reset(self) -> None:
        self._at = 0

    def batch(self) -> int:
        return self._batch
