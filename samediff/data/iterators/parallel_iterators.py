"""Several iterators that read ahead at the same time, for one consumer in turn or for several by number."""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from ...base.java.java_enum import JavaEnum
from ...base.java_names import JointParallelDataSetIteratorNames
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError
from ..sets.dataset import DataSet
from ..splits.file_split import FileSplit
from .async_iterator import AsyncDataSetIterator
from .iterator import DataSetIterator
from .loader_iterators import FileSplitDataSetIterator, load_data_set
from .mini_batch_files import DEFAULT_PATTERN

__all__ = ["FileSplitParallelDataSetIterator", "InequalityHandling", "JointParallelDataSetIterator"]


class InequalityHandling(JavaEnum):
    """Behaviour when one of the iterators ends before the others."""

    STOP_EVERYONE = "the end of one is the end of all"
    PASS_NULL = "None in its place, until all have ended"
    RESET = "it begins again, until all have ended once"
    RELOCATE = "the others go on without it"


class JointParallelDataSetIterator(DataSetIterator, JointParallelDataSetIteratorNames):
    """The batches of several iterators in turn, each read ahead by a thread of its own.

    Parameters
    ----------
    iterators : list of DataSetIterator
        They take turns, the first one first.
    single_device_mode : bool, default True
        Has no effect: there is one device.
    buffer_size : int, default 8
        Batches that each of them reads ahead.
    inequality_handling : InequalityHandling, default STOP_EVERYONE
        What happens when one of them ends before the others.

    Notes
    -----
    Source: DL4J's ``JointParallelDataSetIterator``.

    Examples
    --------
    >>> from dl4py.samediff.data import ListDataSetIterator
    >>> one, two = (ListDataSetIterator([DataSet([[x]], [[0.0]])] * 2, 1) for x in (1.0, 2.0))
    >>> joint = JointParallelDataSetIterator([one, two])
    >>> [batch.get_features().item() for batch in joint]
    [1.0, 2.0, 1.0, 2.0]
    """

    Builder: ClassVar[type[JointParallelDataSetIteratorBuilder]]

    def __init__(self, iterators: Sequence[DataSetIterator], single_device_mode: bool = True, buffer_size: int = 8,
                 inequality_handling: InequalityHandling = InequalityHandling.STOP_EVERYONE) -> None:
        if not iterators:
            raise ConfigurationError(f"{type(self).__name__} needs at least one iterator")
        self._sources = [AsyncDataSetIterator(it, buffer_size) if it.async_supported() else it for it in iterators]
        self._handling = InequalityHandling(inequality_handling)
        self._start()

    def inner_iterators(self) -> Iterable[DataSetIterator]:
        return self._sources

    def _start(self) -> None:
        self._turn = 0
        self._ended = [False] * len(self._sources)      # have been at their end once

    def has_next_for(self, consumer: int) -> bool:
        """Whether the iterator of that number has a further batch."""
        return self._source(consumer).has_next()

    def next_for(self, consumer: int) -> DataSet | None:
        """The next batch of the iterator of that number; None at its end."""
        source = self._source(consumer)
        return source.next() if source.has_next() else None

    def _source(self, consumer: int) -> DataSetIterator:
        if not 0 <= consumer < len(self._sources):
            raise ConfigurationError(f"iterator number {consumer} of {len(self._sources)}")
        return self._sources[consumer]

    def has_next(self) -> bool:
        if all(self._ended):
            return False
        if self._sources[self._turn].has_next():
            return self._handling is not InequalityHandling.STOP_EVERYONE or not any(self._ended)
        self._ended[self._turn] = True
        if self._handling is InequalityHandling.STOP_EVERYONE or all(self._ended):
            return False
        if self._handling is InequalityHandling.RESET:
            self._sources[self._turn].reset()
            return self._sources[self._turn].has_next()
        if self._handling is InequalityHandling.RELOCATE:
            while not self._sources[self._turn].has_next():
                self._ended[self._turn] = True
                if all(self._ended):
                    return False
                self._advance()
        return True

    def _advance(self) -> None:
        self._turn = (self._turn + 1) % len(self._sources)

    def take(self, num: int | None) -> DataSet:
        self._no_part(num)
        batch = self.next_for(self._turn)
        self._advance()
        return cast(DataSet, batch)     # None is what PASS_NULL asks for

    def next(self, num: int | None = None) -> DataSet:
        """The next batch in turn; None with PASS_NULL where an iterator has ended."""
        pre_processor, self._pre_processor = self._pre_processor, None
        try:
            batch = super().next(num)
        finally:
            self._pre_processor = pre_processor
        if batch is not None and pre_processor is not None:
            pre_processor.pre_process(batch)
        return batch

    def reset(self) -> None:
        for source in self._sources:
            source.reset()
        self._start()

    def reset_supported(self) -> bool:
        return all(source.reset_supported() for source in self._sources)

    def async_supported(self) -> bool:
        return False        # it reads ahead itself

    def input_columns(self) -> int:
        return self._sources[0].input_columns()

    def total_outcomes(self) -> int:
        return self._sources[0].total_outcomes()

    def get_labels(self) -> list[str] | None:
        return self._sources[0].get_labels()


