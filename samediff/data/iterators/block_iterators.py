"""Several batches at once."""
from __future__ import annotations

from typing import Generic

from ...base.java_names import DummyBlockDataSetIteratorNames, DummyBlockMultiDataSetIteratorNames
from ...base.javanames import JavaSpelling
from ..sets.dataset import DataSet
from ..sets.multi_dataset import MultiDataSet
from .iterator import BatchIterator, D
from .list_iterators import check_batch

__all__ = ["DummyBlockDataSetIterator", "DummyBlockMultiDataSetIterator"]


class _Blocks(JavaSpelling, Generic[D]):
    """Lists of batches of another iterator.

    Parameters
    ----------
    base : DataSetIterator or MultiDataSetIterator
        The other iterator; blocks begin where it stands.
    """

    def __init__(self, base: BatchIterator[D]) -> None:
        self._base = base

    def has_anything(self) -> bool:
        """Whether there is a further batch."""
        return self._base.has_next()

    def next(self, max_parts: int) -> list[D]:
        """The next batches, at most that many; an empty list at the end."""
        block: list[D] = []
        while len(block) < check_batch(max_parts) and self._base.has_next():
            block.append(self._base.next())
        return block


class DummyBlockDataSetIterator(_Blocks[DataSet], DummyBlockDataSetIteratorNames):
    """Lists of batches of another iterator (DL4J's ``DummyBlockDataSetIterator``).

    Examples
    --------
    >>> from dl4py.samediff.data import ListDataSetIterator
    >>> data = DataSet([[float(i)] for i in range(3)], [[0.0]] * 3)
    >>> blocks = DummyBlockDataSetIterator(ListDataSetIterator(data.as_list(), 1))
    >>> len(blocks.next(2)), len(blocks.next(2)), blocks.has_anything()
    (2, 1, False)
    """


class DummyBlockMultiDataSetIterator(_Blocks[MultiDataSet], DummyBlockMultiDataSetIteratorNames):
    """Lists of batches of an iterator over multi data sets."""
