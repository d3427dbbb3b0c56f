"""Examples whose features are pictures, decoded batch by batch."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigurationError, FileFormatError
from ..records.record_meta_data import RecordMetaDataLine
from ..sets.dataset import DataSet


class PictureExamples:
    """A data set of pictures, as `RecordReaderDataSetIterator` asks for it.

    Parameters
    ----------
    reader : ImageRecordReader
        It gives the pictures.
    num_possible_labels : int, optional
        How many classes there are; those that the reader knows without.
    regression : bool
        Whether labels are numbers rather than classes.
    """

    def __init__(self, reader: Any, num_possible_labels: int | None, regression: bool) -> None:
        self._reader = reader
        self.label_names: list[str] = reader.get_labels() or []
        self.example_meta_data: list[RecordMetaDataLine] | None = None
        self._labels = self._of(reader, num_possible_labels, regression)

    def _of(self, reader: Any, count: int | None, regression: bool) -> NDArray[np.float32] | None:
        labels = reader.labels
        if not labels.size:
            return None
        if regression:
            return np.asarray(labels, np.float32).reshape(len(labels), -1)
        size = count or len(self.label_names)
        if labels.dtype.kind not in "iub" or size < 1:
            raise ConfigurationError("pictures with such labels need regression=True, or a label generator whose labels are classes")
        wrong = np.flatnonzero((labels < 0) | (labels >= size))
        if wrong.size:
            names = f" ({', '.join(self.label_names)})" if self.label_names else ""
            raise FileFormatError(f"{reader.files[wrong[0]]}: expected a class from 0 to {size - 1}, got {labels[wrong[0]]}; "
                                  f"the files have {len(np.unique(labels))} classes{names}")
        hot: NDArray[np.float32] = np.eye(size, dtype=np.float32)[labels]
        return hot

    def num_examples(self) -> int:
        """How many there are."""
        return len(self._reader.files)

    def num_inputs(self) -> int:
        """Values of a picture."""
        return int(self._reader.pictures([0]).size)

    def num_outcomes(self) -> int:
        """Values of a label."""
        return 0 if self._labels is None else self._labels.shape[1]

    def get(self, records: Sequence[int]) -> DataSet:
        """These examples."""
        found = DataSet(*self._arrays(list(records)))
        found.label_names = list(self.label_names)
        if self.example_meta_data is not None:
            found.example_meta_data = [self.example_meta_data[k] for k in records]
        return found

    def _arrays(self, records: Sequence[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        features = self._reader.pictures(records)
        return features, features if self._labels is None else self._labels[records]

    def get_range(self, start: int, stop: int) -> DataSet:
        """The examples from one to another, in the order of this pass."""
        return self.get(self._reader.order[start:stop])


class DetectionExamples(PictureExamples):
    """A data set of pictures and the objects in them: the labels of an `ObjectDetectionRecordReader` come with its pictures."""

    def _of(self, reader: Any, count: int | None, regression: bool) -> None:
        return None

    def num_outcomes(self) -> int:
        return 4 + len(self.label_names)

    def _arrays(self, records: Sequence[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        found: tuple[NDArray[np.float32], NDArray[np.float32]] = self._reader.detections(records)
        return found
