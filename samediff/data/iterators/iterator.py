"""Base of the iterators over data sets."""
from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, Self, TypeVar, cast

from ...base.java_names import BatchIteratorNames, DataSetIteratorNames, DataSetPreProcessorNames
from ...base.javanames import PythonSpelling, in_python_spelling
from ...base.user_code.abstract_methods import unwritten
from ...base.user_code.users_arrays import InDL4JForm
from ...errors import ConfigurationError, DataTypeError, DL4PyError
from ..sets.dataset import DataSet
from ..sets.multi_dataset import MultiDataSet
from .position import Positioned

__all__ = [
    "BatchIterator", "DataSetIterator", "DataSetPreProcessor", "MultiDataSetIterator", "MultiDataSetPreProcessor", "NoMoreDataError",
]

_IN_JAVA = {"has_next": "has_next() (hasNext in Java's spelling)", "take": "next()"}
D = TypeVar("D", bound="DataSet | MultiDataSet")


class NoMoreDataError(DL4PyError, LookupError):
    """``next`` was called after the last batch (Java's NoSuchElementException)."""


class DataSetPreProcessor(DataSetPreProcessorNames):
    """Changes every batch that an iterator gives: normalizers and preprocessors."""

    @unwritten(when_called=True)
    def pre_process(self, data: Any) -> None:
        """Change the data set."""
        raise NotImplementedError


#: DL4J has a type of its own for those of multi data sets.
MultiDataSetPreProcessor = DataSetPreProcessor


class BatchIterator(BatchIteratorNames, InDL4JForm, Positioned, ABC, Generic[D]):
    """Batches one after the other: the base of `DataSetIterator` and `MultiDataSetIterator`.

    A subclass defines `has_next`, `take` (or ``next``, as in DL4J) and `reset`. ``for batch in iterator`` goes through all batches and
    starts again from the first one every time when the iterator can be reset; otherwise it goes on where it stands. ``fit`` goes on
    where it stands (`rest`), and `get_position` tells where that is.

    Parameters
    ----------
    *args, **options
        Those of the sub-class.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.next
        if own is not BatchIterator.next and getattr(cls.take, "__isabstractmethod__", False):    # in DL4J sub-classes define next()
            required = any(p.default is p.empty for p in [*inspect.signature(own).parameters.values()][1:])

            def take(self: Any, num: int | None) -> Any:
                return own(self) if num is None and not required else own(self, num)

            setattr(cls, "take", take)  # noqa: B010  # mypy knows no such assignment
            setattr(cls, "next", BatchIterator.next)  # noqa: B010
            cls._knows_its_end = True

    def __new__(cls, *args: Any, **options: Any) -> Self:
        missing = sorted(getattr(cls, "__abstractmethods__", ()))
        if missing:
            names = ", ".join(_IN_JAVA.get(name, f"{name}()") for name in missing)
            raise DataTypeError(f"{cls.__name__} cannot give batches yet: it must define {names}")
        return super().__new__(cls)

    batches_stay = False        # whether a batch keeps its values while further ones are made: training may look ahead then
    _pre_processor: Any = None
    _knows_its_end = False      # whether the sub-class answers who asks for so many examples behind the last batch, as in DL4J

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
        if not (self._knows_its_end and num) and not self.has_next():
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

    def set_pre_processor(self, pre_processor: DataSetPreProcessor | Any) -> None:
        """Change every batch by this normalizer or preprocessor; None for none."""
        found = pre_processor if pre_processor is None else in_python_spelling(pre_processor, "pre_process")
        if found is None and pre_processor is not None:
            raise ConfigurationError(f"a normalizer or preprocessor has pre_process(data) (preProcess in Java's spelling); "
                                     f"{type(pre_processor).__name__} has none")
        self._pre_processor = found

    def get_pre_processor(self) -> DataSetPreProcessor | Any:
        """The normalizer or preprocessor, or None."""
        return self._pre_processor.of if isinstance(self._pre_processor, PythonSpelling) else self._pre_processor

    def _no_part(self, num: int | None) -> None:
        if num is not None:
            raise ConfigurationError(f"{type(self).__name__} gives whole batches only: call next() without a number")


class DataSetIterator(BatchIterator[DataSet], DataSetIteratorNames):
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
