"""Iterators over data that is in memory."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ConfigurationError, ShapeError
from ..sets.dataset import DataSet
from ..sets.dataset_arrays import Array, check_same_examples, data_array
from ..sets.multi_dataset import MultiDataSet
from .iterator import BatchIterator, D, DataSetIterator, MultiDataSetIterator, copy_of

__all__ = [
    "DoublesDataSetIterator", "ExistingDataSetIterator", "ExistingMultiDataSetIterator", "FloatsDataSetIterator",
    "INDArrayDataSetIterator", "ListDataSetIterator", "NumpyDataSetIterator", "NumpyMultiDataSetIterator", "SingletonDataSetIterator",
    "SingletonMultiDataSetIterator", "TestDataSetIterator", "ViewIterator",
]


def check_batch(size: int) -> int:
    """The batch size, when it is one."""
    if size < 1:
        raise ConfigurationError(f"the batch size must be at least 1, got {size}")
    return int(size)


def _gives_all(iterator: BatchIterator[Any]) -> bool:
    """Whether its batches are the examples of its data as they are: no preprocessor, no class of another module that finds others."""
    ways = (getattr(type(iterator), name) for name in ("next", "take", "has_next", "__iter__"))
    return iterator.get_pre_processor() is None and all(way.__module__ in (__name__, BatchIterator.__module__) for way in ways)


class ListDataSetIterator(DataSetIterator):
    """Batches merged from a list of data sets, usually of one example each.

    Parameters
    ----------
    data_sets : iterable of DataSet
        Usually of one example each, as ``as_list()`` of a data set gives them.
    batch : int, default 5
        How many of them make one batch.

    Notes
    -----
    Source: DL4J's ``ListDataSetIterator``.

    Examples
    --------
    >>> data = DataSet([[0.0], [1.0], [2.0]], [[0.0], [1.0], [0.0]])
    >>> [batch.num_examples() for batch in ListDataSetIterator(data.as_list(), 2)]
    [2, 1]
    """

    batches_stay = True

    def __init__(self, data_sets: Iterable[DataSet], batch: int = 5) -> None:
        self._list = list(data_sets)
        self._batch, self._at = check_batch(batch), 0

    def has_next(self) -> bool:
        return self._at < len(self._list)

    def take(self, num: int | None) -> DataSet:
        start, self._at = self._at, self._at + (num or self._batch)
        return copy_of(DataSet.merge(self._list[start:self._at]))

    def reset(self) -> None:
        self._at = 0

    def batch(self) -> int:
        return self._batch

    def async_supported(self) -> bool:
        return False        # nothing to wait for

    def input_columns(self) -> int:
        return self._list[0].num_inputs() if self._list else 0

    def total_outcomes(self) -> int:
        return self._list[0].num_outcomes() if self._list else 0

    def get_labels(self) -> list[str] | None:
        return self._list[0].label_names or None if self._list else None


class TestDataSetIterator(ListDataSetIterator):
    """Batches of one data set (ND4J's ``TestDataSetIterator``).

    Parameters
    ----------
    data : DataSet
        All examples.
    batch : int, default 5
        Number of examples of a batch, at least 1; the last one may have fewer.
    """

    __test__ = False        # not a test class, in spite of its name

    def __init__(self, data: DataSet, batch: int = 5) -> None:
        super().__init__(data.as_list(), batch)


class _Existing(BatchIterator[D]):
    """Given batches, as they are.

    Parameters
    ----------
    batches : iterable
        The batches. A Python iterator can be gone through once; lists and other iterables can be reset.
    """

    def __init__(self, batches: Iterable[D]) -> None:
        self._source = batches
        self._resettable = not isinstance(batches, Iterator)
        self._start()

    def _start(self) -> None:
        self._iterator = iter(self._source)
        self._ahead: D | None = None

    def has_next(self) -> bool:
        if self._ahead is None:
            self._ahead = next(self._iterator, None)
        return self._ahead is not None

    def take(self, num: int | None) -> D:
        self._no_part(num)
        batch, self._ahead = self._ahead, None
        assert batch is not None
        return copy_of(batch)

    def reset(self) -> None:
        if not self._resettable:
            raise ConfigurationError(f"{type(self).__name__} over a Python iterator cannot be reset; give it a list")
        self._start()

    def reset_supported(self) -> bool:
        return self._resettable

    def async_supported(self) -> bool:
        return False


class ExistingDataSetIterator(_Existing[DataSet], DataSetIterator):
    """Batches that exist already, from a list or any iterable (DL4J's class of the same name).

    Examples
    --------
    >>> it = ExistingDataSetIterator([DataSet([[0.0], [1.0]], [[1.0], [1.0]])])
    >>> it.next().num_examples(), it.has_next()
    (2, False)
    """


class ExistingMultiDataSetIterator(_Existing[MultiDataSet], MultiDataSetIterator):
    """Batches that exist already, from a list or any iterable."""


class SingletonDataSetIterator(ExistingDataSetIterator):
    """One batch: the given data set.

    Parameters
    ----------
    data : DataSet
        The batch, at every reset again.
    """

    def __init__(self, data: DataSet) -> None:
        super().__init__([data])


class SingletonMultiDataSetIterator(ExistingMultiDataSetIterator):
    """One batch: the given data set.

    Parameters
    ----------
    data : MultiDataSet
        The batch, at every reset again.
    """

    def __init__(self, data: MultiDataSet) -> None:
        super().__init__([data])


class _Views(BatchIterator[D]):
    """Batches that are views of one data set.

    Parameters
    ----------
    data : DataSet or MultiDataSet
        All examples.
    batch : int
        Number of examples of a batch, at least 1; the last one may have fewer.
    """

    batches_stay = True

    def __init__(self, data: D, batch: int) -> None:
        self._data: Any = data
        self._batch, self._at = check_batch(batch), 0

    def has_next(self) -> bool:
        return bool(self._at < self._data.num_examples())

    def take(self, num: int | None) -> D:
        start, self._at = self._at, self._at + (num or self._batch)
        return self._data.get_range(start, self._at)  # type: ignore[no-any-return]

    def whole_pass(self) -> D | None:
        examples = self._data.num_examples()
        if not examples or not _gives_all(self):
            return None
        self.reset()
        self.begin_pass()
        self._at, self._batches_given = examples, -(-examples // self._batch)
        return copy_of(self._data)  # type: ignore[no-any-return]

    def reset(self) -> None:
        self._at = 0

    def batch(self) -> int:
        return self._batch


class ViewIterator(_Views[DataSet], DataSetIterator):
    """Batches that are views of one data set, without copying (ND4J's ``ViewIterator``).

    Preprocessors and all methods of `DataSet` give a batch arrays of its own; who writes into the arrays of a batch himself writes
    into the data: take ``batch.copy()`` for that.
    """

    _data: DataSet

    def input_columns(self) -> int:
        return self._data.num_inputs()

    def total_outcomes(self) -> int:
        return self._data.num_outcomes()

    def get_labels(self) -> list[str] | None:
        return self._data.label_names or None

    def async_supported(self) -> bool:
        return False


class NumpyDataSetIterator(ViewIterator):
    """Batches of whole arrays: views of them, as those of `ViewIterator`; copies of its rows where they are shuffled.

    Parameters
    ----------
    features, labels : array-like
        Shapes: (examples, …).
    features_mask, labels_mask : array-like, optional
        1 for what counts: (examples, time), or (examples, 1).
    shuffle_seed : int, optional
        Shuffle now and at every reset, in an order that follows from this seed.

    Examples
    --------
    >>> import numpy as np
    >>> it = NumpyDataSetIterator(np.zeros((10, 4)), np.zeros((10, 3)), batch=4)
    >>> [b.num_examples() for b in it]
    [4, 4, 2]
    """

    def __init__(self, features: Any, labels: Any, batch: int, features_mask: Any = None, labels_mask: Any = None, *,
                 shuffle_seed: int | None = None) -> None:
        super().__init__(DataSet(features, labels, features_mask, labels_mask), batch)
        self._seed = shuffle_seed
        self._order = np.arange(self._data.num_examples())
        self._from_seed()
        self._mix()

    def _from_seed(self) -> None:
        self._random, self._shuffles = None if self._seed is None else np.random.default_rng(self._seed), 0

    def _mix(self) -> None:
        if self._random is not None:
            self._order, self._shuffles = self._order[self._random.permutation(len(self._order))], self._shuffles + 1

    def take(self, num: int | None) -> DataSet:
        start, self._at = self._at, self._at + (num or self._batch)
        return self._data[slice(start, self._at) if self._random is None else self._order[start:self._at]]

    def get_order(self) -> dict[str, Any]:
        return {} if self._random is None else {"shuffles": self._shuffles}

    def set_order(self, order: Mapping[str, Any]) -> None:
        if self._random is None:
            return
        self._from_seed()
        wanted = np.arange(len(self._order))
        for _ in range(int(order["shuffles"])):
            wanted = wanted[self._random.permutation(len(wanted))]
        self._order, self._shuffles = wanted, int(order["shuffles"])

    def reset(self) -> None:
        if self._at:
            self._mix()
        super().reset()


class INDArrayDataSetIterator(ViewIterator):
    """Batches of pairs (features of one example, labels of one example); the last batch may be smaller.

    Parameters
    ----------
    pairs : iterable of (array-like, array-like)
        One pair for each example, all of one shape; at least one. Arrays of more axes than one that begin with an axis of 1 are
        batches of one example, as in DL4J.

    Raises
    ------
    ShapeError
        Examples of different shapes.
    """

    _dtype: Any = None

    def __init__(self, pairs: Iterable[tuple[Any, Any]], batch: int) -> None:
        rows = list(pairs)
        if not rows:
            raise ShapeError(f"{type(self).__name__} needs at least one pair of features and labels")
        columns = (self._stacked([row[i] for row in rows], what) for i, what in enumerate(("features", "labels")))
        super().__init__(DataSet(*columns), batch)

    def _stacked(self, rows: Sequence[Any], what: str) -> Array:
        arrays = [data_array(row, what) for row in rows]
        shapes = {None if a is None else a.shape for a in arrays}
        if len(shapes) != 1 or None in shapes:
            raise ShapeError(f"all {what} need one shape, got {', '.join(sorted(map(str, shapes)))}")
        given = [a for a in arrays if a is not None]
        stacked = np.concatenate(given) if given[0].ndim > 1 and len(given[0]) == 1 else np.stack(given)
        return stacked if self._dtype is None else stacked.astype(self._dtype)


class DoublesDataSetIterator(INDArrayDataSetIterator):
    """`INDArrayDataSetIterator` of float64 data."""

    _dtype = np.float64


class FloatsDataSetIterator(INDArrayDataSetIterator):
    """`INDArrayDataSetIterator` of float32 data."""

    _dtype = np.float32


class NumpyMultiDataSetIterator(_Views[MultiDataSet], MultiDataSetIterator):
    """Batches of lists of whole arrays, without copying.

    Parameters
    ----------
    features, labels : list of array-like
        Shapes: every array (examples, …).
    features_masks, labels_masks : list of array-like or None, optional
        One for each array, None where there is none: (examples, time), or (examples, 1).
    """

    def __init__(self, features: Any, labels: Any, batch: int, features_masks: Any = None,
                 labels_masks: Any = None) -> None:
        super().__init__(MultiDataSet(features, labels, features_masks, labels_masks), batch)
        check_same_examples(**{f"array {i}": a for i, a in enumerate((*self._data.features, *self._data.labels))})
