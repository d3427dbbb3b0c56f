"""Calibration: do the predicted probabilities mean what they say?"""

from __future__ import annotations

import base64
import io
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..base.java_names import EvaluationCalibrationNames
from ..codecs.nd4j_array import read_array as read_binary
from ..codecs.nd4j_array import write_array
from ..drawing.evaluations import of_calibration
from ..drawing.figures import Draw
from ..errors import ConfigurationError, NumericalError, ShapeError
from .base import BaseEvaluation, array_document, read_array
from .curves import Histogram, ReliabilityDiagram
from .rows import Array, Rows

COUNTERS = {  # attribute: (field of DL4J's JSON, type, shape for c classes, b bins, h histogram bins)
    "r_diag_bin_pos_count": ("rDiagBinPosCount", np.int64, "bc"),
    "r_diag_bin_total_count": ("rDiagBinTotalCount", np.int64, "bc"),
    "r_diag_bin_sum_predictions": ("rDiagBinSumPredictions", np.float64, "bc"),
    "label_counts_each_class": ("labelCountsEachClass", np.int64, "1c"),
    "prediction_counts_each_class": ("predictionCountsEachClass", np.int64, "1c"),
    "residual_plot_overall": ("residualPlotOverall", np.float64, "1h"),
    "residual_plot_by_label_class": ("residualPlotByLabelClass", np.float64, "hc"),
    "prob_histogram_overall": ("probHistogramOverall", np.float64, "1h"),
    "prob_histogram_by_label_class": ("probHistogramByLabelClass", np.float64, "hc"),
}


