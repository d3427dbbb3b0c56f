"""Evaluation of predictions as numbers and curves for a record."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...evaluation import ROC, Evaluation, EvaluationCalibration, RegressionEvaluation

#: Classes whose curves are recorded, steps of these, and classes of a confusion matrix.
MOST_CURVES, STEPS, MOST_CLASSES = 10, 100, 100


def evaluated(labels: Any, predictions: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Of classes accuracy, precision, recall, F1, confusion matrix and curves; of other labels errors.

    Examples
    --------
    >>> found = evaluated([[1, 0], [0, 1]], [[0.8, 0.2], [0.3, 0.7]])
    >>> found["accuracy"], found["confusion"], found["roc"]["1"]["auc"]
    (1.0, [[1, 0], [0, 1]], 1.0)
    """
    y, p = np.asarray(labels, np.float64), np.asarray(predictions, np.float64)
    if y.ndim > 2:          # classes in the second axis
        y, p = (np.moveaxis(a, 1, -1).reshape(-1, a.shape[1]) for a in (y, p))
    if not np.isfinite(p).all():
        return {"not_finite": int((~np.isfinite(p)).sum())}
    if not is_classes(y):
        found = RegressionEvaluation()
        found.eval(y, p)
        return {"mean_squared_error": _number(found.average_mean_squared_error()), "r_squared": _number(found.average_r_squared()),
                "mean_absolute_error": _number(found.average_mean_absolute_error())}
    counts = Evaluation()
    counts.eval(y, p)
    classes = max(y.shape[1], 2)
    called = list(names or map(str, range(classes)))
    made: dict[str, Any] = {n: _number(getattr(counts, n)()) for n in ("accuracy", "precision", "recall", "f1")}
    made["names"] = called
    if classes <= MOST_CLASSES:
        table = counts.confusion()
        made["confusion"] = [[table.get_count(a, b) for b in range(classes)] for a in range(classes)]
    return made | _curves(y, p, called)


def is_classes(y: Any) -> bool:
    """Whether rows of labels are classes: a one in each, or a column of zeros and ones.

    Examples
    --------
    >>> import numpy as np
    >>> is_classes(np.eye(3)), is_classes(np.array([[0.0], [2.0]]))
    (True, False)
    """
    zeros_and_ones = bool(((y == 0) | (y == 1)).all())
    return zeros_and_ones and (y.shape[1] == 1 or bool((y.sum(1) == 1).all()))


def _curves(y: Any, p: Any, names: Sequence[str]) -> dict[str, Any]:
    """Curves of each class against the rest; of two classes those of the second."""
    columns = [(names[1], y[:, -1], p[:, -1])] if len(names) == 2 else [(n, y[:, i], p[:, i]) for i, n in enumerate(names)]
    made: dict[str, Any] = {"roc": {}, "precision_recall": {}, "calibration": {}}
    for name, labels, chances in columns[:MOST_CURVES]:
        if not (chances.min() >= 0 and chances.max() <= 1) or labels.min() == labels.max():
            continue
        roc, table = ROC(STEPS), EvaluationCalibration(10)
        roc.eval(labels[:, None], chances[:, None])
        table.eval(np.stack([1 - labels, labels], 1), np.stack([1 - chances, chances], 1))
        curve, against, bins = roc.get_roc_curve(), roc.get_precision_recall_curve(), table.get_reliability_diagram(1)
        made["roc"][name] = {"fpr": _list(curve.fpr), "tpr": _list(curve.tpr), "auc": _number(curve.calculate_auc())}
        made["precision_recall"][name] = {
            "threshold": _list(against.threshold), "precision": _list(against.precision), "recall": _list(against.recall),
            "tp": against.tp_count.tolist(), "fp": against.fp_count.tolist(), "fn": against.fn_count.tolist(),
            "total": int(against.total_count)}
        made["calibration"][name] = {"x": _list(bins.mean_predicted_value_x), "y": _list(bins.fraction_positives_y)}
    return made


def _list(values: Any) -> list[float]:
    return [round(float(v), 6) for v in values]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
