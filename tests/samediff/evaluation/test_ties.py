"""Equal predictions are one threshold: areas as scikit-learn has them, whatever the order of the rows, exact, in steps and merged."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dl4py.samediff.evaluation import ROC, BaseEvaluation, EvaluationBinary, ROCBinary, ROCMultiClass

metrics = pytest.importorskip("sklearn.metrics")

#: What is made for a number of steps, and the number of columns it is given.
KINDS: dict[str, tuple[Callable[[int], Any], int]] = {
    "one column": (ROC, 1), "two columns": (ROC, 2), "binary": (ROCBinary, 3), "classes": (ROCMultiClass, 3),
    "binary with ROC": (lambda steps: EvaluationBinary(3, steps), 3)}


def rocs(e: Any) -> list[ROC]:
    """The ROC of each column."""
    e = e.roc_binary if isinstance(e, EvaluationBinary) else e
    return [e] if isinstance(e, ROC) else e.underlying


def labels(kind: str, width: int, rng: np.random.Generator, n: int) -> Any:
    if kind == "two columns" or kind == "classes":
        return np.eye(width)[rng.permutation(np.arange(n) % width)]
    return np.stack([rng.permutation(np.arange(n) % 2) for _ in range(width)], 1).astype(float)


def areas(y: Any, p: Any) -> tuple[float, float]:
    """Those of scikit-learn."""
    precision, recall, _ = metrics.precision_recall_curve(y, p)
    return metrics.roc_auc_score(y, p), metrics.auc(recall, precision)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("steps", [0, 10, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_areas_with_ties(kind, steps, dtype, rng):
    make, width = KINDS[kind]
    for grid in (1, 3, 10, 1000):
        y = labels(kind, width, rng, 90)
        p = (rng.integers(0, grid, (90, width)) / 10 % 1).astype(dtype)
        order = rng.permutation(90)
        whole, parts, turned = make(steps), make(steps), make(steps)
        whole.eval(y, p)
        turned.eval(y[order], p[order])
        for k in range(0, 90, 40):
            part = make(steps)
            part.eval(y[k:k + 40], p[k:k + 40])
            parts.merge(part)
        read = BaseEvaluation.from_json(whole.to_json())
        given = p if not steps else np.searchsorted((np.arange(steps) * (1 / steps)).astype(dtype), p, "right")     # rounded down to steps
        for e in (whole, turned, parts, read):
            for roc, i in zip(rocs(e), range(width) if width > 2 else [-1]):
                wanted = areas(y[:, i], given[:, i])
                assert (roc.calculate_auc(), roc.calculate_aucpr()) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("steps", [0, 10])
@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 1.0])
def test_a_constant_says_nothing(value, steps):
    y = np.array([[1.0], [1.0], [0.0], [0.0], [0.0]])
    for rows in (y, y[::-1]):
        roc = ROC(steps)
        roc.eval(rows, np.full((5, 1), value))
        assert roc.calculate_auc() == 0.5 and roc.calculate_aucpr() == pytest.approx(0.7)


def test_points_of_equal_predictions_are_one():
    roc = ROC(0, False)
    roc.eval([[0], [1], [1], [0], [1]], [[0.5], [0.5], [0.8], [0.2], [0.2]])
    curve, points = roc.get_roc_curve(), roc.get_precision_recall_curve()
    assert curve.threshold.tolist() == [1, 0.8, 0.5, 0.2, 0]
    assert curve.fpr.tolist() == [0, 0, 0.5, 1, 1] and curve.tpr == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])
    assert points.threshold.tolist() == [0, 0.2, 0.5, 0.8, 1]
    assert points.precision == pytest.approx([0.6, 0.6, 2 / 3, 1, 1]) and points.recall == pytest.approx([1, 1, 2 / 3, 1 / 3, 0])
    at = points.get_confusion_matrix_at_threshold(0.5)
    assert (at.tp_count, at.fp_count, at.fn_count, at.tn_count) == (2, 1, 1, 1)
