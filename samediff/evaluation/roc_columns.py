"""ROC per output column: independent probabilities (ROCBinary) and one class against the rest (ROCMultiClass)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from ..base.java_names import EvaluationToolsNames, ROCBinaryNames, RocColumnsNames, ROCMultiClassNames
from ..codecs.atomic_files import atomic_write
from ..drawing.evaluations import of_roc
from ..drawing.figures import Draw, svg
from ..errors import ConfigurationError, NumericalError, ShapeError
from ..text.html import html_text
from .base import BaseEvaluation
from .counts import mean
from .curves import PrecisionRecallCurve, RocCurve
from .roc import ROC, RocMetric
from .rows import Rows
from .text import fixed


class RocColumns(BaseEvaluation, RocColumnsNames):
    """One :class:`ROC` per column of the labels.

    Parameters
    ----------
    threshold_steps : int
        0 = exact (default), else the number of steps between thresholds 0 and 1.
    roc_remove_redundant_pts : bool
        Leave out the inner points of straight runs of exact curves (default True).
    axis : int
        Axis of the columns in arrays of rank above 2 (default 1).
    labels : list of str, optional
        Names of the columns.
    """

    Metric = RocMetric
    columns_of_report: ClassVar[tuple[str, ...]] = ("AUC", "AUPRC")
    output_masks: ClassVar[bool] = True

    def __init__(
        self,
        threshold_steps: int = 0,
        roc_remove_redundant_pts: bool = True,
        axis: int = 1,
        labels: Sequence[str] | None = None,
    ) -> None:
        self.threshold_steps, self.roc_remove_redundant_pts, self.axis = (
            int(threshold_steps),
            bool(roc_remove_redundant_pts),
            axis,
        )
        self.labels = list(labels) if labels else None
        self.underlying: list[ROC] = []
        ROC(self.threshold_steps)  # refuses bad steps

    def reset(self) -> None:
        """Forget all counts and predictions."""
        self.underlying = []

    def _start(self, n: int) -> None:
        if self.labels and len(self.labels) != n:
            raise ShapeError(
                f"{len(self.labels)} names were given ({', '.join(self.labels)}), but the data has {n} columns"
            )
        self.underlying = self.underlying or [
            ROC(self.threshold_steps, self.roc_remove_redundant_pts) for _ in range(n)
        ]
        if len(self.underlying) != n:
            raise ShapeError(f"this evaluation has {len(self.underlying)} columns, the data has {n}")

    def drawn(self) -> list[Draw]:
        return of_roc(list(zip(self.labels or map(str, range(len(self.underlying))), self.underlying)))

    def count(self, rows: Rows) -> None:
        """Add rows, column by column."""
        if rows.mask is not None and not self.output_masks:
            raise ShapeError(
                f"{type(self).__name__} takes masks of rows (batch, 1) or (batch, time), not of single outputs"
            )
        rows.refuse_nan()
        self._start(rows.labels.shape[1])
        for i, roc in enumerate(self.underlying):
            keep = slice(None) if rows.mask is None else rows.mask[:, i] != 0
            roc.count_column(rows.labels[keep, i], rows.predictions[keep, i])

    def join(self, other: RocColumns) -> None:
        """Add the counts and predictions of another evaluation with the same steps."""
        if other.threshold_steps != self.threshold_steps:
            raise ConfigurationError(
                f"cannot merge {other.threshold_steps} threshold steps into {self.threshold_steps}"
            )
        if other.underlying:
            self._start(len(other.underlying))
            for mine, theirs in zip(self.underlying, other.underlying):
                mine.join(theirs)

    def column(self, i: int) -> ROC:
        """Return the ROC of a column."""
        if not self.underlying:
            raise NumericalError("cannot give a curve: no evaluation has been performed")
        if not 0 <= i < len(self.underlying):
            raise ShapeError(f"column {i} is not one of the columns 0 to {len(self.underlying) - 1}")
        return self.underlying[i]

    get_roc = column

    def num_labels(self) -> int:
        """Return the number of columns, 0 before the first batch."""
        return len(self.underlying)

    def label(self, i: int) -> str:
        """Return the name of a column."""
        return self.labels[i] if self.labels else str(i)

    def calculate_auc(self, i: int) -> float:
        """Return the area under the ROC curve of a column, NaN where all of it is masked."""
        return self.column(i).calculate_auc() if self.column(i).example_count else math.nan

    def calculate_aucpr(self, i: int) -> float:
        """Return the area under the precision-recall curve of a column, NaN where all of it is masked."""
        return self.column(i).calculate_aucpr() if self.column(i).example_count else math.nan

    def get_roc_curve(self, i: int) -> RocCurve:
        """Return the ROC curve of a column."""
        return self.column(i).get_roc_curve()

    def get_precision_recall_curve(self, i: int) -> PrecisionRecallCurve:
        """Return the precision-recall curve of a column."""
        return self.column(i).get_precision_recall_curve()

    def count_actual_positive(self, i: int) -> int:
        """Return the number of positive labels of a column."""
        return self.column(i).count_actual_positive

    def count_actual_negative(self, i: int) -> int:
        """Return the number of negative labels of a column."""
        return self.column(i).count_actual_negative

    def _average(self, of: Callable[[int], float]) -> float:
        if not self.underlying:
            raise NumericalError("cannot give an average: no evaluation has been performed")
        return mean(of(i) for i in range(len(self.underlying)))

    def calculate_average_auc(self) -> float:
        """Return the mean of the areas under the ROC curves."""
        return self._average(self.calculate_auc)

    def calculate_average_aucpr(self) -> float:
        """Return the mean of the areas under the precision-recall curves."""
        return self._average(self.calculate_aucpr)

    def score_for_metric(self, metric: RocMetric, index: int | None = None) -> float:
        """Return the area that ``metric`` names, of a column or averaged."""
        of = self.calculate_auc if RocMetric(metric) is RocMetric.AUROC else self.calculate_aucpr
        return self._average(of) if index is None else of(index)

    get_value = score_for_metric

    def stats(self) -> str:
        """Return the areas of all columns as a table."""
        width = max([15, *(len(s) for s in self.labels or [])]) + 5
        lines = [
            f"{'Label':<{width}}" + "".join(f"{t:<12}" for t in self.columns_of_report) + f"{'# Pos':<10}{'# Neg':<10}"
        ]
        for i, roc in enumerate(self.underlying):
            areas = self.calculate_auc(i), self.calculate_aucpr(i)
            lines.append(
                f"{self.label(i):<{width}}"
                + "".join(f"{fixed(v):<12}" for v in areas[: len(self.columns_of_report)])
                + f"{roc.count_actual_positive:<10d}{roc.count_actual_negative:<10d}"
            )
        if not self.underlying:
            return lines[0] + "\n-- No Data --\n"
        return "\n".join(lines) + self.footer() + self.underlying[0].note()

    def footer(self) -> str:
        """Return what the report says after the table."""
        return ""

    def document(self) -> dict[str, Any]:
        """Return the fields of DL4J's JSON."""
        return {
            "underlying": [roc.tagged() for roc in self.underlying] or None,
            "thresholdSteps": self.threshold_steps,
            "rocRemoveRedundantPts": self.roc_remove_redundant_pts,
            "labels": self.labels,
            "axis": self.axis,
        }

    @classmethod
    def restore(cls, doc: dict[str, Any]) -> Self:
        made = cls(doc["thresholdSteps"], doc.get("rocRemoveRedundantPts", True), doc.get("axis", 1), doc.get("labels"))
        made.underlying = [ROC.from_document(d) for d in doc.get("underlying") or []]
        return made


