"""Evaluation of a classifier: counts of actual against predicted classes and every measure of them."""
from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigurationError, NumericalError, ShapeError
from . import counts as c
from .base import BaseEvaluation, array_document, read_array
from .classification_text import confusion_table, confusion_with_names, report
from .confusion_matrix import ConfusionMatrix
from .counts import Counts, EvaluationAveraging
from .prediction import MetaData
from .rows import Array, Rows, to_rows

#: A class, a way of averaging, or None: the positive class of two, the macro average of more.
Which = int | EvaluationAveraging | None

Table = Callable[[Counts], float]


class ClassificationMetric(Enum):
    """The measures that :meth:`Evaluation.score_for_metric` knows; more is better for all of them."""

    ACCURACY = "ACCURACY"
    F1 = "F1"
    PRECISION = "PRECISION"
    RECALL = "RECALL"
    GMEASURE = "GMEASURE"
    MCC = "MCC"

    def minimize(self) -> bool:
        """Return whether less is better."""
        return False


class Evaluation(BaseEvaluation, MetaData, java="classification.Evaluation"):
    """Accuracy, precision, recall, F1 and the confusion matrix of a classifier.

    The predicted class is the largest prediction (the first of equal ones), the actual class the largest label. A single column
    is a probability of class 1. With two classes, measures asked without arguments are those of the positive class.

    Parameters
    ----------
    *args
        DL4J's forms: ``(num_classes[, binary_positive_class])``, ``(labels[, top_n])``, ``(labels, cost_array)``,
        ``(binary_decision_threshold[, binary_positive_class])``, ``(cost_array)``; an int is a number of classes, a float a threshold.
    labels : list of str or dict of int to str, optional
        Names of the classes.
    top_n : int
        An example also counts for :meth:`top_n_accuracy` when fewer than ``top_n`` classes have a larger prediction (default 1).
    binary_positive_class : int or None
        The class that precision, recall, … of two classes are those of (default 1; None = macro averages).
    binary_decision_threshold : float, optional
        Two classes: class 1 is predicted above this probability (default 0.5).
    cost_array : array (classes), optional
        Predictions are multiplied with it before the largest is taken.
    axis : int
        Axis of the classes in arrays of rank above 2 (default 1).

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

    Metric = ClassificationMetric
    max_classes_printed = 20

    def __init__(self, *args: Any, labels: Sequence[str] | Mapping[int, str] | None = None, num_classes: int | None = None,
                 top_n: int = 1, binary_positive_class: int | None = 1, binary_decision_threshold: float | None = None,
                 cost_array: Any = None, axis: int = 1) -> None:
        options: dict[str, Any] = {"labels": labels, "num_classes": num_classes, "top_n": top_n, "cost_array": cost_array,
                                   "binary_positive_class": binary_positive_class, "binary_decision_threshold": binary_decision_threshold}
        if isinstance(args[0] if args else num_classes, int) and len(args) < 2:     # more than two classes have no positive one
            options["binary_positive_class"] = binary_positive_class if (args[0] if args else num_classes) == 2 else None
        options.update(positional(args))
        self.axis = axis
        self.top_n: int = options["top_n"]
        self.binary_positive_class: int | None = options["binary_positive_class"]
        self.binary_decision_threshold: float | None = options["binary_decision_threshold"]
        cost = options["cost_array"]
        self.cost_array: Array | None = None if cost is None else np.asarray(cost, np.float32).ravel()
        self.max_warning_classes_to_print = 16
        self.labels_list = names(options["labels"])
        self._numbered = not self.labels_list
        if self.top_n < 1:
            raise ConfigurationError(f"top_n must be at least 1, got {self.top_n}")
        if self.cost_array is not None and (np.any(self.cost_array < 0) or np.any(np.isnan(self.cost_array))):
            raise ConfigurationError(f"costs must not be negative, got {self.cost_array.tolist()}")
        self.reset()
        if options["num_classes"] is not None:
            self._start(int(options["num_classes"]))

    def reset(self) -> None:
        """Forget all counts."""
        self._confusion: ConfusionMatrix | None = None
        self._top_n_correct = self._top_n_total = 0
        self.predictions = {}
        if self._numbered:
            self.labels_list = []

    def _start(self, n: int) -> ConfusionMatrix:
        """Make room for ``n`` classes, or check that there is."""
        if self._confusion is None:
            if self.labels_list and len(self.labels_list) != n:
                raise ShapeError(f"{len(self.labels_list)} class names were given ({self.labels_list}), but the data has {n} classes")
            self.labels_list = self.labels_list or [str(i) for i in range(n)]
            self._confusion = ConfusionMatrix(range(n))
        if len(self._confusion.classes) != n:
            raise ShapeError(f"this evaluation has {len(self._confusion.classes)} classes, but the data has {n}")
        return self._confusion

    def eval(self, labels: Any, predictions: Any, mask: Any = None, record_meta_data: Sequence[Any] | None = None) -> None:
        """Add a batch, or one example as ``eval(predicted_class, actual_class)``.

        ``record_meta_data`` names where each example came from, for :meth:`get_prediction_errors`.

        Shapes: labels, predictions (batch, classes), (batch, classes, time), (batch, classes, height, width); mask (batch, 1) or
        (batch, time).
        """
        if np.ndim(labels) == 0 and np.ndim(predictions) == 0:
            if self._confusion is None:
                raise ConfigurationError("eval(predicted, actual) needs the number of classes: make it with Evaluation(num_classes)")
            self._confusion.add(operator.index(predictions), operator.index(labels))
            return
        rows = to_rows(labels, predictions, mask, self.axis)
        if record_meta_data is not None and len(record_meta_data) != len(np.asarray(labels)):
            raise ShapeError(f"{len(record_meta_data)} records of meta data for {len(np.asarray(labels))} examples")
        actual, predicted = self._classify(rows)
        if record_meta_data is not None:
            self.remember(actual, predicted, [record_meta_data[i] for i in rows.examples])

    def count(self, rows: Rows) -> None:
        """Add rows to the counts."""
        self._classify(rows)

    def _classify(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if rows.mask is not None:
            raise ShapeError("Evaluation takes masks of rows (batch, 1) or (batch, time), not of single outputs")
        missing = int(np.isnan(rows.predictions).sum())
        if missing:
            raise NumericalError(f"{missing} of the predictions are NaN; the network has diverged or its input has NaN")
        width = rows.labels.shape[1]
        n = max(width, 2)
        if self.cost_array is not None and len(self.cost_array) != n:
            raise ShapeError(f"the cost array has {len(self.cost_array)} entries, the data {n} classes")
        if self.binary_decision_threshold is not None and n != 2:
            raise ShapeError(f"a binary decision threshold needs two classes, the data has {n}")
        confusion = self._start(n)
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
        self._top_n_correct += other._top_n_correct
        self._top_n_total += other._top_n_total
        self.join_records(other)

    # Counts

    def confusion(self, what: str = "the confusion matrix") -> ConfusionMatrix:
        """Return the confusion matrix; an error that says ``what`` was asked when there is none."""
        if self._confusion is None:
            raise NumericalError(f"cannot give {what}: no evaluation has been performed")
        return self._confusion

    def get_confusion_matrix(self) -> ConfusionMatrix:
        """Return the confusion matrix."""
        return self.confusion()

    def num_classes(self) -> int:
        """Return the number of classes, 0 before the first batch."""
        return 0 if self._confusion is None else len(self._confusion.classes)

    def num_row_counter(self) -> int:
        """Return the number of examples (unmasked time steps, pixels)."""
        return 0 if self._confusion is None else int(self._confusion.counts.sum())

    def class_count(self, index: int) -> int:
        """Return the number of examples of a class."""
        return self.confusion().get_actual_total(index)

    def get_class_label(self, index: int) -> str:
        """Return the name of a class."""
        return self.labels_list[self.confusion().index(index)]

    def tables(self, what: str = "the counts") -> list[Counts]:
        """Return each class against the rest."""
        m = self.confusion(what).counts
        if not m.sum() and what != "the counts":
            raise NumericalError(f"cannot give {what}: no evaluation has been performed")
        tp, actual, predicted, total = np.diag(m).tolist(), m.sum(1).tolist(), m.sum(0).tolist(), int(m.sum())
        return [Counts(t, p - t, a - t, total - a - p + t) for t, a, p in zip(tp, actual, predicted)]

    def _each(self, field: Callable[[Counts], float]) -> dict[int, int]:
        return {i: int(field(t)) for i, t in enumerate(self.tables())}

    def true_positives(self) -> dict[int, int]:
        """Return the true positives of each class."""
        return self._each(lambda t: t.tp)

    def false_positives(self) -> dict[int, int]:
        """Return the false positives of each class."""
        return self._each(lambda t: t.fp)

    def true_negatives(self) -> dict[int, int]:
        """Return the true negatives of each class."""
        return self._each(lambda t: t.tn)

    def false_negatives(self) -> dict[int, int]:
        """Return the false negatives of each class."""
        return self._each(lambda t: t.fn)

    def positive(self) -> dict[int, int]:
        """Return how many examples belong to each class."""
        return self._each(lambda t: t.tp + t.fn)

    def negative(self) -> dict[int, int]:
        """Return how many examples do not belong to each class."""
        return self._each(lambda t: t.fp + t.tn)

    # Measures

    def accuracy(self) -> float:
        """Right predictions / examples."""
        total = Counts.total(self.tables("accuracy"))
        return total.tp / (total.tp + total.fn)

    def top_n_correct_count(self) -> int:
        """Return how many examples had fewer than ``top_n`` larger predictions."""
        return self._top_n_correct if self.top_n > 1 or self._confusion is None else int(np.trace(self._confusion.counts))

    def top_n_total_count(self) -> int:
        """Return the number of examples that :meth:`top_n_accuracy` is about."""
        return self._top_n_total if self.top_n > 1 else self.num_row_counter()

    def top_n_accuracy(self) -> float:
        """Share of the examples whose class is among the ``top_n`` largest predictions."""
        accuracy = self.accuracy()
        return accuracy if self.top_n <= 1 else c.divide(self._top_n_correct, self._top_n_total)

    def _measure(self, what: str, of: Table, which: Which, defined_only: bool = False, binary_average: bool = False) -> float:
        """Return a measure of a class, or averaged; NaN marks a class that ``defined_only`` leaves out of the mean.

        ``binary_average``: of two classes, both averages are the measure of class 1, as DL4J has it for F-beta.
        """
        tables = self.tables(what)
        if which is None:
            positive = self.binary_positive_class
            which = positive if positive is not None and len(tables) == 2 else EvaluationAveraging.Macro
        if not isinstance(which, EvaluationAveraging):
            return of(tables[self.confusion().index(which)])
        if binary_average and len(tables) == 2:
            return of(tables[1])
        if which is EvaluationAveraging.Micro:
            return of(Counts.total(tables))
        values = [of(t) for t in tables]
        return c.mean(v for v in values if v == v) if defined_only else c.mean(values)

    def precision(self, which: Which = None, edge: float = 0.0) -> float:
        """tp / (tp + fp) of a class or averaged; ``edge`` for a class that was never predicted, which macro averages leave out."""
        edge = np.nan if which is EvaluationAveraging.Macro or self._averaged(which) else edge
        return self._measure("precision", lambda t: c.precision(t, edge), which, defined_only=True)

    def recall(self, which: Which = None, edge: float = 0.0) -> float:
        """tp / (tp + fn) of a class or averaged; ``edge`` for a class without examples, which macro averages leave out."""
        edge = np.nan if which is EvaluationAveraging.Macro or self._averaged(which) else edge
        return self._measure("recall", lambda t: c.recall(t, edge), which, defined_only=True)

    def _averaged(self, which: Which) -> bool:
        return which is None and not (self.num_classes() == 2 and self.binary_positive_class is not None)

    def false_positive_rate(self, which: Which = None, edge: float = 0.0) -> float:
        """fp / (fp + tn) of a class or averaged over all classes."""
        return self._measure("the false positive rate", lambda t: c.false_positive_rate(t, edge), which)

    def false_negative_rate(self, which: Which = None, edge: float = 0.0) -> float:
        """fn / (fn + tp) of a class or averaged over all classes; DL4J's micro average is the sum of fn / (fn + tn), kept here."""
        if which is EvaluationAveraging.Micro:
            total = Counts.total(self.tables("the false negative rate"))
            return c.ratio(total.fn, total.tn, edge)
        return self._measure("the false negative rate", lambda t: c.false_negative_rate(t, edge), which)

    def false_alarm_rate(self) -> float:
        """(false positive rate + false negative rate) / 2."""
        return (self.false_positive_rate() + self.false_negative_rate()) / 2

    def f_beta(self, beta: float, which: Which = None) -> float:
        """(1 + beta^2) P R / (beta^2 P + R); macro averages leave out classes without precision or recall."""
        if isinstance(which, int):
            return self._measure("F-beta", lambda t: c.f_beta(t, beta, np.nan, 0.0), which)
        edge = 0.0 if which is EvaluationAveraging.Micro else np.nan
        return self._measure("F-beta", lambda t: c.f_beta(t, beta, edge), which, defined_only=True, binary_average=True)

    def f1(self, which: Which = None) -> float:
        """2 P R / (P + R), the harmonic mean of precision and recall."""
        return self.f_beta(1.0, which)

    def g_measure(self, which: Which = None) -> float:
        """sqrt(P R); the macro average is over all classes."""
        which = EvaluationAveraging.Macro if which is None else which
        return self._measure("G-measure", c.g_measure, which)

    def matthews_correlation(self, which: Which = None) -> float:
        """(tp tn - fp fn) / sqrt((tp+fp)(tp+fn)(tn+fp)(tn+fn)); the macro average is over all classes."""
        which = EvaluationAveraging.Macro if which is None else which
        return self._measure("Matthews correlation", c.matthews_correlation, which)

    def excluded(self, what: str) -> list[int]:
        """Return the classes that the macro average of "precision", "recall" or "f1" leaves out."""
        of: dict[str, Table] = {"precision": lambda t: c.precision(t, np.nan), "recall": lambda t: c.recall(t, np.nan),
                                "f1": lambda t: c.f_beta(t, 1.0, np.nan)}
        return [i for i, t in enumerate(self.tables(what)) if np.isnan(of[what](t))]

    def average_precision_num_classes_excluded(self) -> int:
        """Return how many classes have no precision."""
        return len(self.excluded("precision"))

    def average_recall_num_classes_excluded(self) -> int:
        """Return how many classes have no recall."""
        return len(self.excluded("recall"))

    def average_f1_num_classes_excluded(self) -> int:
        """Return how many classes have no F1."""
        return len(self.excluded("f1"))

    average_f_beta_num_classes_excluded = average_f1_num_classes_excluded

    def score_for_metric(self, metric: ClassificationMetric) -> float:
        """Return the measure that ``metric`` names."""
        return float(_SCORES[ClassificationMetric(metric)](self))

    get_value = score_for_metric

    # Text and files

    def stats(self, suppress_warnings: bool = False, include_confusion: bool | None = None) -> str:
        """Return the report; the confusion matrix of more than 20 classes only when asked for."""
        return report(self, suppress_warnings, include_confusion)

    def confusion_matrix(self) -> str:
        """Return the confusion matrix as text."""
        return confusion_table(self)

    def confusion_to_string(self) -> str:
        """Return the confusion matrix as text, with the names of the classes in front."""
        return confusion_with_names(self)

    def document(self) -> dict[str, Any]:
        """Return the fields of DL4J's JSON."""
        each = self._each if self._confusion is not None else lambda field: {}
        return {
            "axis": self.axis, "binaryPositiveClass": self.binary_positive_class, "topN": self.top_n,
            "topNCorrectCount": self._top_n_correct, "topNTotalCount": self._top_n_total,
            "truePositives": counter(each(lambda t: t.tp)), "falsePositives": counter(each(lambda t: t.fp)),
            "trueNegatives": counter(each(lambda t: t.tn)), "falseNegatives": counter(each(lambda t: t.fn)),
            "confusion": None if self._confusion is None else self._confusion.document(),
            "numRowCounter": self.num_row_counter(), "labelsList": self.labels_list,
            "binaryDecisionThreshold": self.binary_decision_threshold, "costArray": array_document(self.cost_array),
            "maxWarningClassesToPrint": self.max_warning_classes_to_print}

    @classmethod
    def restore(cls, doc: dict[str, Any]) -> Self:
        """Read :meth:`document`."""
        made = cls(labels=doc.get("labelsList"), top_n=doc.get("topN", 1), binary_positive_class=doc.get("binaryPositiveClass"),
                   binary_decision_threshold=doc.get("binaryDecisionThreshold"),
                   cost_array=read_array(doc.get("costArray"), np.float32), axis=doc.get("axis", 1))
        if doc.get("confusion") is not None:
            made._start(len(doc["confusion"]["classes"])).add(ConfusionMatrix.restore(doc["confusion"]))
        made._top_n_correct, made._top_n_total = doc.get("topNCorrectCount", 0), doc.get("topNTotalCount", 0)
        made.max_warning_classes_to_print = doc.get("maxWarningClassesToPrint", 16)
        return made


