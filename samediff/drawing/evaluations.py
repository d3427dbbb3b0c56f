"""Pictures of evaluations and curves: what ``plot`` draws."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import NumericalError
from .figures import Draw, bars, columns, lines, matrix

#: Classes or columns that have lines of their own in one picture.
MOST_LINES = 10


def of_classes(evaluation: Any) -> list[Draw]:
    """Confusion matrix, and precision, recall and F1 of each class."""
    table = evaluation.confusion("a picture")
    names = [evaluation.get_class_label(i) for i in range(evaluation.num_classes())]
    counts = [[table.get_count(a, p) for p in range(len(names))] for a in range(len(names))]
    measures = {what: [getattr(evaluation, what)(i) for i in range(len(names))] for what in ("precision", "recall", "f1")}
    return [matrix(f"accuracy {evaluation.accuracy():.4g}", counts, names, "predicted", "actual"), columns("by class", names, measures)]


def of_regression(evaluation: Any) -> list[Draw]:
    """Root mean squared error, mean absolute error and R² of each column."""
    if not evaluation.num_columns():
        raise NumericalError("cannot draw a picture: no evaluation has been performed")
    numbers, names = range(evaluation.num_columns()), [str(i) for i in range(evaluation.num_columns())]
    errors = {"root mean squared error": [evaluation.root_mean_squared_error(i) for i in numbers],
              "mean absolute error": [evaluation.mean_absolute_error(i) for i in numbers]}
    return [columns("errors by column", names, errors), columns("by column", names, {"R²": [evaluation.r_squared(i) for i in numbers]})]


def of_binary(evaluation: Any) -> list[Draw]:
    """Accuracy, precision, recall and F1 of each output."""
    if evaluation.num_labels() < 1:
        raise NumericalError("cannot draw a picture: no evaluation has been performed")
    names = [str(i) for i in range(evaluation.num_labels())]
    return [columns("by output", names, {what: [getattr(evaluation, what)(i) for i in range(len(names))]
                                         for what in ("accuracy", "precision", "recall", "f1")})]


def of_roc(named: Sequence[tuple[str, Any]]) -> list[Draw]:
    """ROC curves, and precision against recall, of each class or column."""
    curves = [(name, roc.get_roc_curve(), roc.get_precision_recall_curve()) for name, roc in named[:MOST_LINES]]
    roc = {f"{name} (area {c.calculate_auc():.4g})".strip(): (c.fpr, c.tpr) for name, c, _ in curves}
    recall = {f"{name} (area {c.calculate_auprc():.4g})".strip(): (c.recall, c.precision) for name, _, c in curves}
    one, two = (next(iter(found)) if len(found) == 1 else "" for found in (roc, recall))
    return [lines(f"ROC {one}".strip(), roc, "false positive rate", "true positive rate", diagonal=True),
            lines(f"precision and recall {two}".strip(), recall, "recall", "precision")]


def of_calibration(evaluation: Any) -> list[Draw]:
    """Reliability diagrams, and histograms of residuals and probabilities."""
    classes = range(min(evaluation.num_classes(), MOST_LINES))
    diagrams = {f"class {i}": evaluation.get_reliability_diagram(i) for i in classes}
    return [lines("reliability", {n: (d.mean_predicted_value_x, d.fraction_positives_y) for n, d in diagrams.items()},
                  "mean predicted probability", "share of positives", diagonal=True),
            *of_histogram(evaluation.get_residual_plot_all_classes()), *of_histogram(evaluation.get_probability_histogram_all_classes())]


def of_histogram(histogram: Any) -> list[Draw]:
    """The bins of a histogram."""
    return [bars(histogram.title, histogram.edges(), histogram.bin_counts)]


def of_curve(curve: Any) -> list[Draw]:
    """A curve by itself."""
    if hasattr(curve, "bin_counts"):
        return of_histogram(curve)
    title = curve.title if hasattr(curve, "title") else curve.get_title()
    x, y = ("false positive rate", "true positive rate") if hasattr(curve, "fpr") else ("recall", "precision") if hasattr(
        curve, "recall") else ("mean predicted probability", "share of positives")
    return [lines(title, {"": (np.asarray(curve.get_x()), np.asarray(curve.get_y()))}, x, y)]