class ROCBinary(RocColumns, ROCBinaryNames, java="classification.ROCBinary"):
    """ROC of each of several independent (sigmoid) outputs; per-output masks allowed.

    Parameters
    ----------
    threshold_steps : int
        0 = exact (default), else the number of steps between thresholds 0 and 1.
    roc_remove_redundant_pts : bool
        Leave out the inner points of straight runs of exact curves (default True).

    Examples
    --------
    >>> roc = ROCBinary()
    >>> roc.eval([[0, 1], [1, 0]], [[0.2, 0.3], [0.7, 0.6]])
    >>> roc.calculate_auc(0), roc.calculate_auc(1), roc.calculate_average_auc()
    (1.0, 0.0, 0.5)

    Source: DL4J ROCBinary.
    """

    def set_label_names(self, labels: Sequence[str] | None) -> None:
        """Name the columns."""
        self.labels = list(labels) if labels else None


class ROCMultiClass(RocColumns, ROCMultiClassNames, java="classification.ROCMultiClass"):
    """ROC of each class against all others, of a softmax output.

    Parameters
    ----------
    threshold_steps : int
        0 = exact (default), else the number of steps between thresholds 0 and 1.
    roc_remove_redundant_pts : bool
        Leave out the inner points of straight runs of exact curves (default True).

    Examples
    --------
    >>> roc = ROCMultiClass()
    >>> roc.eval([[1, 0], [0, 1]], [[0.8, 0.2], [0.4, 0.6]])
    >>> roc.calculate_auc(0), roc.get_num_classes()
    (1.0, 2)

    Source: DL4J ROCMultiClass.
    """

    columns_of_report = ("AUC",)
    output_masks = False

    def set_labels(self, labels: Sequence[str] | None) -> None:
        """Name the classes."""
        self.labels = list(labels) if labels else None

    def num_classes(self) -> int:
        """Return the number of classes, 0 before the first batch."""
        return self.num_labels()

    def footer(self) -> str:
        """Return the average area, the last thing of the report."""
        return f"Average AUC: {fixed(self.calculate_average_auc()):<12}"


class EvaluationTools(EvaluationToolsNames):
    """Pages of evaluations that have a picture (DL4J's class of that name); needs matplotlib."""

    @staticmethod
    def roc_chart_to_html(roc: BaseEvaluation) -> str:
        """A page with measures and curves.

        Parameters
        ----------
        roc : ROC, ROCBinary, ROCMultiClass or EvaluationCalibration
            What was counted.
        """
        return (f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{type(roc).__name__}</title></head>'
                f"<body>{html_text(type(roc).__name__, roc.stats())}{svg(roc.plot())}</body></html>")

    @staticmethod
    def export_roc_charts_to_html_file(roc: BaseEvaluation, file: str | os.PathLike[str]) -> None:
        """Write that page to a file."""
        with atomic_write(file) as stream:
            stream.write(EvaluationTools.roc_chart_to_html(roc).encode())

    evaluation_calibration_to_html = roc_chart_to_html
    export_evaluation_calibration_to_html_file = export_roc_charts_to_html_file
