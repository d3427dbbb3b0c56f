"""Evaluation of a classifier: counts of actual against predicted classes and every measure of them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..base.java_names import EvaluationNames
from ..drawing.evaluations import of_classes
from ..drawing.figures import Draw
from ..errors import ConfigurationError, ShapeError
from ..expressions.arrays import to_numbers
from .base import BaseEvaluation, array_document, read_array
from .classification_measures import ClassificationMeasures
from .classification_options import counter, names, positional
from .classification_text import confusion_table, confusion_with_names, report
from .confusion_matrix import ConfusionMatrix
from .prediction import MetaData
from .records import mask_and_records
from .rows import Rows, to_rows


class Evaluation(ClassificationMeasures, BaseEvaluation, MetaData, EvaluationNames, java="classification.Evaluation"):
    """Accuracy, precision, recall, F1 and the confusion matrix of a classifier.

    The predicted class is the largest prediction (the first of equal ones), the actual class the largest label. A
    single column is a probability of class 1. With two classes, measures asked without arguments are those of the
    positive class.

    Parameters
    ----------
    *args
        DL4J's forms: ``(num_classes[, binary_positive_class])``, ``(labels[, top_n])``, ``(labels, cost_array)``,
        ``(binary_decision_threshold[, binary_positive_class])``, ``(cost_array)``; an int is a number of classes, a
        float a threshold.
    labels : list of str or dict of int to str, optional
        Names of the classes.
    top_n : int
        An example also counts for :meth:`top_n_accuracy` when fewer than ``top_n`` classes have a larger prediction
        (default 1).
    binary_positive_class : int or None
        The class that precision, recall, … of two classes are those of (default 1; None = macro averages).
    binary_decision_threshold : float, optional
        Two classes: class 1 is predicted above this probability (default 0.5).
    cost_array : array (classes), optional
        Predictions are multiplied with it before the largest is taken.
    axis : int
        Axis of the classes in arrays of rank above 2 (default 1).
    num_classes : int, optional
        Number of classes, where neither names nor data are to tell it.

    Raises
    ------
    NumericalError
        For NaN predictions, and when a measure is asked before any evaluation.
    ShapeError
        For arrays that do not fit each other and for per-output masks.

    Examples
    --------
    >>> e = Evaluation(["cat", "dog"])
    >>> e.eval([[1, 0], [0, 1], [0, 1]], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> round(e.accuracy(), 4), e.precision(), e.recall(), e.get_confusion_matrix().get_count(1, 0)
    (0.6667, 1.0, 0.5, 1)

    Source: DL4J Evaluation.
    """

    def __init__(
        self,
        *args: Any,
        labels: Sequence[str] | Mapping[int, str] | None = None,
        num_classes: int | None = None,
        top_n: int = 1,
        binary_positive_class: int | None = 1,
        binary_decision_threshold: float | None = None,
        cost_array: Any = None,
        axis: int = 1,
    ) -> None:
        options: dict[str, Any] = {
            "labels": labels,
            "num_classes": num_classes,
            "top_n": top_n,
            "cost_array": cost_array,
            "binary_positive_class": binary_positive_class,
            "binary_decision_threshold": binary_decision_threshold,
        }
        options.update(positional(args))
        self.axis = axis
        cost = options["cost_array"]
        ClassificationMeasures.__init__(
            self, names(options["labels"]), options["top_n"], options["binary_positive_class"], options["binary_decision_threshold"],
            None if cost is None else to_numbers(cost, "a cost array").astype(np.float32).ravel())
        self._numbered = not self.labels_list
        if self.top_n < 1:
            raise ConfigurationError(f"top_n must be at least 1, got {self.top_n}")
        if self.cost_array is not None and (np.any(self.cost_array < 0) or np.any(np.isnan(self.cost_array))):
            raise ConfigurationError(f"costs must not be negative, got {self.cost_array.tolist()}")
        self.n_classes: int | None = 2 if options["num_classes"] == 1 else options["num_classes"]       # one output tells two classes apart
        self.reset()

    def reset(self) -> None:
        self._no_counts()
        self._no_records()
        if self._numbered:
            self.labels_list = []
        if self.n_classes is not None:
            self._start(self.n_classes)

    def _start(self, n: int) -> ConfusionMatrix:
        """Make room for ``n`` classes, or check that there is."""
        if self._confusion is None:
            if self.labels_list and len(self.labels_list) != n:
                raise ShapeError(
                    f"{len(self.labels_list)} class names were given ({self.labels_list}), but the data has {n} classes"
                )
            self.labels_list = self.labels_list or [str(i) for i in range(n)]
            self._confusion = ConfusionMatrix(range(n))
        if len(self._confusion.classes) != n:
            raise ShapeError(f"this evaluation has {len(self._confusion.classes)} classes, but the data has {n}")
        return self._confusion

    def eval(
        self, labels: Any, predictions: Any, mask: Any = None, record_meta_data: Sequence[Any] | None = None
    ) -> None:
        """Add a batch, or one example as ``eval(predicted_class, actual_class)``.

        ``record_meta_data`` names where each example came from, for :meth:`get_prediction_errors`; as in DL4J a list may also be the
        third argument, where a mask is an array.

        Shapes: labels, predictions (batch, classes), (batch, classes, time), (batch, classes, height, width); mask
        (batch, 1) or (batch, time).
        """
        if _is_class(labels) and _is_class(predictions):
            if self._confusion is None:
                raise ConfigurationError(
                    "eval(predicted, actual) needs the number of classes: make it with Evaluation(num_classes)"
                )
            self._confusion.add(operator.index(predictions), operator.index(labels))
            return
        mask, record_meta_data = mask_and_records(mask, record_meta_data, labels)
        rows = to_rows(labels, predictions, mask, self.axis)
        actual, predicted = self._classify(rows)
        if record_meta_data is not None:
            self.remember(actual, predicted, [record_meta_data[i] for i in rows.examples])

    def count(self, rows: Rows) -> None:
        """Add rows to the counts."""
        self._classify(rows)

    def _classify(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if rows.mask is not None:
            raise ShapeError("Evaluation takes masks of rows (batch, 1) or (batch, time), not of single outputs")
        rows.refuse_nan()
        width = rows.labels.shape[1]
        n = max(width, 2)
        if self.cost_array is not None and len(self.cost_array) != n:
            raise ShapeError(f"the cost array has {len(self.cost_array)} entries, the data {n} classes")
        if self.binary_decision_threshold is not None and n != 2:
            raise ShapeError(f"a binary decision threshold needs two classes, the data has {n}")
        confusion = self._start(n)
        self._of_one_column |= width == 1
        actual, predicted = self._classes(rows)
        np.add.at(confusion.counts, (actual, predicted), 1)
        if width > 1 and self.top_n > 1:
            own = np.take_along_axis(rows.predictions, actual[:, None], 1)
            self._top_n_correct += int((np.sum(rows.predictions > own, 1) < self.top_n).sum())
            self._top_n_total += len(actual)
        return actual, predicted

    def _classes(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the actual and the predicted class of each row."""
        y, p = rows.labels, rows.predictions
        if y.shape[1] == 1:
            y, p = (np.concatenate([1 - a, a], 1) for a in (y, p))
            threshold: float | None = 0.5 if self.cost_array is None else None
        else:
            threshold = None
        threshold = threshold if self.binary_decision_threshold is None else self.binary_decision_threshold
        if threshold is not None:
            predicted = (p[:, 1] > p.dtype.type(threshold)).astype(np.int64)
        else:
            predicted = np.argmax(p if self.cost_array is None else p * self.cost_array, 1)
        actual = (y[:, 1] > 0.5).astype(np.int64) if rows.labels.shape[1] == 1 else np.argmax(y, 1)
        return actual, predicted

    def join(self, other: Evaluation) -> None:
        """Add the counts of another evaluation."""
        if other._confusion is None:
            return
        if self._confusion is None and not self.labels_list:
            self.labels_list = list(other.labels_list)
        self._start(len(other._confusion.classes)).add(other._confusion)
        self._of_one_column |= other._of_one_column
        self._top_n_correct += other._top_n_correct
        self._top_n_total += other._top_n_total
        self.join_records(other)

    def stats(self, suppress_warnings: bool = False, include_confusion: bool | None = None) -> str:
        """Return the report; the confusion matrix of more than 20 classes only when asked for."""
        return report(self, suppress_warnings, include_confusion)

    def confusion_matrix(self) -> str:
        """Return the confusion matrix as text."""
        return confusion_table(self)

    def confusion_to_string(self) -> str:
        """Return the confusion matrix as text, with the names of the classes in front."""
        return confusion_with_names(self)

    def drawn(self) -> list[Draw]:
        return of_classes(self)

    def document(self) -> dict[str, Any]:
        """Return the fields of DL4J's JSON."""
        each = self._each if self._confusion is not None else lambda field: {}
        return {
            "axis": self.axis,
            "binaryPositiveClass": self.binary_positive_class,
            "topN": self.top_n,
            "topNCorrectCount": self._top_n_correct,
            "topNTotalCount": self._top_n_total,
            "truePositives": counter(each(lambda t: t.tp), self._of_one_column),
            "falsePositives": counter(each(lambda t: t.fp), self._of_one_column),
            "trueNegatives": counter(each(lambda t: t.tn), self._of_one_column),
            "falseNegatives": counter(each(lambda t: t.fn), self._of_one_column),
            "confusion": None if self._confusion is None else self._confusion.document(self._of_one_column),
            "numRowCounter": self.num_row_counter(),
            "labelsList": self.labels_list,
            "binaryDecisionThreshold": self.binary_decision_threshold,
            "costArray": array_document(self.cost_array),
            "maxWarningClassesToPrint": self.max_warning_classes_to_print,
        }

    @classmethod
    def restore(cls, doc: dict[str, Any]) -> Self:
        made = cls(
            labels=doc.get("labelsList"),
            top_n=doc.get("topN", 1),
            binary_positive_class=doc.get("binaryPositiveClass"),
            binary_decision_threshold=doc.get("binaryDecisionThreshold"),
            cost_array=read_array(doc.get("costArray"), np.float32),
            axis=doc.get("axis", 1),
        )
        if doc.get("confusion") is not None:
            matrix = ConfusionMatrix.restore(doc["confusion"])
            made._start(len(matrix.classes)).add(matrix)
            made._of_one_column = all(len(doc.get(name, {"map": ()})["map"]) == len(matrix.classes) for name in _COUNTERS)
        made._top_n_correct, made._top_n_total = doc.get("topNCorrectCount", 0), doc.get("topNTotalCount", 0)
        made.max_warning_classes_to_print = doc.get("maxWarningClassesToPrint", 16)
        return made


_COUNTERS = "truePositives", "falsePositives", "trueNegatives", "falseNegatives"


def _is_class(value: Any) -> bool:
    """Whether a value is the index of one class: a whole number, also as an array without axes."""
    return isinstance(value, (int, np.integer)) or (isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind in "iu")
