"""The measures of an :class:`Evaluation`: per class, and averaged over the classes."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np

from ..errors import NumericalError
from . import counts as c
from .confusion_matrix import ConfusionMatrix
from .counts import Counts, EvaluationAveraging
from .rows import Array

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


class ClassificationMeasures:
    """Mix-in of :class:`Evaluation`: everything that follows from the confusion matrix."""

    Metric = ClassificationMetric
    max_classes_printed = 20

    def __init__(self, labels: list[str], top_n: int, positive_class: int | None, threshold: float | None, costs: Array | None) -> None:
        self.labels_list, self.top_n, self.cost_array = labels, top_n, costs
        self.binary_positive_class, self.binary_decision_threshold = positive_class, threshold
        self.max_warning_classes_to_print = 16
        self._no_counts()

    def _no_counts(self) -> None:
        """As before the first batch."""
        self._confusion: ConfusionMatrix | None = None
        self._top_n_correct = self._top_n_total = 0
        self._of_one_column = False             # DL4J's JSON has all counts then, also those that are 0

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

    def accuracy(self) -> float:
        """Right predictions / examples."""
        total = Counts.total(self.tables("accuracy"))
        return total.tp / (total.tp + total.fn)

    def top_n_correct_count(self) -> int:
        """Return how many examples had fewer than ``top_n`` larger predictions."""
        return (
            self._top_n_correct if self.top_n > 1 or self._confusion is None else int(np.trace(self._confusion.counts))
        )

    def top_n_total_count(self) -> int:
        """Return the number of examples that :meth:`top_n_accuracy` is about."""
        return self._top_n_total if self.top_n > 1 else self.num_row_counter()

    def top_n_accuracy(self) -> float:
        """Share of the examples whose class is among the ``top_n`` largest predictions."""
        accuracy = self.accuracy()
        return accuracy if self.top_n <= 1 else c.divide(self._top_n_correct, self._top_n_total)

    def _resolved(self, which: Which, classes: int) -> int | EvaluationAveraging:
        """Return what None stands for: the positive class of two, the macro average of more."""
        if which is None:
            positive = self.binary_positive_class
            return positive if positive is not None and classes == 2 else EvaluationAveraging.Macro
        return which

    def _measure(self, what: str, of: Table, which: Which, defined_only: bool = False) -> float:
        """Return a measure of a class, or averaged; NaN marks a class that ``defined_only`` leaves out of the mean."""
        tables = self.tables(what)
        which = self._resolved(which, len(tables))
        if not isinstance(which, EvaluationAveraging):
            return of(tables[self.confusion().index(which)])
        if which is EvaluationAveraging.Micro:
            return of(Counts.total(tables))
        values = [of(t) for t in tables]
        return c.mean(v for v in values if v == v) if defined_only else c.mean(values)

    def precision(self, which: Which = None, edge: float = 0.0) -> float:
        """tp / (tp + fp) of a class or averaged; ``edge`` for a never predicted class (no part of macro means)."""
        edge = np.nan if which is EvaluationAveraging.Macro or self._averaged(which) else edge
        return self._measure("precision", lambda t: c.precision(t, edge), which, defined_only=True)

    def recall(self, which: Which = None, edge: float = 0.0) -> float:
        """tp / (tp + fn) of a class or averaged; ``edge`` for a class without examples (no part of macro means)."""
        edge = np.nan if which is EvaluationAveraging.Macro or self._averaged(which) else edge
        return self._measure("recall", lambda t: c.recall(t, edge), which, defined_only=True)

    def _averaged(self, which: Which) -> bool:
        return which is None and not (self.num_classes() == 2 and self.binary_positive_class is not None)

    def false_positive_rate(self, which: Which = None, edge: float = 0.0) -> float:
        """fp / (fp + tn) of a class or averaged over all classes."""
        return self._measure("the false positive rate", lambda t: c.false_positive_rate(t, edge), which)

    def false_negative_rate(self, which: Which = None, edge: float = 0.0) -> float:
        """fn / (fn + tp) of a class or averaged over all classes.

        The micro average is DL4J's: summed fn / (fn + tn).
        """
        if which is EvaluationAveraging.Micro:
            total = Counts.total(self.tables("the false negative rate"))
            return c.ratio(total.fn, total.tn, edge)
        return self._measure("the false negative rate", lambda t: c.false_negative_rate(t, edge), which)

    def false_alarm_rate(self) -> float:
        """(false positive rate + false negative rate) / 2."""
        return (self.false_positive_rate() + self.false_negative_rate()) / 2

    def f_beta(self, beta: float, which: Which = None) -> float:
        """(1 + beta^2) P R / (beta^2 P + R); macro averages leave out classes without precision or recall.

        Of two classes, both averages are the measure of class 1, NaN where nothing is or was called it.
        """
        tables = self.tables("F-beta")
        which = self._resolved(which, len(tables))
        if not isinstance(which, EvaluationAveraging):
            return c.f_beta(tables[self.confusion().index(which)], beta, np.nan, 0.0)
        if len(tables) == 2:
            return c.f_beta_of_output(tables[1], beta)
        edge = 0.0 if which is EvaluationAveraging.Micro else np.nan
        return self._measure("F-beta", lambda t: c.f_beta(t, beta, edge), which, defined_only=True)

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
        of: dict[str, Table] = {
            "precision": lambda t: c.precision(t, np.nan),
            "recall": lambda t: c.recall(t, np.nan),
            "f1": lambda t: c.f_beta(t, 1.0, np.nan),
        }
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


_SCORES: dict[ClassificationMetric, Callable[[ClassificationMeasures], float]] = {
    ClassificationMetric.ACCURACY: ClassificationMeasures.accuracy,
    ClassificationMetric.F1: ClassificationMeasures.f1,
    ClassificationMetric.PRECISION: ClassificationMeasures.precision,
    ClassificationMetric.RECALL: ClassificationMeasures.recall,
    ClassificationMetric.GMEASURE: ClassificationMeasures.g_measure,
    ClassificationMetric.MCC: ClassificationMeasures.matthews_correlation,
}
