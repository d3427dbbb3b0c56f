"""Curves that evaluations give: ROC, precision against recall, reliability, histograms."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..base.java_names import CurveNames, HistogramNames, PrecisionRecallCurveNames, ReliabilityDiagramNames, RocCurveNames
from ..base.javanames import JavaSpelling, to_camel
from ..drawing.evaluations import of_curve
from ..drawing.figures import figure_of
from ..errors import FileFormatError, ShapeError
from .base import parsed, reading
from .text import fixed, json_text, plain_json

Floats = NDArray[np.float64]


def trapezoids(x: Floats, y: Floats) -> float:
    """Return the area under y over x, added up point by point."""
    area = 0.0
    for i in range(len(x) - 1):
        area += abs(float(x[i + 1] - x[i])) * float(y[i + 1] + y[i]) / 2.0
    return area


def corners(x: Floats, y: Floats) -> NDArray[np.bool_]:
    """Return which points of a curve are needed: the ends, and those inside no horizontal or vertical run."""
    keep = np.ones(len(x), np.bool_)
    for v in (x, y):
        keep[1:-1] &= ~((v[:-2] == v[1:-1]) & (v[1:-1] == v[2:]))
    return keep


class Curve(CurveNames):
    """Base class of the curves: JSON from the fields."""

    java_class: ClassVar[str] = ""

    def document(self) -> dict[str, Any]:
        """Return the fields of DL4J's JSON."""
        values = {to_camel(f.name): getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        return {
            "@class": self.java_class,
            **{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()},
        }

    @classmethod
    def restore(cls, doc: dict[str, Any]) -> Self:
        """Read :meth:`document`."""
        made = {}
        for f in fields(cls):  # type: ignore[arg-type]
            value = doc[to_camel(f.name)]
            kind = np.int64 if f.name.endswith(("count", "counts")) else np.float64
            made[f.name] = np.array([float(v) for v in value]).astype(kind) if isinstance(value, list) else value
        return cls(**made)

    def at(self, values: Any, i: int | None) -> Any:
        """All values, or that of one point."""
        if i is not None and not 0 <= i < len(values):
            raise ShapeError(f"point {i} is not one of the points 0 to {len(values) - 1}")
        return values if i is None else float(values[i])

    def plot(self, save_to: str | os.PathLike[str] | None = None) -> Any:
        """Draw the curve, and write the picture to a file where one is named; needs matplotlib."""
        return figure_of(of_curve(self), save_to, size=(5, 4))

    def to_json(self) -> str:
        """Return DL4J's JSON of the curve."""
        return json_text(self.document())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read DL4J's JSON."""
        doc = parsed(text)
        with reading(cls.__name__), np.errstate(over="raise", invalid="raise"):
            missing = [f.name for f in fields(cls) if to_camel(f.name) not in doc]  # type: ignore[arg-type]
            if missing:
                raise FileFormatError(f"the JSON of a {cls.__name__} lacks {', '.join(missing)}")
            return cls.restore(doc)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and plain_json(other.document()) == plain_json(self.document())

    __hash__ = None  # type: ignore[assignment]


@dataclass(eq=False)
class RocCurve(Curve, RocCurveNames):
    """True against false positive rate: highest threshold first in exact mode, lowest first with threshold steps.

    Parameters
    ----------
    threshold, fpr, tpr : array (points)
        Thresholds, false and true positive rates.
    auc : float, optional
        The area, where it is known; computed by trapezoids otherwise.

    Examples
    --------
    >>> curve = RocCurve(np.array([1.0, 0.5, 0.0]), np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0]))
    >>> curve.calculate_auc(), curve.get_title()
    (1.0, 'ROC (Area=1.0000)')
    """

    java_class = "org.nd4j.evaluation.curves.RocCurve"

    threshold: Floats
    fpr: Floats
    tpr: Floats
    auc: Any = None

    def calculate_auc(self) -> float:
        """Return the area under the curve."""
        self.auc = trapezoids(self.fpr, self.tpr) if self.auc is None else float(self.auc)
        return float(self.auc)

    def num_points(self) -> int:
        """Return the number of points."""
        return len(self.threshold)

    def get_threshold(self, i: int | None = None) -> Any:
        """Return the thresholds, or that of point ``i``."""
        return self.at(self.threshold, i)

    def get_true_positive_rate(self, i: int | None = None) -> Any:
        """Return the true positive rates, or that of point ``i``."""
        return self.at(self.tpr, i)

    def get_false_positive_rate(self, i: int | None = None) -> Any:
        """Return the false positive rates, or that of point ``i``."""
        return self.at(self.fpr, i)

    def get_x(self) -> Floats:
        """Return the false positive rates."""
        return self.fpr

    def get_y(self) -> Floats:
        """Return the true positive rates."""
        return self.tpr

    def get_title(self) -> str:
        """Return a title with the area."""
        return f"ROC (Area={fixed(self.calculate_auc())})"


@dataclass(frozen=True)
class Point(JavaSpelling):
    """A point of a precision-recall curve."""

    idx: int
    threshold: float
    precision: float
    recall: float

    def __str__(self) -> str:
        return "PrecisionRecallCurve." + repr(self)


@dataclass(frozen=True)
class Confusion(JavaSpelling):
    """The counts at a point of a precision-recall curve."""

    point: Point
    tp_count: int
    fp_count: int
    fn_count: int
    tn_count: int

    def __str__(self) -> str:
        counts = ", ".join(
            f"{to_camel(n)}={getattr(self, n)}" for n in ("tp_count", "fp_count", "fn_count", "tn_count")
        )
        return f"PrecisionRecallCurve.Confusion(point={self.point}, {counts})"


@dataclass(eq=False)
class PrecisionRecallCurve(Curve, PrecisionRecallCurveNames):
    """Precision against recall, from the lowest threshold to the highest, with the counts of each point.

    Parameters
    ----------
    threshold, precision, recall : array (points)
        Points of the curve, each with the probability from which on an example counts as positive.
    tp_count, fp_count, fn_count : array (points)
        True positives, false positives and false negatives at each threshold.
    total_count : int
        Number of examples.
    area : float, optional
        The area, where it is known; computed by trapezoids otherwise.
    """

    java_class = "org.nd4j.evaluation.curves.PrecisionRecallCurve"

    threshold: Floats
    precision: Floats
    recall: Floats
    tp_count: NDArray[np.int64]
    fp_count: NDArray[np.int64]
    fn_count: NDArray[np.int64]
    total_count: int
    area: Any = None

    def calculate_auprc(self) -> float:
        """Return the area under the curve."""
        self.area = trapezoids(self.recall, self.precision) if self.area is None else float(self.area)
        return float(self.area)

    def num_points(self) -> int:
        """Return the number of points."""
        return len(self.threshold)

    def get_threshold(self, i: int | None = None) -> Any:
        """Return the thresholds, or that of point ``i``."""
        return self.at(self.threshold, i)

    def get_precision(self, i: int | None = None) -> Any:
        """Return the precisions, or that of point ``i``."""
        return self.at(self.precision, i)

    def get_recall(self, i: int | None = None) -> Any:
        """Return the recalls, or that of point ``i``."""
        return self.at(self.recall, i)

    def get_x(self) -> Floats:
        """Return the recalls."""
        return self.recall

    def get_y(self) -> Floats:
        """Return the precisions."""
        return self.precision

    def get_title(self) -> str:
        """Return a title with the area."""
        return f"Precision-Recall Curve (Area={fixed(self.calculate_auprc())})"

    def point(self, i: int) -> Point:
        """Return point ``i``."""
        if not 0 <= i < len(self.threshold):
            raise ShapeError(f"point {i} is not one of the points 0 to {len(self.threshold) - 1}")
        return Point(i, float(self.threshold[i]), float(self.precision[i]), float(self.recall[i]))

    def get_point_at_threshold(self, threshold: float) -> Point:
        """Return the point of the smallest threshold that is not below the given one."""
        return self.point(min(int(np.searchsorted(self.threshold, threshold)), len(self.threshold) - 1))

    def get_point_at_precision(self, precision: float) -> Point:
        """Return the point of the smallest threshold with at least this precision, else the last."""
        found = np.flatnonzero(self.precision >= precision)
        return self.point(int(found[0]) if len(found) else len(self.threshold) - 1)

    def get_point_at_recall(self, recall: float) -> Point:
        """Return the point of the largest threshold with at least this recall, the first of equal points."""
        found = np.flatnonzero(self.recall >= recall)
        i = int(found[-1]) if len(found) else 0
        while i > 0 and self.recall[i - 1] == self.recall[i] and self.precision[i - 1] == self.precision[i]:
            i -= 1
        return self.point(i)

    def get_confusion_matrix_at_point(self, i: int) -> Confusion:
        """Return the counts of point ``i``."""
        point = self.point(i)
        tp, fp, fn = (int(v[i]) for v in (self.tp_count, self.fp_count, self.fn_count))
        return Confusion(point, tp, fp, fn, int(self.total_count) - tp - fp - fn)

    def get_confusion_matrix_at_threshold(self, threshold: float) -> Confusion:
        """Return the counts at :meth:`get_point_at_threshold`."""
        return self.get_confusion_matrix_at_point(self.get_point_at_threshold(threshold).idx)


@dataclass(eq=False)
class ReliabilityDiagram(Curve, ReliabilityDiagramNames):
    """Share of positive labels against mean predicted probability, per bin of predictions.

    Parameters
    ----------
    title : str
        What plots are headed with.
    mean_predicted_value_x, fraction_positives_y : array (bins)
        Mean predicted probability and share of positive labels of each bin.
    """

    java_class = "org.nd4j.evaluation.curves.ReliabilityDiagram"

    title: str
    mean_predicted_value_x: Floats
    fraction_positives_y: Floats

    def num_points(self) -> int:
        """Return the number of points."""
        return len(self.mean_predicted_value_x)

    get_x = lambda self: self.mean_predicted_value_x  # noqa: E731
    get_y = lambda self: self.fraction_positives_y  # noqa: E731


@dataclass(eq=False)
class Histogram(Curve, HistogramNames):
    """Counts in bins of equal width from ``lower`` to ``upper``.

    Parameters
    ----------
    title : str
        What plots are headed with.
    lower, upper : float
        Borders of the first and the last bin.
    bin_counts : array (bins)
        How many values lie in each bin.
    """

    java_class = "org.nd4j.evaluation.curves.Histogram"

    title: str
    lower: float
    upper: float
    bin_counts: NDArray[np.int64]

    def num_points(self) -> int:
        """Return the number of bins."""
        return len(self.bin_counts)

    def edges(self) -> Floats:
        """Return the borders of the bins, one more than there are bins."""
        return np.linspace(self.lower, self.upper, len(self.bin_counts) + 1)

    def get_bin_lower_bounds(self) -> Floats:
        """Return the lower border of each bin."""
        return self.edges()[:-1]

    def get_bin_upper_bounds(self) -> Floats:
        """Return the upper border of each bin."""
        return self.edges()[1:]

    def get_bin_mid_values(self) -> Floats:
        """Return the middle of each bin."""
        return (self.edges()[1:] + self.edges()[:-1]) / 2


def points(values: Sequence[float] | Floats) -> Floats:
    """Return an array of float64."""
    return np.asarray(values, np.float64)