_SCORES: dict[ClassificationMetric, Callable[[Evaluation], float]] = {
    ClassificationMetric.ACCURACY: Evaluation.accuracy, ClassificationMetric.F1: Evaluation.f1,
    ClassificationMetric.PRECISION: Evaluation.precision, ClassificationMetric.RECALL: Evaluation.recall,
    ClassificationMetric.GMEASURE: Evaluation.g_measure, ClassificationMetric.MCC: Evaluation.matthews_correlation}


def positional(args: tuple[Any, ...]) -> dict[str, Any]:
    """Return the options that DL4J's positional constructor arguments mean, by their types."""
    if not args or (len(args) == 1 and args[0] is None):
        return {}
    first, *rest = args
    if isinstance(first, bool) or len(args) > 2:
        raise ConfigurationError(f"Evaluation takes (num_classes[, positive]), (labels[, top_n or costs]) or (threshold[, positive]), got {args}")
    if isinstance(first, (int, np.integer)):
        found, second = {"num_classes": int(first)}, "binary_positive_class"
    elif isinstance(first, (float, np.floating)):
        found, second = {"binary_decision_threshold": float(first)}, "binary_positive_class"
    elif isinstance(first, Mapping) or (not hasattr(first, "shape") and all(isinstance(v, str) for v in first)):
        found, second = {"labels": first}, "top_n" if rest and isinstance(rest[0], (int, np.integer)) else "cost_array"
    else:
        found, second = {"cost_array": first}, ""
    if rest and not second:
        raise ConfigurationError("a cost array takes no second argument; give names first: Evaluation(labels, cost_array)")
    return {**found, second: rest[0]} if rest else found


def names(labels: Iterable[str] | Mapping[int, str] | None) -> list[str]:
    """Return the class names as a list."""
    if isinstance(labels, Mapping):
        if sorted(labels) != list(range(len(labels))):
            raise ConfigurationError(f"class names by number need the numbers 0 to {len(labels) - 1}, got {sorted(labels)}")
        return [labels[i] for i in range(len(labels))]
    return list(labels or [])


def counter(values: dict[int, int]) -> dict[str, Any]:
    """Return DL4J's JSON of a counter: zeros are left out."""
    found = {str(k): float(v) for k, v in values.items() if v}
    return {"map": found, "totalCount": float(sum(found.values())), "dirty": False, "empty": not found}
