"""Evaluation of a regression: errors and correlations per column."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..base.java.java_enum import JavaEnum
from ..base.java_names import RegressionEvaluationNames
from ..errors import ConfigurationError, NumericalError, ShapeError
from .base import BaseEvaluation, array_document, read_array
from .counts import divide, mean
from .moments import ColumnMoments
from .rows import Rows
from .text import scientific

SUMS = {  # attribute: field of DL4J's JSON, in its order; the means are derived
    "example_count_per_column": "exampleCountPerColumn",
    "labels_sum_per_column": "labelsSumPerColumn",
    "sum_squared_errors_per_column": "sumSquaredErrorsPerColumn",
    "sum_abs_errors_per_column": "sumAbsErrorsPerColumn",
    "current_mean": "currentMean",
    "current_prediction_mean": "currentPredictionMean",
    "sum_of_products": "sumOfProducts",
    "sum_squared_labels": "sumSquaredLabels",
    "sum_squared_predicted": "sumSquaredPredicted",
    "sum_labels": "sumLabels",
}
MEANS = ("current_mean", "current_prediction_mean")
FAR = 100  # how many times the squares of means may be the squares around them
SMALLEST_VARIATION = 1e-5  # below it DL4J calls the relative squared error infinite


class RegressionMetric(JavaEnum):
    """The measures that :meth:`RegressionEvaluation.score_for_metric` knows: averages over the columns."""

    MSE = "MSE"
    MAE = "MAE"
    RMSE = "RMSE"
    RSE = "RSE"
    PC = "PC"
    R2 = "R2"

    def minimize(self) -> bool:
        """Return whether less is better."""
        return self not in (RegressionMetric.PC, RegressionMetric.R2)

#: Of a number in a report.
_MOST_DIGITS = 1000


class RegressionEvaluation(BaseEvaluation, RegressionEvaluationNames, java="regression.RegressionEvaluation"):
    """Errors and correlations of each output column, from sums that need no second pass over the data.

    Sums are taken in the data type of the labels (float32 data gives about 1e-5), and added up in float64. Where labels or predictions
    lie far from 0, variations and correlations come from moments around their means, which JSON does not hold: it has DL4J's sums.

    Parameters
    ----------
    *args
        DL4J's forms: ``(n_columns[, precision])`` ``(column_names[, precision])`` or ``("a", "b", …)``.
    column_names : list of str, optional
        Names of the columns (default ``col_0``, ``col_1``, …).
    precision : int
        Digits of the report (default 5).
    axis : int
        Axis of the columns in arrays of rank above 2 (default 1).
    n_columns : int, optional
        Number of columns, where neither names nor data are to tell it.

    Examples
    --------
    >>> e = RegressionEvaluation(["price"])
    >>> e.eval([[1.0], [2.0], [4.0]], [[1.0], [3.0], [4.0]])
    >>> round(e.mean_squared_error(0), 4), round(e.mean_absolute_error(0), 4), round(e.r_squared(0), 4)
    (0.3333, 0.3333, 0.7857)

    Source: DL4J RegressionEvaluation.
    """

    Metric = RegressionMetric

    example_count_per_column: NDArray[np.float64]
    labels_sum_per_column: NDArray[np.float64]
    sum_squared_errors_per_column: NDArray[np.float64]
    sum_abs_errors_per_column: NDArray[np.float64]
    current_mean: NDArray[np.float64]
    current_prediction_mean: NDArray[np.float64]
    sum_of_products: NDArray[np.float64]
    sum_squared_labels: NDArray[np.float64]
    sum_squared_predicted: NDArray[np.float64]
    sum_labels: NDArray[np.float64]
    _moments: ColumnMoments

    def __init__(
        self,
        *args: Any,
        column_names: Sequence[str] | None = None,
        n_columns: int | None = None,
        precision: int = 5,
        axis: int = 1,
    ) -> None:
        if args and all(isinstance(a, str) for a in args):  # DL4J's varargs: RegressionEvaluation("a", "b")
            args = (list(args),)
        if len(args) > 2 or (len(args) == 2 and not isinstance(args[1], int)):
            raise ConfigurationError(f"RegressionEvaluation takes (n_columns | column_names[, precision]), got {args}")
        first, digits = (*args, None, None)[:2]
        if isinstance(first, (int, np.integer)):
            n_columns = int(first)
        elif first is not None:
            column_names = first
        self.precision = precision if digits is None else digits
        if not isinstance(self.precision, int) or isinstance(self.precision, bool) or not 0 < self.precision <= _MOST_DIGITS:
            raise ConfigurationError(f"RegressionEvaluation: precision must be an int from 1 to {_MOST_DIGITS}; got {self.precision!r:.60}")
        self.axis = axis
        self.column_names: list[str] = list(
            column_names or ([] if n_columns is None else (f"col_{i}" for i in range(n_columns)))
        )
        self.initialized = False
        if self.column_names:
            self._start(len(self.column_names))

    def reset(self) -> None:
        self.initialized = False

    def _start(self, n: int) -> None:
        if not self.initialized:
            self.column_names = self.column_names or [f"col_{i}" for i in range(n)]
        if len(self.column_names) != n:
            raise ShapeError(
                f"this evaluation has {len(self.column_names)} columns ({', '.join(self.column_names)}), "
                f"the data has {n}"
            )
        if not self.initialized:
            for name in SUMS:
                setattr(self, name, np.zeros(n))
            self._moments = ColumnMoments.none(n)
            self.initialized = True

    def count(self, rows: Rows) -> None:
        """Add rows to the sums."""
        y, p = rows.labels, rows.predictions
        self._start(y.shape[1])
        y = y.astype(p.dtype)
        seen = np.ones(y.shape, bool) if rows.mask is None else np.broadcast_to(rows.mask != 0, y.shape)
        if rows.mask is not None:
            y, p = np.where(seen, y, y.dtype.type(0)), np.where(seen, p, p.dtype.type(0))
        moments = ColumnMoments.of(y, p, seen)
        error = p - y
        labels, predictions = y.sum(0).astype(np.float64), p.sum(0).astype(np.float64)
        self._add(
            {
                "labels_sum_per_column": labels,
                "sum_labels": labels,
                "example_count_per_column": moments.n,
                "sum_squared_errors_per_column": (error * error).sum(0),
                "sum_abs_errors_per_column": np.abs(error).sum(0),
                "sum_of_products": (y * p).sum(0),
                "sum_squared_labels": (y * y).sum(0),
                "sum_squared_predicted": (p * p).sum(0),
            },
            labels,
            predictions,
            moments,
        )

    def _add(self, sums: dict[str, NDArray[Any]], labels: NDArray[Any], predictions: NDArray[Any], moments: ColumnMoments) -> None:
        """Add sums and moments, and update the means with the sums of labels and predictions."""
        self._moments = self._moments + moments
        before = self.example_count_per_column
        for name, value in sums.items():
            setattr(self, name, getattr(self, name) + value.astype(np.float64))
        now = self.example_count_per_column
        for name, value in zip(MEANS, (labels, predictions)):
            total = getattr(self, name) * before + value
            setattr(self, name, np.divide(total, now, out=np.zeros_like(total), where=now != 0))

    def join(self, other: RegressionEvaluation) -> None:
        """Add the sums of another evaluation."""
        if not other.initialized:
            return
        if not self.initialized:
            self.column_names = self.column_names or list(other.column_names)
        self._start(len(other.column_names))
        n = other.example_count_per_column
        self._add(
            {name: getattr(other, name) for name in SUMS if name not in MEANS},
            other.current_mean * n,
            other.current_prediction_mean * n,
            other._moments,
        )

    def _moments_of_sums(self) -> ColumnMoments:
        """Those that DL4J's JSON holds, as sums of squares from which others were taken away."""
        n, y, p = self.example_count_per_column, self.current_mean, self.current_prediction_mean
        yy, pp, yp = self.sum_squared_labels, self.sum_squared_predicted, self.sum_of_products
        return ColumnMoments(n, y, p, yy - n * y * y, pp - n * p * p, yp - n * y * p)

    def num_columns(self) -> int:
        """Return the number of columns, 0 before the first batch."""
        return len(self.column_names)

    def is_initialized(self) -> bool:
        """Return whether the number of columns is known."""
        return self.initialized

    def _sums(self, column: int, *names: str) -> list[float]:
        if not self.initialized:
            raise NumericalError("cannot give a measure: no evaluation has been performed")
        if not 0 <= column < len(self.column_names):
            raise ShapeError(f"column {column} is not one of the columns 0 to {len(self.column_names) - 1}")
        return [float(getattr(self, name)[column]) for name in ("example_count_per_column", *names)]

    def _variations(self, column: int) -> tuple[float, float, float, float]:
        """Return the sums of squares around the means of labels and of predictions, of their products, and of squared errors.

        They are DL4J's differences of sums, but for numbers so far from 0 that these have lost their digits.
        """
        n, products, labels, predicted, squared, y, p = self._sums(
            column, "sum_of_products", "sum_squared_labels", "sum_squared_predicted", "sum_squared_errors_per_column", *MEANS)
        around = self._moments
        yy, pp, yp = (float(v[column]) for v in (around.yy, around.pp, around.yp))
        if n * y * y > FAR * yy or n * p * p > FAR * pp:
            return yy, pp, yp, squared
        return labels - n * y * y, predicted - n * p * p, products - n * y * p, predicted - 2 * products + labels

    def mean_squared_error(self, column: int) -> float:
        """sum (p - y)^2 / n."""
        n, squared = self._sums(column, "sum_squared_errors_per_column")
        return divide(squared, n)

    def mean_absolute_error(self, column: int) -> float:
        """``sum |p - y| / n``."""
        n, absolute = self._sums(column, "sum_abs_errors_per_column")
        return divide(absolute, n)

    def root_mean_squared_error(self, column: int) -> float:
        """sqrt(sum (p - y)^2 / n)."""
        return math.sqrt(self.mean_squared_error(column))

    def relative_squared_error(self, column: int) -> float:
        """sum (p - y)^2 / sum (y - mean y)^2; infinite for labels that do not vary."""
        variation, _, _, squared = self._variations(column)
        return squared / variation if abs(variation) > SMALLEST_VARIATION else math.inf

    def pearson_correlation(self, column: int) -> float:
        """Covariance of labels and predictions over the product of their deviations; NaN when one does not vary."""
        labels, predicted, together, _ = self._variations(column)
        y, p = (v if v >= 0 else math.nan for v in (labels, predicted))
        return divide(together, math.sqrt(y) * math.sqrt(p))

    def correlation_r2(self, column: int) -> float:
        """DL4J's other name of :meth:`pearson_correlation` (it is not squared)."""
        return self.pearson_correlation(column)

    def r_squared(self, column: int) -> float:
        """1 - sum (p - y)^2 / sum (y - mean y)^2, the coefficient of determination."""
        _, squared = self._sums(column, "sum_squared_errors_per_column")
        variation = self._variations(column)[0]
        return divide(variation - squared, variation)

    def _average(self, of: Callable[[int], float]) -> float:
        return mean(of(i) for i in range(self.num_columns()))

    def average_mean_squared_error(self) -> float:
        """Mean of :meth:`mean_squared_error` over the columns."""
        return self._average(self.mean_squared_error)

    def average_mean_absolute_error(self) -> float:
        """Mean of :meth:`mean_absolute_error` over the columns."""
        return self._average(self.mean_absolute_error)

    def average_root_mean_squared_error(self) -> float:
        """Mean of :meth:`root_mean_squared_error` over the columns."""
        return self._average(self.root_mean_squared_error)

    def average_relative_squared_error(self) -> float:
        """Mean of :meth:`relative_squared_error` over the columns."""
        return self._average(self.relative_squared_error)

    def average_pearson_correlation(self) -> float:
        """Mean of :meth:`pearson_correlation` over the columns."""
        return self._average(self.pearson_correlation)

    def average_r_squared(self) -> float:
        """Mean of :meth:`r_squared` over the columns."""
        return self._average(self.r_squared)

    averagecorrelation_r2 = average_correlation_r2 = average_pearson_correlation  # DL4J's own spellings
    averageroot_mean_squared_error = average_root_mean_squared_error
    averagerelative_squared_error = average_relative_squared_error

    def score_for_metric(self, metric: RegressionMetric) -> float:
        """Return the measure that ``metric`` names, averaged over the columns; NaN before the first batch."""
        of = {
            RegressionMetric.MSE: self.mean_squared_error,
            RegressionMetric.MAE: self.mean_absolute_error,
            RegressionMetric.RMSE: self.root_mean_squared_error,
            RegressionMetric.RSE: self.relative_squared_error,
            RegressionMetric.PC: self.pearson_correlation,
            RegressionMetric.R2: self.r_squared,
        }
        return self._average(of[RegressionMetric(metric)])

    get_value = score_for_metric

    def stats(self) -> str:
        """Return the measures of all columns as a table."""
        if not self.initialized:
            return "RegressionEvaluation: No Data"
        wide, each = max(len(s) for s in self.column_names) + 5, self.precision + 10
        lines = [f"{'Column':<{wide}}" + "".join(f"{t:<{each}}" for t in ("MSE", "MAE", "RMSE", "RSE", "PC", "R^2"))]
        measures = (
            self.mean_squared_error,
            self.mean_absolute_error,
            self.root_mean_squared_error,
            self.relative_squared_error,
            self.pearson_correlation,
            self.r_squared,
        )
        for i, name in enumerate(self.column_names):
            lines.append(f"{name:<{wide}}" + "".join(f"{scientific(of(i), self.precision):<{each}}" for of in measures))
        return "\n".join(lines) + "\n"

    def document(self) -> dict[str, Any]:
        """Return the fields of DL4J's JSON."""
        sums = {key: array_document(getattr(self, name)) if self.initialized else None for name, key in SUMS.items()}
        return {
            "axis": self.axis,
            "initialized": self.initialized,
            "columnNames": self.column_names or None,
            "precision": self.precision,
            **sums,
        }

    @classmethod
    def restore(cls, doc: dict[str, Any]) -> Self:
        made = cls(column_names=doc.get("columnNames"), precision=doc.get("precision", 5), axis=doc.get("axis", 1))
        if doc["initialized"]:
            for name, key in SUMS.items():
                setattr(made, name, read_array(doc[key], np.float64))
            made._moments = made._moments_of_sums()
        return made
