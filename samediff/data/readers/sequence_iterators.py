"""Time series from files of one series each."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...base.javanames import method_of
from ...errors import ConfigurationError, FileFormatError
from ..iterators.iterator import DataSetIterator
from ..iterators.list_iterators import check_batch
from ..records.record_meta_data import RecordMetaDataLine
from ..records.record_reader import SequenceRecordReader
from ..sets.dataset import DataSet
from ..splits.file_split import FileSplit
from ..splits.input_split import Source
from .csv_reader import CSVRecordReader
from .series_alignment import AlignmentMode, aligned, longest_series
from .user_records import UserSequences

__all__ = ["CSVSequenceRecordReader", "SequenceRecordReaderDataSetIterator"]


class CSVSequenceRecordReader(SequenceRecordReader):
    """Time series: every file is one, every line a time step.

    Parameters
    ----------
    skip_num_lines, delimiter, quote
        As of `CSVRecordReader`.

    Notes
    -----
    Source: DataVec's ``CSVSequenceRecordReader``.
    """

    def __init__(self, skip_num_lines: int = 0, delimiter: str = ",", quote: str = '"') -> None:
        self._options = skip_num_lines, delimiter, quote
        self._readers: list[CSVRecordReader] = []

    def initialize(self, split: Source, *others: Any) -> Self:
        super().initialize(split, *others)
        self._readers = [CSVRecordReader(*self._options).initialize(p) for p in FileSplit.files_of(self.split)]
        return self

    def read(self) -> Iterator[tuple[list[list[Any]], RecordMetaDataLine]]:
        for k, reader in enumerate(self.readers):
            yield [values for values, _ in reader.read()], RecordMetaDataLine(0, str(reader.split), k)

    @property
    def readers(self) -> list[CSVRecordReader]:
        """One reader for each series."""
        if not self._readers:
            raise ConfigurationError("CSVSequenceRecordReader: call initialize(path) first")
        return self._readers

    def sequence(self, index: int) -> NDArray[np.float64]:
        """One series. Shapes: (time, columns)."""
        reader = self.readers[index]
        return reader.numbers(list(range(reader.table().shape[1])))


_Mode: TypeAlias = AlignmentMode | None


def as_series(reader: Any) -> CSVSequenceRecordReader | UserSequences:
    """The sequences of a reader, by number."""
    return reader if isinstance(reader, CSVSequenceRecordReader) else UserSequences(reader)


_ONE_READER = ("batch", "classes", "column", "regression")
_TWO_READERS = ("batch", "classes", "regression", "alignment")


class SequenceRecordReaderDataSetIterator(DataSetIterator):
    """Batches of float32 time series, padded with zeros and masked where their lengths differ.

    Shapes: features (examples, columns, time), labels (examples, classes or columns, time), masks (examples, time).

    Two forms, with DL4J's order of arguments: ``(reader, batch, classes, label column, regression=False)``, where the labels are one
    column, and ``(features_reader, labels_reader, batch, classes, regression=False, alignment_mode=EQUAL_LENGTH)``.

    Parameters
    ----------
    features : CSVSequenceRecordReader, or another reader of sequences
        Reads the features, in the first form the labels too.
    second : reader of sequences, or int
        Reads the labels, a file for each of features; or the number of series in a batch.
    *arguments : int
        The others in their order: batch, number of classes (without meaning for regression), label column.
    regression : bool
        Whether labels are taken as they are; else (default) they are classes from 0, made one-hot.
    alignment_mode : AlignmentMode
        Where shorter series lie: ``ALIGN_START`` (default of one reader) or ``ALIGN_END``. ``EQUAL_LENGTH`` (default of two) refuses
        them.

    Raises
    ------
    FileFormatError
        Series of different length with ``EQUAL_LENGTH``, values that are no numbers, classes out of range.

    Notes
    -----
    Source: DL4J's ``SequenceRecordReaderDataSetIterator``.
    """

    AlignmentMode = AlignmentMode

    def __init__(self, features: Any, second: Any, *arguments: Any,
                 regression: bool | None = None, alignment_mode: _Mode = None) -> None:
        features = as_series(features)
        self._features, self._at = features, 0
        self._labels = as_series(second) if method_of(second, "has_next") is not None else None
        options = [*arguments] if self._labels is not None else [second, *arguments]
        if not 2 <= len(options) <= 4 or (self._labels is None and len(options) < 3):
            raise ConfigurationError("SequenceRecordReaderDataSetIterator: expected (reader, batch, classes, label "
                                     "column) or (features reader, labels reader, batch, classes)")
        given = dict(zip(_ONE_READER if self._labels is None else _TWO_READERS, options))
        self._batch, self._classes = check_batch(given["batch"]), int(given["classes"])
        self._column = int(given.get("column", -1))
        self._regression = bool(given.get("regression", False) if regression is None else regression)
        one = AlignmentMode.ALIGN_START if self._labels is None else AlignmentMode.EQUAL_LENGTH
        self._mode = alignment_mode or given.get("alignment", one)
        count = len(features.readers)
        if self._labels is not None and len(self._labels.readers) != count:
            raise ConfigurationError(f"{count} files of features, "
                                     f"{len(self._labels.readers)} of labels")

    def _pair(self, index: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Features and labels of one series. Shapes: (time, columns)."""
        x = self._features.sequence(index)
        if self._labels is not None:
            place, y = self._labels.readers[index], self._labels.sequence(index)
        else:
            place, column = self._features.readers[index], self._column % x.shape[1]
            x, y = np.delete(x, column, axis=1), x[:, [column]]
        if self._regression:
            return x, y
        wrong = np.flatnonzero((y[:, 0] < 0) | (y[:, 0] >= self._classes) | (y[:, 0] % 1 != 0))
        if wrong.size or y.shape[1] != 1:
            r = int(wrong[0]) if wrong.size else 0
            raise FileFormatError(f"{place.place(r)}: expected one class from 0 to {self._classes - 1}, "
                                  f"got {y[r].tolist()}")
        return x, np.eye(self._classes)[y[:, 0].astype(int)]

    def has_next(self) -> bool:
        return self._at < len(self._features.readers)

    def take(self, num: int | None) -> DataSet:
        chosen = range(self._at, min(self._at + (num or self._batch), len(self._features.readers)))
        pairs = [self._pair(i) for i in chosen]
        longest = longest_series(pairs, self._mode)
        self._at = chosen.stop
        (x, x_mask), (y, y_mask) = (aligned(part, longest, self._mode) for part in zip(*pairs))
        return DataSet(x, y, x_mask, y_mask)

    def reset(self) -> None:
        self._at = 0

    def batch(self) -> int:
        return self._batch

    def input_columns(self) -> int:
        return int(self._pair(0)[0].shape[1])

    def total_outcomes(self) -> int:
        return int(self._pair(0)[1].shape[1])
