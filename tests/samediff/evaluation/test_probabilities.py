"""ROC, EvaluationBinary and EvaluationCalibration."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError, NumericalError, ShapeError
from dl4py.samediff.evaluation import ROC, EvaluationBinary, EvaluationCalibration, ROCBinary, ROCMultiClass


def data(rng, n=60, columns=3):
    y = rng.integers(0, 2, (n, columns)).astype(np.float64)
    return y, np.clip(0.5 * y + 0.6 * rng.random((n, columns)), 0, 1)


def fed(e, *arrays):
    e.eval(*arrays)
    return e


def rank_area(y, p):
    """Share of pairs (positive, negative) in the right order."""
    return (p[y > 0][:, None] > p[y == 0][None, :]).mean()


def test_exact_area_is_the_share_of_ordered_pairs(rng):
    y, p = data(rng, columns=1)
    assert fed(ROC(), y, p).calculate_auc() == pytest.approx(rank_area(y[:, 0], p[:, 0]))
    two = fed(ROC(), np.hstack([1 - y, y]), np.hstack([1 - p, p]))
    assert two.calculate_auc() == fed(ROC(), y, p).calculate_auc()


def test_redundant_points_do_not_change_areas(rng):
    y, p = data(rng, columns=1)
    few, all_ = fed(ROC(0), y, p), fed(ROC(0, False), y, p)
    assert few.get_roc_curve().num_points() < all_.get_roc_curve().num_points() == len(np.unique(p)) + 2
    assert few.calculate_auc() == pytest.approx(all_.calculate_auc())
    assert few.calculate_aucpr() == pytest.approx(all_.calculate_aucpr())


def test_many_steps_come_near_the_exact_area(rng):
    y, p = data(rng, columns=1)
    assert fed(ROC(1000), y, p).calculate_auc() == pytest.approx(fed(ROC(), y, p).calculate_auc(), abs=5e-3)


def columns(e):
    """The ROC of each column."""
    e = e.roc_binary if isinstance(e, EvaluationBinary) else e
    return [e] if isinstance(e, ROC) else e.underlying


IN_STEPS = {"one column": (ROC, 1), "two columns": (ROC, 2), "binary": (ROCBinary, 2), "classes": (ROCMultiClass, 2),
            "binary with ROC": (lambda steps: EvaluationBinary(2, steps), 2)}


@pytest.mark.parametrize(("kind", "width"), IN_STEPS.values(), ids=IN_STEPS)
def test_certain_predictions_in_steps(kind, width):
    """Values of DL4J: nothing is above the last threshold, so that curves end at recall 0."""
    y, p = np.array([0.0, 1, 1, 0, 1, 0]), np.array([0.0, 1, 1, 1, 0.5, 0.25])
    e = fed(kind(4), *(np.stack([a] * width, 1) for a in (y, p)))
    for roc in columns(e):
        assert (roc.true_positives.tolist(), roc.false_positives.tolist()) == ([3, 3, 3, 2, 0], [3, 2, 1, 1, 0])
        assert (roc.calculate_auc(), roc.calculate_aucpr()) == (pytest.approx(7 / 9), pytest.approx(19 / 24))
        steps = roc.document()["counts"]
        assert steps["1.0"] == {"threshold": 1.0, "countTruePositive": 0, "countFalsePositive": 0}
        assert steps["0.75"] == {"threshold": 0.75, "countTruePositive": 2, "countFalsePositive": 1}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("steps", [1, 2, 3, 7, 10, 25, 100])
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_curves_in_steps_end_where_nothing_is_positive(share, steps, dtype, rng):
    """Predictions on the thresholds, exactly 0, exactly 1 and beyond; labels of both classes or of one."""
    y = (rng.random((80, 1)) < share).astype(dtype)
    p = np.concatenate([np.full((20, 1), 1), np.zeros((20, 1)), rng.integers(0, steps + 1, (20, 1)) / steps,
                        rng.uniform(-0.5, 1.5, (20, 1))]).astype(dtype)
    roc = fed(ROC(steps), y, p)
    curve, pr = roc.get_roc_curve(), roc.get_precision_recall_curve()
    for i, threshold in enumerate(pr.threshold[:-1].astype(dtype)):
        assert (pr.tp_count[i], pr.fp_count[i]) == tuple(((p >= threshold) & (y == label)).sum() for label in (1, 0))
    assert (pr.tp_count[-1], pr.fp_count[-1], pr.precision[-1]) == (0, 0, 1)
    assert pr.recall[-1] == (0 if share else 1)
    assert curve.tpr[-1] == 0 or not share
    assert curve.fpr[-1] == 0 or share == 1
    assert ROC.from_json(roc.to_json()) == roc


@pytest.mark.parametrize("make", [ROC, lambda: ROC(20), ROCBinary, lambda: ROCMultiClass(20), EvaluationBinary,
                                  lambda: EvaluationBinary(1, 10), lambda: EvaluationCalibration(4, 6)])
def test_parts_merged_are_the_whole(rng, make):
    y, p = data(rng, columns=1)
    first, second, whole = fed(make(), y[:25], p[:25]), fed(make(), y[25:], p[25:]), fed(make(), y, p)
    first.merge(second)
    if isinstance(whole, EvaluationCalibration):
        for name in ("r_diag_bin_sum_predictions", "residual_plot_by_label_class", "label_counts_each_class"):
            np.testing.assert_allclose(getattr(first, name), getattr(whole, name))
    else:
        assert first == whole
    assert type(whole).from_json(whole.to_json()) == whole


def test_exact_rocs_from_json_have_their_curves_only(rng):
    y, p = data(rng, columns=1)
    read = ROC.from_json(fed(ROC(), y, p).to_json())
    with pytest.raises(ConfigurationError, match="curves only"):
        read.eval(y, p)
    with pytest.raises(ConfigurationError, match="curves only"):
        read.merge(fed(ROC(), y, p))
    with pytest.raises(ConfigurationError, match="steps"):
        read.merge(ROC(10))


def test_columns_and_masks(rng):
    y, p = data(rng)
    mask = rng.integers(0, 2, y.shape)
    e = fed(ROCBinary(), y, p, mask)
    for i in range(3):
        keep = mask[:, i] > 0
        assert e.calculate_auc(i) == pytest.approx(rank_area(y[keep, i], p[keep, i]))
    assert e.calculate_average_auc() == pytest.approx(np.mean([e.calculate_auc(i) for i in range(3)]))
    with pytest.raises(ShapeError, match="single outputs"):
        ROCMultiClass().eval(y, p, mask)
    with pytest.raises(ShapeError, match="ROCMultiClass"):
        ROC().eval(y, p)


def test_binary_counts(rng):
    y, p = data(rng)
    mask = rng.integers(0, 2, y.shape)
    e = fed(EvaluationBinary(), y, p, mask)
    for i in range(3):
        keep = mask[:, i] > 0
        predicted, actual = p[keep, i] > 0.5, y[keep, i] > 0
        assert e.true_positives(i) == (predicted & actual).sum()
        assert e.accuracy(i) == pytest.approx((predicted == actual).mean())
        assert e.total_count(i) == keep.sum()
    assert e.score_for_metric(EvaluationBinary.Metric.F1) == e.average_f1()
    assert e.score_for_metric(EvaluationBinary.Metric.FAR, 1) == e.false_alarm_rate(1)


def test_f1_of_mistakes_only():
    """Values of DL4J: 0 as soon as precision or recall is 0, whether or not the other is defined."""
    y, p = [[1, 0, 0, 1], [1, 0, 0, 1]], [[0.1, 0.9, 0.1, 0.9], [0.2, 0.8, 0.2, 0.8]]
    e = fed(EvaluationBinary(), y, p)
    np.testing.assert_array_equal([e.f1(i) for i in range(4)], [0, 0, np.nan, 1])
    np.testing.assert_array_equal([e.g_measure(i) for i in range(4)], [np.nan, np.nan, np.nan, 1])


def test_reports_round_halves_up():
    y, p = np.ones((32, 1)), np.arange(32)[:, None] < 13
    assert fed(EvaluationBinary(), y, p).stats().splitlines()[1].split()[1] == "0.4063"      # 13 / 32


def test_nan_behind_a_mask_is_no_error(rng):
    y, p = data(rng)
    mask = np.ones_like(p)
    p[0, 0], mask[0, 0] = np.nan, 0
    for e in (EvaluationBinary(), ROCBinary()):
        e.eval(y, p, mask)
        with pytest.raises(NumericalError, match="1 of the predictions"):
            e.eval(y, p)


def test_measures_need_data():
    for ask in (ROC().calculate_auc, lambda: ROCBinary().calculate_auc(0), lambda: EvaluationBinary().f1(0),
                EvaluationCalibration().get_residual_plot_all_classes):
        with pytest.raises(NumericalError, match="no evaluation"):
            ask()


def test_names_must_fit(rng):
    e = ROCBinary()
    e.set_label_names(["a", "b"])
    with pytest.raises(ShapeError, match="2 names"):
        e.eval(*data(rng))


def test_calibrated_probabilities_lie_on_the_diagonal(rng):
    p = rng.random((4000, 1))
    y = (rng.random((4000, 1)) < p).astype(np.float64)
    diagram = fed(EvaluationCalibration(), y, p).get_reliability_diagram(0)
    np.testing.assert_allclose(diagram.mean_predicted_value_x, diagram.fraction_positives_y, atol=0.1)


def test_bins_of_calibration():
    e = fed(EvaluationCalibration(2, 2, False), np.eye(2)[[0, 0]], [[0.5, 0.5], [1.0, 0.0]])
    assert e.get_probability_histogram(0).bin_counts.tolist() == [0, 2]      # a border belongs to the upper bin
    assert np.isnan(e.get_reliability_diagram(0).fraction_positives_y[0])
    assert e.get_label_counts_each_class().tolist() == [2, 0]
    assert e.get_probability_histogram(0).get_bin_upper_bounds().tolist() == [0.5, 1.0]
