"""What every iterator over data sets can do."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, Protocol, TypeVar, cast

from ..errors import ConfigurationError, DL4PyError
from ..javanames import JavaSpelling
from .dataset import DataSet
from .multi_dataset import MultiDataSet
from .position import Positioned

D = TypeVar("D", bound="DataSet | MultiDataSet")


class NoMoreDataError(DL4PyError, LookupError):
    """``next`` was called after the last batch (Java's NoSuchElementException)."""


class DataSetPreProcessor(Protocol):
    """Changes every batch that an iterator gives: normalizers and preprocessors."""

    def pre_process(self, data: Any) -> None:
        """Change the data set."""


class BatchIterator(JavaSpelling, Positioned, ABC, Generic[D]):
    """Batches one after the other: the base of `DataSetIterator` and `MultiDataSetIterator`.

    A subclass defines `has_next`, `take` and `reset`. ``for batch in iterator`` goes through all batches and starts
    again from the first one every time when the iterator can be reset; otherwise it goes on where it stands. ``fit`` goes on where
    it stands (`rest`), and `get_position` tells where that is.
    """

    batches_stay = False        # whether a batch keeps its values while further ones are made: training may look ahead then
    _pre_processor: DataSetPreProcessor | None = None

    @abstractmethod
    def has_next(self) -> bool:
        """Whether there is a further batch."""

    @abstractmethod
    def take(self, num: int | None) -> D:
        """The next batch, before preprocessing; with ``num``, of that many examples."""

    @abstractmethod
    def reset(self) -> None:
        """Start again from the first batch."""

    def next(self, num: int | None = None) -> D:
        """The next batch, preprocessed; with ``num``, of that many examples.

        Raises
        ------
        NoMoreDataError
            After the last batch; ask `has_next` first or call `reset`.
        """
        self.begin_pass()
        if not self.has_next():
            raise NoMoreDataError(f"{type(self).__name__} has no further batch: ask has_next() first, or reset()")
        batch = self.take(num)
        self._batches_given += 1
        if self._pre_processor is not None:
            self._pre_processor.pre_process(batch)
        return batch

    def __iter__(self) -> Iterator[D]:
        if self.reset_supported():
            self.reset()
        while self.has_next():
            yield self.next()

    def rest(self) -> Iterator[D]:
        """The batches that are left; all of them when none is."""
        if not self.has_next() and self.reset_supported():
            self.reset()
        while self.has_next():
            yield self.next()

    def whole_pass(self) -> D | None:
        """Goes through a pass from its start: all its examples, in any order; None where batches must be taken one by one."""
        return None

    def batch(self) -> int:
        """Number of examples of a batch; 0 when not known."""
        return 0

    def reset_supported(self) -> bool:
        """Whether `reset` works."""
        return True

    def async_supported(self) -> bool:
        """Whether a background thread may read ahead."""
        return True

    def set_pre_processor(self, pre_processor: DataSetPreProcessor | None) -> None:
        """Change every batch by this normalizer or preprocessor; None for none."""
        self._pre_processor = pre_processor

    def get_pre_processor(self) -> DataSetPreProcessor | None:
        """The normalizer or preprocessor, or None."""
        return self._pre_processor

    def _no_part(self, num: int | None) -> None:
        if num is not None:
            raise ConfigurationError(f"{type(self).__name__} gives whole batches only: call next() without a number")


class DataSetIterator(BatchIterator[DataSet]):
    """Batches as `DataSet` objects (ND4J's ``DataSetIterator``)."""

    def input_columns(self) -> int:
        """Number of features of an example; 0 when not known."""
        return 0

    def total_outcomes(self) -> int:
        """Number of labels of an example; 0 when not known."""
        return 0

    def get_labels(self) -> list[str] | None:
        """Names of the label columns, or None."""
        return None


class MultiDataSetIterator(BatchIterator[MultiDataSet]):
    """Batches as `MultiDataSet` objects (ND4J's ``MultiDataSetIterator``)."""


def copy_of(batch: D) -> D:
    """A data set with the same arrays, so that a preprocessor does not change the original."""
    return cast(D, batch.get_range(0, batch.num_examples()))
