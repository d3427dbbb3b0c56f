"""ROC: how well a probability separates two classes, at every threshold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..base.java.java_enum import JavaEnum
from ..base.java_names import ROCNames
from ..drawing.evaluations import of_roc
from ..drawing.figures import Draw
from ..errors import ConfigurationError, NumericalError, ShapeError
from ..text.java_text import java_number
from .base import BaseEvaluation
from .curves import PrecisionRecallCurve, RocCurve, corners, points
from .rows import Array, Rows

NOTE = "\n[Note: Thresholded AUC/AUPRC calculation used with {} steps); accuracy may reduced compared to exact mode]"


class RocMetric(JavaEnum):
    """The measures of the ROC evaluations; more is better."""

    AUROC = "AUROC"
    AUPRC = "AUPRC"

    def minimize(self) -> bool:
        """Return whether less is better."""
        return False

#: A count is kept for each; a few hundred are usual.
_MOST_STEPS = 10_000_000


class ROC(BaseEvaluation, ROCNames, java="classification.ROC"):
    """Area under the ROC curve and under the precision-recall curve, of one probability or of two classes.

    With ``threshold_steps`` = 0 the curves are exact and all predictions are kept; equal predictions are one threshold
    and one point. With more steps only counts at that many thresholds are kept: predictions count as rounded down to them.

    Parameters
    ----------
    threshold_steps : int
        0 = exact (default), else the number of steps between thresholds 0 and 1.
    roc_remove_redundant_pts : bool
        Leave out the inner points of straight runs of exact curves (default True); areas do not change.
    exact_alloc_block_size : int
        DL4J's size of memory blocks; taken and not needed.
    axis : int
        Axis of the outputs in arrays of rank above 2 (default 1).

    Examples
    --------
    >>> roc = ROC()
    >>> roc.eval([[0], [1], [0], [1]], [[0.1], [0.4], [0.5], [0.9]])
    >>> roc.calculate_auc(), roc.get_roc_curve().fpr.tolist()
    (0.75, [0.0, 0.0, 0.5, 0.5, 1.0])

    Source: DL4J ROC.
    """

    Metric = RocMetric

    def __init__(
        self,
        threshold_steps: int = 0,
        roc_remove_redundant_pts: bool = True,
        exact_alloc_block_size: int = 2048,
        axis: int = 1,
    ) -> None:
        if not 0 <= threshold_steps <= _MOST_STEPS:
            raise ConfigurationError(f"threshold_steps must be 0 (exact) or more, up to {_MOST_STEPS}; got {threshold_steps}")
        self.threshold_steps = int(threshold_steps)
        self.roc_remove_redundant_pts = bool(roc_remove_redundant_pts)
        self.exact_alloc_block_size = exact_alloc_block_size
        self.axis = axis
        self.reset()

    def reset(self) -> None:
        """Forget all counts and predictions."""
        self.count_actual_positive = self.count_actual_negative = 0
        self.true_positives, self.false_positives = (np.zeros(self.threshold_steps + 1, np.int64) for _ in range(2))
        self._batches: list[tuple[Array, NDArray[np.bool_]]] = []
        self._curves: tuple[RocCurve, PrecisionRecallCurve] | None = None

    def is_exact(self) -> bool:
        """Return whether the curves are exact."""
        return self.threshold_steps == 0

    @property
    def example_count(self) -> int:
        """Number of examples that counted."""
        return self.count_actual_positive + self.count_actual_negative

    def thresholds(self) -> NDArray[np.float64]:
        """Return the thresholds of the steps."""
        return np.arange(self.threshold_steps + 1, dtype=np.float64) * (1.0 / self.threshold_steps)

    def count(self, rows: Rows) -> None:
        """Add rows of one column, or of two columns of which the second is the positive class."""
        width = rows.labels.shape[1]
        if width not in (1, 2):
            raise ShapeError(
                f"ROC takes labels and predictions of 1 or 2 columns, got {width}; use ROCMultiClass or ROCBinary"
            )
        rows.refuse_nan()
        keep = slice(None)
        if rows.mask is not None:
            if width == 2:
                raise ShapeError(
                    "ROC takes masks of rows (batch, 1) or (batch, time) for two columns, not of single outputs"
                )
            keep = rows.mask[:, 0] != 0  # type: ignore[assignment]
        self.count_column(rows.labels[keep, -1], rows.predictions[keep, -1])

    def count_column(self, labels: Array, predictions: Array) -> None:
        """Add labels and probabilities of one class."""
        if self._curves is not None and not self._batches and self.example_count and self.is_exact():
            raise ConfigurationError(
                "an exact ROC that was read from JSON has its curves only; predictions cannot be added to it"
            )
        positive = labels > 0.5
        self._curves = None
        self.count_actual_positive += int(positive.sum())
        self.count_actual_negative += int((~positive).sum())
        if self.is_exact():
            self._batches.append((np.array(predictions), positive))
            return
        steps = self.thresholds().astype(predictions.dtype)[:, None]
        above = (predictions >= steps) & (steps < 1)  # nothing counts as above 1: the curve ends at recall 0
        self.true_positives = self.true_positives + (above & positive).sum(1)
        self.false_positives = self.false_positives + (above & ~positive).sum(1)

    def join(self, other: ROC) -> None:
        """Add the counts and predictions of another ROC with the same steps."""
        if other.threshold_steps != self.threshold_steps:
            raise ConfigurationError(
                f"cannot merge a ROC of {other.threshold_steps} steps into one of {self.threshold_steps}"
            )
        if self.is_exact() and any(r.example_count and not r._batches for r in (self, other)):
            raise ConfigurationError("an exact ROC that was read from JSON has its curves only; it cannot be merged")
        self._curves = None
        self.count_actual_positive += other.count_actual_positive
        self.count_actual_negative += other.count_actual_negative
        self.true_positives = self.true_positives + other.true_positives
        self.false_positives = self.false_positives + other.false_positives
        self._batches.extend(other._batches)

    def _both(self) -> tuple[RocCurve, PrecisionRecallCurve]:
        if not self.example_count:
            raise NumericalError("cannot give a curve: no evaluation has been performed")
        if self._curves is None:
            self._curves = self._exact() if self.is_exact() else self._stepped()
        return self._curves

    def get_roc_curve(self) -> RocCurve:
        """Return the ROC curve."""
        return self._both()[0]

    def get_precision_recall_curve(self) -> PrecisionRecallCurve:
        """Return the precision-recall curve."""
        return self._both()[1]

    def calculate_auc(self) -> float:
        """Return the area under the ROC curve; NaN when a class is absent."""
        return self.get_roc_curve().calculate_auc()

    def calculate_aucpr(self) -> float:
        """Return the area under the precision-recall curve."""
        return self.get_precision_recall_curve().calculate_auprc()

    def _exact(self) -> tuple[RocCurve, PrecisionRecallCurve]:
        p, positive = (np.concatenate(parts) for parts in zip(*self._batches))
        order = np.argsort(-p, kind="stable")
        n, falling = len(p), p[order].astype(np.float64)
        tp, fp = np.cumsum(positive[order]), np.cumsum(~positive[order])
        i = np.arange(n) / max(n - 1, 1)
        rank = (1 - i) + i * n  # 1 … n as DL4J's linspace rounds it: its last digit decides which points are redundant
        lowest = np.append(falling[1:] != falling[:-1], True)  # the last of equal predictions: all of them are one threshold
        tp, fp, falling, rank = tp[lowest], fp[lowest], falling[lowest], rank[lowest]
        with np.errstate(invalid="ignore", divide="ignore"):
            fpr, tpr = fp / self.count_actual_negative, tp / self.count_actual_positive
        roc = [points([a, *v, b]) for a, v, b in ((1, falling, 0), (0, fpr, 1), (0, tpr, 1))]
        ends = tp[-1] / n
        pr = [points([a, *v[::-1], b]) for a, v, b in ((0, falling, 1), (ends, tp / rank, 1), (1, tpr, 0))]
        counts = [np.array([v[-1], *v[::-1], 0], np.int64) for v in (tp, fp)]
        counts.append(self.count_actual_positive - counts[0])
        if self.roc_remove_redundant_pts:
            roc = [v[corners(roc[1], roc[2])] for v in roc]
            keep = corners(pr[1], pr[2])
            pr, counts = [v[keep] for v in pr], [v[keep] for v in counts]
        return RocCurve(*roc), PrecisionRecallCurve(*pr, *counts, n)  # type: ignore[arg-type,call-arg]

    def _stepped(self) -> tuple[RocCurve, PrecisionRecallCurve]:
        tp, fp, thresholds = self.true_positives, self.false_positives, self.thresholds()
        with np.errstate(invalid="ignore", divide="ignore"):
            fpr, tpr = fp / self.count_actual_negative, tp / self.count_actual_positive
            precision = np.where(tp + fp == 0, 1.0, tp / (tp + fp))
        recall = tpr if self.count_actual_positive else np.ones(len(tp))
        return (
            RocCurve(thresholds, fpr, tpr),
            PrecisionRecallCurve(
                thresholds, precision, recall, tp, fp, self.count_actual_positive - tp, self.example_count
            ),
        )

    def drawn(self) -> list[Draw]:
        return of_roc([("", self)])

    def score_for_metric(self, metric: RocMetric) -> float:
        """Return the area that ``metric`` names."""
        return self.calculate_auc() if RocMetric(metric) is RocMetric.AUROC else self.calculate_aucpr()

    get_value = score_for_metric

    def stats(self) -> str:
        if not self.example_count:
            return "ROC: No data available (no data has been performed)"
        return (
            f"AUC (Area under ROC Curve):                {java_number(self.calculate_auc())}\n"
            f"AUPRC (Area under Precision/Recall Curve): {java_number(self.calculate_aucpr())}" + self.note()
        )

    def note(self) -> str:
        """Return the remark of reports about threshold steps."""
        return "" if self.is_exact() else NOTE.format(self.threshold_steps)

    def document(self) -> dict[str, Any]:
        """Return the fields of DL4J's JSON; exact predictions are not among them, their curves are."""
        doc: dict[str, Any] = {
            "thresholdSteps": self.threshold_steps,
            "countActualPositive": self.count_actual_positive,
            "countActualNegative": self.count_actual_negative,
            "counts": {},
        }
        if not self.is_exact():
            doc["counts"] = {
                java_number(t): {"threshold": float(t), "countTruePositive": int(a), "countFalsePositive": int(b)}
                for t, a, b in zip(self.thresholds(), self.true_positives, self.false_positives)
            }
        if self.example_count:
            doc |= {"auc": self.calculate_auc(), "auprc": self.calculate_aucpr()}
            if self.is_exact():
                doc |= {
                    "rocCurve": self.get_roc_curve().document(),
                    "prCurve": self.get_precision_recall_curve().document(),
                }
        return doc | {
            "isExact": self.is_exact(),
            "exampleCount": self.example_count,
            "rocRemoveRedundantPts": self.roc_remove_redundant_pts,
        }

    @classmethod
    def restore(cls, doc: dict[str, Any]) -> Self:
        made = cls(doc["thresholdSteps"], doc.get("rocRemoveRedundantPts", True))
        made.count_actual_positive, made.count_actual_negative = doc["countActualPositive"], doc["countActualNegative"]
        if not made.is_exact():
            steps = sorted(doc["counts"].values(), key=lambda step: float(step["threshold"]))
            made.true_positives = np.array([s["countTruePositive"] for s in steps], np.int64)
            made.false_positives = np.array([s["countFalsePositive"] for s in steps], np.int64)
        elif "rocCurve" in doc:
            made._curves = RocCurve.restore(doc["rocCurve"]), PrecisionRecallCurve.restore(doc["prCurve"])
        return made
