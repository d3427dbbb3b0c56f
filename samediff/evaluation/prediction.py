"""Predictions of single examples: the records behind a confusion matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..base.java_names import PredictionNames


@dataclass(frozen=True)
class Prediction(PredictionNames):
    """One prediction and the meta data of the example that it was made for.

    Parameters
    ----------
    actual_class, predicted_class : int
        Numbers of classes, from 0.
    record_meta_data : object
        What the data said of the example.

    Examples
    --------
    >>> print(Prediction(0, 1, "row 7"))
    Prediction(actualClass=0,predictedClass=1,RecordMetaData=row 7)
    """

    actual_class: int
    predicted_class: int
    record_meta_data: Any

    def get_actual_class(self) -> int:
        """Return the class of the example."""
        return self.actual_class

    def get_predicted_class(self) -> int:
        """Return the class that was predicted."""
        return self.predicted_class

    def get_record_meta_data(self, kind: type | None = None) -> Any:
        """Return the meta data as they were given; ``kind``, the class of them that DL4J asks for, has no effect."""
        return self.record_meta_data

    def __str__(self) -> str:
        classes = f"actualClass={self.actual_class},predictedClass={self.predicted_class}"
        return f"Prediction({classes},RecordMetaData={self.record_meta_data})"


class MetaData:
    """Mix-in of :class:`Evaluation`: predictions by actual and predicted class."""

    predictions: dict[tuple[int, int], list[Any]]

    def _no_records(self) -> None:
        """As before the first batch."""
        self.predictions = {}

    def remember(self, actual: Iterable[int], predicted: Iterable[int], records: Iterable[Any]) -> None:
        """Keep the meta data of predictions."""
        for a, p, record in zip(actual, predicted, records):
            self.predictions.setdefault((int(a), int(p)), []).append(record)

    def join_records(self, other: MetaData) -> None:
        """Add the records of another evaluation."""
        for key, records in other.predictions.items():
            self.predictions.setdefault(key, []).extend(records)

    def _select(self, wanted: Callable[[int, int], bool]) -> list[Prediction]:
        return [
            Prediction(a, p, record)
            for (a, p), records in sorted(self.predictions.items())
            if wanted(a, p)
            for record in records
        ]

    def get_prediction_errors(self) -> list[Prediction]:
        """Return the wrong predictions by actual, then predicted class."""
        return self._select(lambda a, p: a != p)

    def get_predictions_by_actual_class(self, actual: int) -> list[Prediction]:
        """Return the predictions for examples of a class."""
        return self._select(lambda a, p: a == actual)

    def get_prediction_by_predicted_class(self, predicted: int) -> list[Prediction]:
        """Return the examples that were predicted as a class."""
        return self._select(lambda a, p: p == predicted)

    def get_predictions(self, actual: int, predicted: int) -> list[Prediction]:
        """Return the examples of one class predicted as another."""
        return self._select(lambda a, p: (a, p) == (actual, predicted))
