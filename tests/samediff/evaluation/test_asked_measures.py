"""Smaller measures and the points of curves, against their definitions."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.samediff.evaluation import (
    ROC,
    Evaluation,
    EvaluationAveraging,
    EvaluationCalibration,
    EvaluationTools,
    RegressionEvaluation,
    ROCMultiClass,
)

RNG = np.random.default_rng(2)


def test_names_and_records_of_classes():
    e = Evaluation(["cat", "dog", "emu"])
    e.eval(np.eye(3)[[0, 1, 2, 0]], np.eye(3)[[0, 1, 1, 1]], list("abcd"))
    assert [e.get_class_label(i) for i in range(3)] == ["cat", "dog", "emu"]
    as_dog = [(p.get_actual_class(), p.get_predicted_class(), p.record_meta_data) for p in e.get_prediction_by_predicted_class(1)]
    assert sorted(as_dog) == [(0, 1, "d"), (1, 1, "b"), (2, 1, "c")]


def test_means_over_columns():
    y, p = RNG.normal(size=(50, 3)), RNG.normal(size=(50, 3))
    e = RegressionEvaluation(3)
    e.eval(y, p)
    near = pytest.approx
    assert e.average_pearson_correlation() == near(np.mean([np.corrcoef(y[:, k], p[:, k])[0, 1] for k in range(3)]), rel=1e-9)
    assert e.average_root_mean_squared_error() == near(np.sqrt(((y - p) ** 2).mean(0)).mean(), rel=1e-9)
    assert e.average_relative_squared_error() == near((((y - p) ** 2).sum(0) / ((y - y.mean(0)) ** 2).sum(0)).mean(), rel=1e-9)


def test_points_of_curves():
    y, p = np.array([0, 0, 1, 1, 0, 1.0]), np.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.9])
    roc = ROC(0)
    roc.eval(y[:, None], p[:, None])
    curve, points = roc.get_roc_curve(), roc.get_precision_recall_curve()
    x, h = np.asarray(curve.get_x()), np.asarray(curve.get_y())
    for threshold, false, true in zip(curve.threshold, x, h):
        if threshold <= 1:
            hit = p >= threshold
            assert false in (0.0, 1.0, pytest.approx(hit[y == 0].mean())) and true in (0.0, 1.0, pytest.approx(hit[y == 1].mean()))
    recalls, precisions = np.asarray(points.get_x()), np.asarray(points.get_y())
    assert recalls.min() == 0 and recalls.max() == 1 and precisions.max() == 1
    assert precisions[np.argmax(recalls == 1)] >= y.mean()


def test_area_under_precision_and_recall_of_several_classes():
    y, p = np.eye(3)[RNG.integers(0, 3, 40)], RNG.dirichlet(np.ones(3), 40)
    many = ROCMultiClass(0)
    many.eval(y, p)
    single = []
    for k in range(3):
        one = ROC(0)
        one.eval(y[:, k:k + 1], p[:, k:k + 1])
        single.append(one.calculate_aucpr())
    assert many.calculate_average_aucpr() == pytest.approx(np.mean(single))


def test_calibration_by_bins():
    y, p = np.eye(2)[RNG.integers(0, 2, 200)], RNG.dirichlet(np.ones(2), 200)
    e = EvaluationCalibration(10, 10)
    e.eval(y, p)
    bins = np.minimum((p[:, 1] * 10).astype(int), 9)
    gaps = [abs(p[bins == b, 1].sum() - y[bins == b, 1].sum()) for b in range(10)]
    assert e.expected_calibration_error(1) == pytest.approx(sum(gaps) / 200)
    diagram = e.get_reliability_diagram(1)
    for b, x, h in zip(sorted(set(bins)), diagram.get_x(), diagram.get_y()):
        assert x == pytest.approx(p[bins == b, 1].mean()) and h == pytest.approx(y[bins == b, 1].mean())
    histogram = e.get_probability_histogram(1)
    np.testing.assert_allclose(histogram.get_bin_lower_bounds(), np.arange(10) / 10)
    np.testing.assert_allclose(histogram.get_bin_mid_values(), np.arange(10) / 10 + 0.05)
    assert list(histogram.get_bin_counts()) == np.bincount(np.minimum((p[y[:, 1] == 1, 1] * 10).astype(int), 9), minlength=10).tolist()


#: Actual and predicted classes; DL4J's F1: without an argument, of class 1, macro, micro, and where no class is the positive one.
WITHOUT_CLASS_ONE = {
    "neither labels nor predictions": ([0, 0, 0, 0], [0, 0, 0, 0], (0, 0, np.nan, np.nan, np.nan)),
    "no labels": ([0, 0, 0, 0], [0, 0, 1, 0], (0, 0, 0, 0, 0)),
    "no predictions": ([0, 0, 0, 1], [0, 0, 0, 0], (0, 0, 0, 0, 0)),
    "nothing else": ([1, 1, 1, 1], [1, 1, 1, 1], (1, 1, 1, 1, 1)),
}


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(("actual", "predicted", "wanted"), WITHOUT_CLASS_ONE.values(), ids=WITHOUT_CLASS_ONE)
def test_f1_of_two_classes_one_of_which_is_absent(actual, predicted, wanted, columns):
    def scores(e):
        e.eval(*((np.array(v, np.float32)[:, None] if columns == 1 else np.eye(2)[v]) for v in (actual, predicted)))
        return e
    e, undecided = scores(Evaluation()), scores(Evaluation(2, None))
    found = e.f1(), e.f1(1), e.f1(EvaluationAveraging.Macro), e.f1(EvaluationAveraging.Micro), undecided.f1()
    assert found == pytest.approx(wanted, nan_ok=True)
    assert e.f_beta(2.0, EvaluationAveraging.Macro) == pytest.approx(wanted[2], nan_ok=True)


def test_json_of_a_single_column_has_counts_of_zero():
    e = Evaluation()
    e.eval(np.zeros((4, 1), np.float32), np.array([[0], [0], [1], [0]], np.float32))
    document = json.loads(e.to_json())
    assert document["falseNegatives"] == {"map": {"0": 1.0, "1": 0.0}, "totalCount": 1.0, "dirty": False, "empty": False}
    assert document["truePositives"]["map"] == {"0": 3.0, "1": 0.0}
    assert document["confusion"]["matrix"] == {"0": [[0, 1, 0, 0], [3, 1, 0, 0]], "1": [[], []]}
    joined = Evaluation()
    joined.merge(e)
    for again in (Evaluation.from_json(e.to_json()), joined):
        assert json.loads(again.to_json()) == document


def test_series():
    y, p, mask = RNG.random((2, 3, 5)), RNG.random((2, 3, 5)), np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    one, other = RegressionEvaluation(3), RegressionEvaluation(3)
    one.evalTimeSeries(y, p, mask)
    other.eval(y, p, mask)
    assert one == other and one.mean_squared_error(0) > 0


def test_pages_of_curves(tmp_path):
    pytest.importorskip("matplotlib")
    roc = ROC(0)
    roc.eval(np.array([[0], [1.0]]), np.array([[0.25], [0.75]]))
    EvaluationTools.exportRocChartsToHtmlFile(roc, tmp_path / "roc.html")
    page = (tmp_path / "roc.html").read_text()
    calibration = EvaluationCalibration()
    calibration.eval(np.eye(2), np.array([[0.7, 0.3], [0.4, 0.6]]))
    EvaluationTools.exportEvaluationCalibrationToHtmlFile(calibration, tmp_path / "calibration.html")
    assert "<svg" in (tmp_path / "calibration.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "<svg" in page and "AUC" in page and page.endswith("</html>")