class JointParallelDataSetIteratorBuilder(MethodBuilder):
    """``JointParallelDataSetIterator.Builder(handling)``, or ``Builder(iterators, handling)``.

    Parameters
    ----------
    *arguments
        Iterators, as a list, and what happens when one of them ends.
    """

    def __init__(self, *arguments: Any) -> None:
        self._handling = next((one for one in arguments if isinstance(one, InequalityHandling)), InequalityHandling.STOP_EVERYONE)
        self._sources: list[Any] = [source for one in arguments if isinstance(one, (list, tuple)) for source in one]
        self._buffer = 8

    def add_source_iterator(self, iterator: DataSetIterator) -> Self:
        """Add an iterator."""
        self._sources.append(iterator)
        return self

    def buffer_size_per_split(self, size: int) -> Self:
        """Let each read so many batches ahead."""
        self._buffer = size
        return self

    def enforce_single_device(self, wanted: bool) -> Self:
        """Has no effect: there is one device."""
        return self

    def build(self) -> JointParallelDataSetIterator:
        """Return the iterator."""
        return JointParallelDataSetIterator(self._sources, True, self._buffer, self._handling)


JointParallelDataSetIterator.Builder = JointParallelDataSetIteratorBuilder


class FileSplitParallelDataSetIterator(JointParallelDataSetIterator):
    """The files of a folder, divided among several reading threads.

    Parameters
    ----------
    root_folder : path
        The folder, with those inside of it.
    pattern : str, default "dataset-%d.bin"
        Names of the files, with %d for a number; the files are taken in the order of their numbers.
    callback : callable, optional
        ``callback(path)`` returns a DataSet; by default the files are those of `DataSet.save`.
    num_threads : int, default 2
        Threads that read, at least 1; they take the files in turn.
    buffer_per_thread : int, default 2
        Batches that each of them reads ahead.

    Notes
    -----
    Source: DL4J's ``FileSplitParallelDataSetIterator``.
    """

    DEFAULT_PATTERN = DEFAULT_PATTERN

    def __init__(self, root_folder: str | os.PathLike[str], pattern: str = DEFAULT_PATTERN,
                 callback: Callable[[Path], DataSet] = load_data_set, num_threads: int = 2, buffer_per_thread: int = 2,
                 inequality_handling: InequalityHandling = InequalityHandling.STOP_EVERYONE) -> None:
        if pattern.count("%d") != 1 or num_threads < 1:
            raise ConfigurationError("FileSplitParallelDataSetIterator needs a pattern with one %d and at least one thread, "
                                     f"got {pattern!r} and {num_threads}")
        name = re.compile(r"(\d+)".join(re.escape(part) for part in pattern.split("%d")))
        numbered = [(int(found[1]), path) for path in FileSplit(Path(root_folder)).locations() if (found := name.fullmatch(path.name))]
        files = [path for _, path in sorted(numbered)]
        if not files:
            raise FileNotFoundError(f"no file {pattern} in {root_folder}")
        parts = [files[i::num_threads] for i in range(min(num_threads, len(files)))]
        super().__init__([FileSplitDataSetIterator(part, callback) for part in parts], True, buffer_per_thread, inequality_handling)
