"""Multi data sets from the records of several readers."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...base.java_names import RecordReaderMultiDataSetIteratorBuilderNames
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError, FileFormatError, UnknownNameError, did_you_mean
from ..iterators.iterator import MultiDataSetIterator
from ..iterators.list_iterators import check_batch
from ..sets.java_random import JavaRandom
from ..sets.multi_dataset import MultiDataSet
from .csv_reader import CSVRecordReader
from .sequence_iterators import CSVSequenceRecordReader, as_series
from .series_alignment import AlignmentMode, aligned, longest_series
from .user_records import UserRecords, UserSequences, as_table

__all__ = ["RecordReaderMultiDataSetIterator"]

_Mode: TypeAlias = AlignmentMode


@dataclass(frozen=True)
class _Subset:
    """Columns ``first`` to ``last`` of a reader (all: None), or the one-hot classes of one column."""

    reader: str
    first: int | None = None
    last: int | None = None
    classes: int | None = None

    def of(self, table: NDArray[Any], place: str) -> NDArray[np.float64]:
        """Shapes: (rows, columns)."""
        if self.first is None or self.last is None:
            return np.asarray(table, np.float64)
        if not 0 <= self.first <= self.last < table.shape[1]:
            raise ConfigurationError(f"columns {self.first} to {self.last} of reader {self.reader!r}, which has {table.shape[1]}")
        part = np.asarray(table[:, self.first:self.last + 1], np.float64)
        if self.classes is None:
            return part
        classes = part[:, 0]
        wrong = np.flatnonzero((classes < 0) | (classes >= self.classes) | (classes != np.floor(classes)))
        if wrong.size:
            raise FileFormatError(f"{place}, column {self.first}: expected a class from 0 to {self.classes - 1}, got {classes[wrong[0]]:g}")
        hot: NDArray[np.float64] = np.eye(self.classes)[classes.astype(int)]
        return hot


class RecordReaderMultiDataSetIterator(MultiDataSetIterator):
    r"""Batches with several inputs and outputs, each some columns of a reader; made by its builder.

    Shapes: of a reader of records (batch, columns), of a reader of sequences (batch, columns, time) with a mask
    (batch, time) where the lengths differ. The arrays are float32.

    Parameters
    ----------
    batch, readers, sequences, inputs, outputs, mode, offset_seed
        What the methods of the builder collect: ``RecordReaderMultiDataSetIterator.Builder(batch)`` makes it.

    Notes
    -----
    Source: DL4J's ``RecordReaderMultiDataSetIterator``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "three.csv"
    >>> _ = path.write_text("1,2,0\n3,4,1\n")
    >>> it = (RecordReaderMultiDataSetIterator.Builder(2).add_reader("table", CSVRecordReader().initialize(path))
    ...       .add_input("table", 0, 1).add_output_one_hot("table", 2, 3).build())
    >>> batch = it.next()
    >>> batch.get_features(0).tolist(), batch.get_labels(0).tolist()
    ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> folder.cleanup()
    """

    Builder: ClassVar[type[RecordReaderMultiDataSetIteratorBuilder]]
    AlignmentMode = AlignmentMode

    def __init__(self, batch: int, readers: dict[str, CSVRecordReader | UserRecords],
                 sequences: dict[str, CSVSequenceRecordReader | UserSequences],
                 inputs: list[_Subset], outputs: list[_Subset], mode: _Mode, offset_seed: int | None) -> None:
        self._batch, self._readers, self._sequences = check_batch(batch), readers, sequences
        self._inputs, self._outputs, self._mode, self._at = inputs, outputs, mode, 0
        counts = {name: len(r.table()) for name, r in readers.items()} | {name: len(r.readers) for name, r in sequences.items()}
        self._count = min(counts.values())      # DL4J ends with the first reader that ends
        self._offset_seed = offset_seed
        self._random = None if offset_seed is None else JavaRandom(offset_seed)

    def has_next(self) -> bool:
        return self._at < self._count

    def take(self, num: int | None) -> MultiDataSet:
        chosen = range(self._at, min(self._at + (num or self._batch), self._count))
        tables = {name: reader.table()[chosen.start:chosen.stop] for name, reader in self._readers.items()}
        series = {name: [reader.sequence(i) for i in chosen] for name, reader in self._sequences.items()}
        longest = longest_series(list(zip(*series.values())), self._mode) if series else []
        starts = self._offsets(longest)
        parts = [[self._array(subset, tables, series, starts, longest, chosen.start) for subset in subsets]
                 for subsets in (self._inputs, self._outputs)]
        self._at = chosen.stop
        (x, x_masks), (y, y_masks) = ([list(column) for column in zip(*part)] if part else [[], []] for part in parts)
        return MultiDataSet(x, y, x_masks or None, y_masks or None)

    def _offsets(self, longest: list[int]) -> list[int]:
        """Random steps by which whole examples move, when that is asked for."""
        if self._random is None:
            return [0] * len(longest)
        return [self._random.next_int(max(longest) - one + 1) for one in longest]

    def _array(self, subset: _Subset, tables: dict[str, NDArray[Any]], series: dict[str, list[NDArray[np.float64]]],
               starts: list[int], longest: list[int], first: int) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        if subset.reader in tables:
            place = self._readers[subset.reader].place(first)
            return subset.of(tables[subset.reader], place).astype(np.float32), None
        reader = self._sequences[subset.reader]
        parts = [subset.of(one, reader.readers[first + i].place(0)) for i, one in enumerate(series[subset.reader])]
        array, mask = aligned(parts, longest, self._mode)
        if any(starts):
            mask = np.ones((len(parts), array.shape[2]), np.float32) if mask is None else mask
            for i, start in enumerate(starts):
                array[i], mask[i] = np.roll(array[i], start, axis=-1), np.roll(mask[i], start)
        return array, mask

    def reset(self) -> None:
        self._at = 0
        self._random = None if self._offset_seed is None else JavaRandom(self._offset_seed)

    def batch(self) -> int:
        return self._batch


class RecordReaderMultiDataSetIteratorBuilder(MethodBuilder, RecordReaderMultiDataSetIteratorBuilderNames):
    """``RecordReaderMultiDataSetIterator.Builder(batch)``: name the readers, then say which columns go where."""

    def __init__(self, batch_size: int) -> None:
        self._batch = batch_size
        self._readers: dict[str, CSVRecordReader | UserRecords] = {}
        self._sequences: dict[str, CSVSequenceRecordReader | UserSequences] = {}
        self._inputs: list[_Subset] = []
        self._outputs: list[_Subset] = []
        self._mode = AlignmentMode.ALIGN_START
        self._offset_seed: int | None = None

    def _free(self, name: str) -> None:
        if name in self._readers or name in self._sequences:
            raise ConfigurationError(f"there is a reader {name!r} already: names must differ")

    def add_reader(self, name: str, reader: Any) -> Self:
        """Name a reader of records."""
        self._free(name)
        self._readers[name] = as_table(reader)
        return self

    def add_sequence_reader(self, name: str, reader: Any) -> Self:
        """Name a reader of sequences."""
        self._free(name)
        self._sequences[name] = as_series(reader)
        return self

    def sequence_alignment_mode(self, mode: AlignmentMode) -> Self:
        """Set the alignment of series of different length; ALIGN_START by default."""
        self._mode = AlignmentMode(mode)
        return self

    def add_input(self, reader: str, first: int | None = None, last: int | None = None) -> Self:
        """Take all columns of a reader, or those from ``first`` to ``last``, as the next input."""
        self._inputs.append(self._columns(reader, first, last))
        return self

    def add_input_one_hot(self, reader: str, column: int, num_classes: int) -> Self:
        """Take the classes of one column, one-hot, as the next input."""
        self._inputs.append(_Subset(reader, column, column, num_classes))
        return self

    def add_output(self, reader: str, first: int | None = None, last: int | None = None) -> Self:
        """Take all columns of a reader, or those from ``first`` to ``last``, as the next output."""
        self._outputs.append(self._columns(reader, first, last))
        return self

    def add_output_one_hot(self, reader: str, column: int, num_classes: int) -> Self:
        """Take the classes of one column, one-hot, as the next output."""
        self._outputs.append(_Subset(reader, column, column, num_classes))
        return self

    @staticmethod
    def _columns(reader: str, first: int | None, last: int | None) -> _Subset:
        return _Subset(reader, first, first if last is None else last)

    def time_series_random_offset(self, time_series_random_offset: bool, rng_seed: int = 0) -> Self:
        """Move shorter examples by a random number of time steps, so that their ends do not tell their lengths."""
        self._offset_seed = rng_seed if time_series_random_offset else None
        return self

    def build(self) -> RecordReaderMultiDataSetIterator:
        """Return the iterator.

        Raises
        ------
        ConfigurationError
            No reader, or neither inputs nor outputs.
        UnknownNameError
            A reader that was not named.
        """
        known = [*self._readers, *self._sequences]
        if not known:
            raise ConfigurationError("RecordReaderMultiDataSetIterator needs a reader: add_reader or add_sequence_reader")
        if not self._inputs and not self._outputs:
            raise ConfigurationError("RecordReaderMultiDataSetIterator needs an input or an output: add_input, add_output")
        for subset in (*self._inputs, *self._outputs):
            if subset.reader not in known:
                raise UnknownNameError(f"no reader {subset.reader!r}{did_you_mean(subset.reader, known)}; there are: {', '.join(known)}")
        return RecordReaderMultiDataSetIterator(self._batch, self._readers, self._sequences, self._inputs, self._outputs,
                                                self._mode, self._offset_seed)


RecordReaderMultiDataSetIterator.Builder = RecordReaderMultiDataSetIteratorBuilder
