"""Data sets from the records of a reader."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...base.java_names import RecordReaderDataSetIteratorBuilderNames, RecordReaderDataSetIteratorNames
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError, FileFormatError, UnknownNameError, did_you_mean
from ..iterators.list_iterators import ViewIterator
from ..iterators.wrapper_iterators import EarlyTerminationDataSetIterator
from ..records.record_meta_data import RecordMetaDataLine
from ..sets.dataset import DataSet
from .csv_reader import CSVRecordReader
from .picture_examples import DetectionExamples, PictureExamples
from .user_records import UserRecords, as_table

__all__ = ["RecordReaderDataSetIterator"]


class RecordReaderDataSetIterator(ViewIterator, RecordReaderDataSetIteratorNames):
    """Batches of float32 features and labels from the records of a reader.

    Three forms: without a label column the labels are the features; with ``label_index`` and ``num_possible_labels``
    they are one-hot classes; with ``regression=True`` they are the columns ``label_index`` to ``label_index_to``.

    Parameters
    ----------
    reader : RecordReader, or a reader of one's own
        Initialized; or an object with ``has_next`` and ``next``, whose records are lists of values. Records of an `ImageRecordReader` are
        pictures, which are decoded batch by batch.
    label_index : int, optional
        Column of the label, or the first one; negative numbers count from the end.
    num_possible_labels : int, optional
        Number of classes; with ``regression=True`` this place is ``label_index_to``, as in DL4J.
    regression : bool, default False
        Whether labels are numbers rather than classes.
    label_names : sequence of str, optional
        The classes as they are written in the file, when they are not numbers from 0.

    Raises
    ------
    FileFormatError
        Values that are no numbers and classes out of range, naming file, line and column.

    Notes
    -----
    Source: DL4J's ``RecordReaderDataSetIterator``.
    """

    Builder: ClassVar[type[RecordReaderDataSetIteratorBuilder]]

    def __init__(self, reader: CSVRecordReader | Any, batch: int, label_index: int | None = None,
                 num_possible_labels: int | None = None, regression: bool = False, *,
                 label_names: Sequence[str] | None = None) -> None:
        if hasattr(reader, "pictures"):
            self._reader = reader
            kind = DetectionExamples if hasattr(reader, "detections") else PictureExamples
            super().__init__(kind(reader, num_possible_labels, regression), batch)  # type: ignore[arg-type]  # in the place of one
            return
        reader = self._reader = as_table(reader)
        width = reader.table().shape[1]
        chosen = self._label_columns(width, label_index, num_possible_labels if regression else None)
        features = self._features(reader, [i for i in range(width) if i not in chosen])
        if not chosen:
            data = DataSet(features, features)
        elif regression:
            data = DataSet(features, reader.numbers(chosen, np.float32))
        else:
            data = DataSet(features, self._one_hot(reader, chosen[0], num_possible_labels, label_names))
            data.label_names = list(label_names or [])
        super().__init__(data, batch)

    def whole_pass(self) -> DataSet | None:
        return None if isinstance(self._data, PictureExamples) else super().whole_pass()

    def reset(self) -> None:
        if self._at and isinstance(self._data, PictureExamples):
            self._reader.reset()
        super().reset()

    def async_supported(self) -> bool:
        return isinstance(self._data, PictureExamples)

    def set_collect_meta_data(self, collect: bool) -> None:
        """Whether data sets say where their examples came from, as :class:`RecordMetaDataLine`; not by default."""
        self._data.example_meta_data = self._reader.origins() if collect else None

    def is_collect_meta_data(self) -> bool:
        """Whether they do."""
        return self._data.example_meta_data is not None

    def load_from_meta_data(self, meta_data: RecordMetaDataLine | Sequence[RecordMetaDataLine]) -> DataSet:
        """The examples that came from there, as the iterator gives them."""
        wanted = [meta_data] if isinstance(meta_data, RecordMetaDataLine) else list(meta_data)
        found = self._data.get([one.record for one in wanted])
        found.example_meta_data = wanted
        if self._pre_processor is not None:
            self._pre_processor.pre_process(found)
        return found

    @staticmethod
    def _label_columns(width: int, first: int | None, last: int | None) -> list[int]:
        if first is None:
            return []
        ends = [i + width if i < 0 else i for i in (first, first if last is None else last)]
        if not 0 <= ends[0] <= ends[1] < width:
            raise ConfigurationError(f"label columns {first} to {first if last is None else last} of a table with "
                                     f"{width} columns")
        return list(range(ends[0], ends[1] + 1))

    @staticmethod
    def _features(reader: CSVRecordReader | UserRecords, columns: list[int]) -> NDArray[Any]:
        if not columns:
            raise ConfigurationError("no columns are left for the features")
        return reader.numbers(columns, np.float32)

    @staticmethod
    def _one_hot(reader: CSVRecordReader | UserRecords, column: int, count: int | None, names: Sequence[str] | None) -> NDArray[Any]:
        if names is not None:
            values, places = np.unique(reader.table()[:, column].astype(str), return_inverse=True)
            unknown = [v for v in values.tolist() if v not in names]
            if unknown:
                raise UnknownNameError(f"column {column}: {unknown[0]!r} is not one of the label names {list(names)}"
                                       f"{did_you_mean(unknown[0], names)}")
            classes = np.array([list(names).index(v) for v in values.tolist()])[places]
        else:
            classes = reader.numbers([column])[:, 0]
        size = count or (len(names) if names is not None else 0)
        if size < 1:
            raise ConfigurationError("a label column needs num_possible_labels, label_names, or regression=True")
        wrong = np.flatnonzero((classes < 0) | (classes >= size) | (classes != np.floor(classes)))
        if wrong.size:
            r = int(wrong[0])
            raise FileFormatError(f"{reader.place(r)}, column {column}: expected a class from 0 to {size - 1}, "
                                  f"got {classes[r]:g}")
        hot: NDArray[Any] = np.eye(size, dtype=np.float32).take(classes.astype(np.intp), 0)
        return hot


class RecordReaderDataSetIteratorBuilder(MethodBuilder, RecordReaderDataSetIteratorBuilderNames):
    """``RecordReaderDataSetIterator.Builder(reader, batch)``.

    Parameters
    ----------
    reader : RecordReader
        It gives the records.
    batch_size : int
        Number of examples of a batch.
    """

    def __init__(self, reader: Any, batch_size: int) -> None:
        self._arguments: list[Any] = [reader, batch_size]
        self._labels: dict[str, Any] = {}
        self._pre_processor: Any = None
        self._most: int | None = None
        self._collect = False

    def classification(self, label_index: int, num_classes: int) -> Self:
        """Labels are the classes of a column, one-hot."""
        self._labels = {"label_index": label_index, "num_possible_labels": num_classes}
        return self

    def regression(self, label_index: int, label_index_to: int | None = None) -> Self:
        """Labels are the numbers of a column, or of several neighbours."""
        self._labels = {"label_index": label_index, "regression": True,
                        "num_possible_labels": label_index if label_index_to is None else label_index_to}
        return self

    def pre_processor(self, pre_processor: Any) -> Self:
        """Change every batch."""
        self._pre_processor = pre_processor
        return self

    def collect_meta_data(self, collect: bool) -> Self:
        """Whether data sets say where their examples came from."""
        self._collect = bool(collect)
        return self

    def max_num_batches(self, number: int) -> Self:
        """End a pass after so many batches."""
        self._most = number if number > 0 else None
        return self

    def build(self) -> Any:
        """Return the iterator."""
        made = RecordReaderDataSetIterator(*self._arguments, **self._labels)
        made.set_collect_meta_data(self._collect)
        made.set_pre_processor(self._pre_processor)
        return made if self._most is None else EarlyTerminationDataSetIterator(made, self._most)


RecordReaderDataSetIterator.Builder = RecordReaderDataSetIteratorBuilder
