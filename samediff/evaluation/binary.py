"""Evaluation of independent binary outputs: the counts and measures of each column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from ..base.java.java_enum import JavaEnum
from ..base.java_names import EvaluationBinaryNames
from ..drawing.evaluations import of_binary
from ..drawing.figures import Draw
from ..errors import ConfigurationError, NumericalError, ShapeError
from ..expressions.arrays import to_numbers
from ..text.java_text import java_number
from . import counts as c
from .base import BaseEvaluation, array_document, read_array
from .counts import Counts
from .roc_columns import ROCBinary
from .rows import Array, Rows
from .text import fixed

COUNTS = {"tp": "countTruePositive", "fp": "countFalsePositive", "tn": "countTrueNegative", "fn": "countFalseNegative"}


class BinaryMetric(JavaEnum):
    """The measures that :meth:`EvaluationBinary.score_for_metric` knows."""

    ACCURACY = "ACCURACY"
    F1 = "F1"
    PRECISION = "PRECISION"
    RECALL = "RECALL"
    GMEASURE = "GMEASURE"
    MCC = "MCC"
    FAR = "FAR"

    def minimize(self) -> bool:
        """Return whether less is better: true for the false alarm rate."""
        return self is BinaryMetric.FAR


class EvaluationBinary(BaseEvaluation, EvaluationBinaryNames, java="classification.EvaluationBinary"):
    """Counts, accuracy, precision, recall, F1 … of each of several independent (sigmoid) outputs.

    An output is predicted positive above its threshold. Measures without anything to divide by are NaN, rates 0.
    Averages are means over the outputs, 0 before the first batch.

    Parameters
    ----------
    *args
        DL4J's forms: ``(size[, roc_binary_steps])`` or ``(decision_threshold)``, an array with a threshold per output.
    decision_threshold : array (outputs), optional
        Threshold of each output (default 0.5), compared in the type of the predictions.
    roc_binary_steps : int, optional
        Also keep a :class:`ROCBinary` with that many steps (0 = exact), for the AUC column of the report.
    labels : list of str, optional
        Names of the outputs.
    axis : int
        Axis of the outputs in arrays of rank above 2 (default 1).

    Examples
    --------
    >>> e = EvaluationBinary()
    >>> e.eval([[1, 0], [1, 1], [0, 1]], [[0.9, 0.2], [0.4, 0.6], [0.1, 0.7]])
    >>> e.recall(0), e.accuracy(1), round(e.average_accuracy(), 4)
    (0.5, 1.0, 0.8333)

    Source: DL4J EvaluationBinary.
    """

    Metric = BinaryMetric

    def __init__(
        self,
        *args: Any,
        decision_threshold: Any = None,
        roc_binary_steps: int | None = None,
        labels: Sequence[str] | None = None,
        axis: int = 1,
    ) -> None:
        size = None
        if len(args) > 2:
            raise ConfigurationError(
                f"EvaluationBinary takes (size[, roc_binary_steps]) or (decision_threshold), got {args}"
            )
        if args and isinstance(args[0], (int, np.integer)):
            size, roc_binary_steps = int(args[0]), args[1] if len(args) == 2 else roc_binary_steps
        elif args and args[0] is not None:
            decision_threshold = args[0]
        self.decision_threshold: Array | None = None
        if decision_threshold is not None:
            given = to_numbers(decision_threshold, "a decision threshold").ravel()
            is_double = given.dtype == np.float64 and hasattr(decision_threshold, "dtype")
            self.decision_threshold = given if is_double else given.astype(np.float32)
        self.roc_binary = None if roc_binary_steps is None else ROCBinary(roc_binary_steps, axis=axis)
        self.labels = list(labels) if labels else None
        self.axis = axis
        self.counts: dict[str, Array] | None = None
        if size is not None:
            self._start(size)

    def reset(self) -> None:
        self.counts = None
        if self.roc_binary is not None:
            self.roc_binary.reset()

    def set_label_names(self, labels: Sequence[str] | None) -> None:
        """Name the outputs."""
        self.labels = list(labels) if labels else None

    def _start(self, n: int) -> dict[str, Array]:
        for what, given in (("names", self.labels), ("thresholds", self.decision_threshold)):
            if given is not None and len(given) != n:
                raise ShapeError(f"{len(given)} {what} were given, but the data has {n} outputs")
        if self.counts is None:
            self.counts = {name: np.zeros(n, np.int64) for name in COUNTS}
        if len(self.counts["tp"]) != n:
            raise ShapeError(f"this evaluation has {len(self.counts['tp'])} outputs, the data has {n}")
        return self.counts

    def count(self, rows: Rows) -> None:
        """Add rows to the counts."""
        rows.refuse_nan()
        counts = self._start(rows.labels.shape[1])
        threshold = np.float32(0.5) if self.decision_threshold is None else self.decision_threshold.astype(rows.predictions.dtype)
        predicted, actual = rows.predictions > threshold, rows.labels > 0.5
        seen = np.ones(actual.shape, np.bool_) if rows.mask is None else rows.mask != 0
        for name, hit in (
            ("tp", predicted & actual),
            ("fp", predicted & ~actual),
            ("tn", ~predicted & ~actual),
            ("fn", ~predicted & actual),
        ):
            counts[name] += (hit & seen).sum(0)
        if self.roc_binary is not None:
            self.roc_binary.count(rows)

    def join(self, other: EvaluationBinary) -> None:
        """Add the counts of another evaluation."""
        if other.counts is None:
            return
        if (self.roc_binary is None) != (other.roc_binary is None):
            raise ConfigurationError("cannot merge an EvaluationBinary with a ROC and one without")
        if self.roc_binary is not None and other.roc_binary is not None:
            self.roc_binary.merge(other.roc_binary)
        counts = self._start(len(other.counts["tp"]))
        for name, value in other.counts.items():
            counts[name] += value

    def num_labels(self) -> int:
        """Return the number of outputs, -1 before the first batch."""
        return -1 if self.counts is None else len(self.counts["tp"])

    def table(self, i: int) -> Counts:
        """Return the counts of an output."""
        if self.counts is None:
            raise NumericalError("cannot give a measure: no evaluation has been performed")
        if not 0 <= i < self.num_labels():
            raise ShapeError(f"output {i} is not one of the outputs 0 to {self.num_labels() - 1}")
        return Counts(**{name: int(value[i]) for name, value in self.counts.items()})

    def true_positives(self, i: int) -> int:
        """Return the true positives of an output."""
        return int(self.table(i).tp)

    def false_positives(self, i: int) -> int:
        """Return the false positives of an output."""
        return int(self.table(i).fp)

    def true_negatives(self, i: int) -> int:
        """Return the true negatives of an output."""
        return int(self.table(i).tn)

    def false_negatives(self, i: int) -> int:
        """Return the false negatives of an output."""
        return int(self.table(i).fn)

    def total_count(self, i: int) -> int:
        """Return how often an output counted."""
        t = self.table(i)
        return int(t.tp + t.fp + t.tn + t.fn)

    count_true_positive = property(lambda self: None if self.counts is None else self.counts["tp"])
    count_false_positive = property(lambda self: None if self.counts is None else self.counts["fp"])
    count_true_negative = property(lambda self: None if self.counts is None else self.counts["tn"])
    count_false_negative = property(lambda self: None if self.counts is None else self.counts["fn"])

    def accuracy(self, i: int) -> float:
        """(tp + tn) / all."""
        t = self.table(i)
        return c.divide(t.tp + t.tn, t.tp + t.fp + t.tn + t.fn)

    def precision(self, i: int) -> float:
        """tp / (tp + fp)."""
        return c.precision(self.table(i), np.nan)

    def recall(self, i: int) -> float:
        """tp / (tp + fn)."""
        return c.recall(self.table(i), np.nan)

    def f_beta(self, beta: float, i: int) -> float:
        """(1 + beta^2) P R / (beta^2 P + R); NaN where nothing was positive, in labels or predictions."""
        return c.f_beta_of_output(self.table(i), beta)

    def f1(self, i: int) -> float:
        """2 P R / (P + R)."""
        return self.f_beta(1.0, i)

    def g_measure(self, i: int) -> float:
        """sqrt(P R)."""
        return c.g_measure(self.table(i), np.nan)

    def matthews_correlation(self, i: int) -> float:
        """(tp tn - fp fn) / sqrt((tp+fp)(tp+fn)(tn+fp)(tn+fn))."""
        return c.matthews_correlation(self.table(i))

    def false_positive_rate(self, i: int, edge: float = 0.0) -> float:
        """fp / (fp + tn)."""
        return c.false_positive_rate(self.table(i), edge)

    def false_negative_rate(self, i: int, edge: float = 0.0) -> float:
        """fn / (fn + tp)."""
        return c.false_negative_rate(self.table(i), edge)

    def false_alarm_rate(self, i: int) -> float:
        """(false positive rate + false negative rate) / 2."""
        return (self.false_positive_rate(i) + self.false_negative_rate(i)) / 2

    def _average(self, of: Callable[[int], float]) -> float:
        return 0.0 if self.counts is None else c.mean(of(i) for i in range(self.num_labels()))

    def average_accuracy(self) -> float:
        """Mean of :meth:`accuracy` over the outputs."""
        return self._average(self.accuracy)

    def average_precision(self) -> float:
        """Mean of :meth:`precision` over the outputs."""
        return self._average(self.precision)

    def average_recall(self) -> float:
        """Mean of :meth:`recall` over the outputs."""
        return self._average(self.recall)

    def average_f1(self) -> float:
        """Mean of :meth:`f1` over the outputs."""
        return self._average(self.f1)

    def average_g_measure(self) -> float:
        """Mean of :meth:`g_measure` over the outputs."""
        return self._average(self.g_measure)

    def average_matthews_correlation(self) -> float:
        """Mean of :meth:`matthews_correlation` over the outputs."""
        return self._average(self.matthews_correlation)

    def average_false_alarm_rate(self) -> float:
        """Mean of :meth:`false_alarm_rate` over the outputs."""
        return self._average(self.false_alarm_rate)

    def score_for_metric(self, metric: BinaryMetric, index: int | None = None) -> float:
        """Return the measure that ``metric`` names, of an output or averaged."""
        of = {
            BinaryMetric.ACCURACY: self.accuracy,
            BinaryMetric.F1: self.f1,
            BinaryMetric.PRECISION: self.precision,
            BinaryMetric.RECALL: self.recall,
            BinaryMetric.GMEASURE: self.g_measure,
            BinaryMetric.MCC: self.matthews_correlation,
            BinaryMetric.FAR: self.false_alarm_rate,
        }[BinaryMetric(metric)]
        return self._average(of) if index is None else of(index)

    get_value = score_for_metric

    def stats(self) -> str:
        """Return the measures and counts of all outputs as a table."""
        wide = max([15, *(len(s) for s in self.labels or [])]) + 5
        head = (
            f"{'Label':<{wide}}"
            + "".join(f"{t:<12}" for t in ("Accuracy", "F1", "Precision", "Recall"))
            + f"{'Total':<8}"
        )
        head += "".join(f"{t:<7}" for t in ("TP", "TN", "FP", "FN")) + (
            "" if self.roc_binary is None else f"{'AUC':<12}"
        )
        if self.counts is None:
            return head + "\n-- No Data --\n"
        lines = [head]
        for i in range(self.num_labels()):
            t = self.table(i)
            line = f"{self.labels[i] if self.labels else i!s:<{wide}}"
            line += "".join(
                f"{fixed(v):<12}" for v in (self.accuracy(i), self.f1(i), self.precision(i), self.recall(i))
            )
            line += f"{self.total_count(i):<8}" + "".join(f"{int(v):<7}" for v in (t.tp, t.tn, t.fp, t.fn))
            if self.roc_binary is not None:
                line += f"{fixed(self.roc_binary.calculate_auc(i)) if self.roc_binary.num_labels() else 'NaN':<12}"
            lines.append(line)
        if self.decision_threshold is not None:
            lines.append(
                f"Per-output decision thresholds: [{', '.join(java_number(v) for v in self.decision_threshold)}]"
            )
        return "\n".join(lines)

    def drawn(self) -> list[Draw]:
        return of_binary(self)

    def document(self) -> dict[str, Any]:
        """Return the fields of DL4J's JSON."""
        counts = {key: None if self.counts is None else self.counts[name].tolist() for name, key in COUNTS.items()}
        return {
            "axis": self.axis,
            **counts,
            "rocBinary": None if self.roc_binary is None else self.roc_binary.tagged(),
            "labels": self.labels,
            "decisionThreshold": array_document(self.decision_threshold),
        }

    @classmethod
    def restore(cls, doc: dict[str, Any]) -> Self:
        thresholds = doc.get("decisionThreshold")
        is_double = isinstance(thresholds, dict) and thresholds.get("dataType") == "DOUBLE"
        made = cls(
            decision_threshold=read_array(thresholds, np.float64 if is_double else np.float32),
            labels=doc.get("labels"),
            axis=doc.get("axis", 1),
        )
        if doc["countTruePositive"] is not None:
            made.counts = {name: np.array(doc[key], np.int64) for name, key in COUNTS.items()}
        if doc.get("rocBinary") is not None:
            made.roc_binary = ROCBinary.from_document(doc["rocBinary"])
        return made