class EvaluationCalibration(BaseEvaluation, EvaluationCalibrationNames, java="classification.EvaluationCalibration"):
    """Reliability diagrams, residual plots and histograms of the predicted probabilities of a classifier.

    Bins have equal width from 0 to 1; a value on a border belongs to the upper bin, 1 to the last.

    Parameters
    ----------
    reliability_diag_num_bins : int
        Bins of the reliability diagrams (default 10).
    histogram_num_bins : int
        Bins of residual plots and histograms (default 50).
    exclude_empty_bins : bool
        Leave bins without predictions out of the reliability diagrams (default True); else they are NaN.
    axis : int
        Axis of the classes in arrays of rank above 2 (default 1).

    Examples
    --------
    >>> e = EvaluationCalibration(2, 4)
    >>> e.eval([[1, 0], [0, 1], [1, 0]], [[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]])
    >>> e.get_reliability_diagram(0).fraction_positives_y.tolist()
    [0.5, 1.0]
    >>> e.get_probability_histogram_all_classes().bin_counts.tolist()
    [2, 1, 1, 2]

    Source: DL4J EvaluationCalibration.
    """

    r_diag_bin_pos_count: NDArray[np.int64]
    r_diag_bin_total_count: NDArray[np.int64]
    r_diag_bin_sum_predictions: NDArray[np.float64]
    label_counts_each_class: NDArray[np.int64]
    prediction_counts_each_class: NDArray[np.int64]
    residual_plot_overall: NDArray[np.float64]
    residual_plot_by_label_class: NDArray[np.float64]
    prob_histogram_overall: NDArray[np.float64]
    prob_histogram_by_label_class: NDArray[np.float64]

    def __init__(
        self,
        reliability_diag_num_bins: int = 10,
        histogram_num_bins: int = 50,
        exclude_empty_bins: bool = True,
        axis: int = 1,
    ) -> None:
        if min(reliability_diag_num_bins, histogram_num_bins) < 1:
            raise ConfigurationError(
                f"bins must be at least 1, got {reliability_diag_num_bins} and {histogram_num_bins}"
            )
        self.reliability_diag_num_bins, self.histogram_num_bins = (
            int(reliability_diag_num_bins),
            int(histogram_num_bins),
        )
        self.exclude_empty_bins, self.axis = bool(exclude_empty_bins), axis
        self.reset()

    def reset(self) -> None:
        self._classes = 0

    def _start(self, n: int) -> None:
        if not self._classes:
            extent = {"b": self.reliability_diag_num_bins, "h": self.histogram_num_bins, "c": n, "1": 1}
            for name, (_, kind, shape) in COUNTERS.items():
                setattr(self, name, np.zeros([extent[s] for s in shape], kind))
            self._classes = n
        if self._classes != n:
            raise ShapeError(f"this evaluation has {self._classes} classes, the data has {n}")

    def count(self, rows: Rows) -> None:
        """Add rows to the counts."""
        if rows.mask is not None:
            raise ShapeError(
                "EvaluationCalibration takes masks of rows (batch, 1) or (batch, time), not of single outputs"
            )
        y, p = rows.labels, rows.predictions
        rows.refuse_nan()
        self._start(y.shape[1])
        for b, inside in enumerate(bins(p, self.reliability_diag_num_bins)):
            self.r_diag_bin_pos_count[b] += (y * inside).sum(0).astype(np.int64)
            self.r_diag_bin_total_count[b] += inside.sum(0)
            self.r_diag_bin_sum_predictions[b] += (p * inside.astype(p.dtype)).sum(0)
        self.label_counts_each_class[0] += y.sum(0).astype(np.int64)
        self.prediction_counts_each_class[0] += np.bincount(np.argmax(p, 1), minlength=y.shape[1])
        for values, overall, by_class in (
            (np.abs(y - p), self.residual_plot_overall, self.residual_plot_by_label_class),
            (p, self.prob_histogram_overall, self.prob_histogram_by_label_class),
        ):
            for b, inside in enumerate(bins(values, self.histogram_num_bins)):
                overall[0, b] += inside.sum()
                by_class[b] += (y * inside).sum(0)

    def join(self, other: EvaluationCalibration) -> None:
        """Add the counts of another evaluation with the same bins."""
        mine, theirs = ((e.reliability_diag_num_bins, e.histogram_num_bins) for e in (self, other))
        if mine != theirs:
            raise ConfigurationError(f"cannot merge evaluations of {theirs} bins into {mine}")
        if other._classes:
            self._start(other._classes)
            for name in COUNTERS:
                setattr(self, name, getattr(self, name) + getattr(other, name))

    def num_classes(self) -> int:
        """Return the number of classes, 0 before the first batch."""
        return self._classes

    def _class(self, i: int) -> int:
        if not self._classes:
            raise NumericalError("cannot give a diagram: no evaluation has been performed")
        if not 0 <= i < self._classes:
            raise ShapeError(f"class {i} is not one of the classes 0 to {self._classes - 1}")
        return i

    def get_reliability_diagram(self, class_idx: int) -> ReliabilityDiagram:
        """Return the share of positive labels against the mean probability of a class, per bin of probabilities."""
        i = self._class(class_idx)
        total = self.r_diag_bin_total_count[:, i]
        with np.errstate(invalid="ignore", divide="ignore"):
            x, y = self.r_diag_bin_sum_predictions[:, i] / total, self.r_diag_bin_pos_count[:, i] / total
        keep = total > 0 if self.exclude_empty_bins else np.ones(len(total), np.bool_)
        return ReliabilityDiagram(f"Reliability Diagram: Class {i}", x[keep], y[keep])

    def _histogram(self, title: str, counts: NDArray[np.float64]) -> Histogram:
        return Histogram(title, 0.0, 1.0, counts.astype(np.int64))

    def get_residual_plot(self, label_class_idx: int) -> Histogram:
        """Return the histogram of \\|label - probability\\| of a class, for examples of that class."""
        i = self._class(label_class_idx)
        return self._histogram(
            f"Residual Plot - Predictions for Label Class {i}", self.residual_plot_by_label_class[:, i]
        )

    def get_residual_plot_all_classes(self) -> Histogram:
        """Return the histogram of \\|label - probability\\| of all predictions."""
        self._class(0)
        return self._histogram("Residual Plot - All Predictions and Classes", self.residual_plot_overall[0])

    def get_probability_histogram(self, label_class_idx: int) -> Histogram:
        """Return the histogram of the probability of a class, for examples of that class."""
        i = self._class(label_class_idx)
        title = f"Network Probabilities Histogram - P(class {i}) - Data Labelled Class {i} Only"
        return self._histogram(title, self.prob_histogram_by_label_class[:, i])

    def get_probability_histogram_all_classes(self) -> Histogram:
        """Return the histogram of all probabilities."""
        self._class(0)
        return self._histogram(
            "Network Probabilities Histogram - All Predictions and Classes", self.prob_histogram_overall[0]
        )

    def get_label_counts_each_class(self) -> NDArray[np.int64]:
        """Return the number of examples of each class."""
        self._class(0)
        return self.label_counts_each_class.reshape(-1)

    def get_prediction_counts_each_class(self) -> NDArray[np.int64]:
        """Return how often each class had the largest probability."""
        self._class(0)
        return self.prediction_counts_each_class.reshape(-1)

    def expected_calibration_error(self, class_idx: int) -> float:
        """Return the mean distance of the reliability diagram from the diagonal, weighted by predictions per bin."""
        i = self._class(class_idx)
        gap = np.abs(self.r_diag_bin_sum_predictions[:, i] - self.r_diag_bin_pos_count[:, i])
        return float(gap.sum() / self.r_diag_bin_total_count[:, i].sum())

    def stats(self) -> str:
        """Return DL4J's one line; the diagrams say more."""
        return f"EvaluationCalibration(nBins={self.reliability_diag_num_bins})"

    def drawn(self) -> list[Draw]:
        return of_calibration(self)

    def document(self) -> dict[str, Any]:
        """Return the fields of DL4J's JSON; tables are ND4J's binary format in base 64."""
        made: dict[str, Any] = {
            "reliabilityDiagNumBins": self.reliability_diag_num_bins,
            "histogramNumBins": self.histogram_num_bins,
            "excludeEmptyBins": self.exclude_empty_bins,
            "axis": self.axis,
        }
        for name, (key, _, shape) in COUNTERS.items():
            write = array_document if shape[0] == "1" else encode
            made[key] = write(getattr(self, name)) if self._classes else None
        return made

    @classmethod
    def restore(cls, doc: dict[str, Any]) -> Self:
        made = cls(doc["reliabilityDiagNumBins"], doc["histogramNumBins"], doc["excludeEmptyBins"], doc.get("axis", 1))
        if doc["labelCountsEachClass"] is not None:
            for name, (key, kind, _) in COUNTERS.items():
                value = doc[key]
                setattr(
                    made, name, decode(value["array"]).astype(kind) if "array" in value else read_array(value, kind)
                )
            made._classes = made.label_counts_each_class.shape[1]
        return made


def bins(values: Array, n: int) -> list[NDArray[np.bool_]]:
    """Return for each of n bins between 0 and 1 which values are inside."""
    width, made = 1.0 / n, []
    for b in range(n):
        above = values >= values.dtype.type(b * width)
        made.append(above & ((values <= 1) if b == n - 1 else (values < values.dtype.type((b + 1) * width))))
    return made


def encode(array: Array) -> dict[str, str]:
    """Return an array as DL4J's JSON has large ones: ND4J's bytes in base 64, lines of 76."""

    stream = io.BytesIO()
    write_array(stream, array)
    return {"array": base64.encodebytes(stream.getvalue()).decode("ascii").replace("\n", "\r\n")}


def decode(text: str) -> Array:
    """Read :func:`encode`."""

    return read_binary(io.BytesIO(base64.b64decode(text)))
