"""RegressionEvaluation against the textbook formulas."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.errors import NumericalError, ShapeError
from dl4py.samediff.evaluation import RegressionEvaluation


def fed(y, p, mask=None, *args):
    e = RegressionEvaluation(*args)
    e.eval(y, p, mask)
    return e


def data(rng, n=50):
    y = rng.normal(size=(n, 2)) * [1.0, 5.0] + [0.0, 2.0]
    return y, y + rng.normal(size=(n, 2)) * 0.3


def test_formulas(rng):
    y, p = data(rng)
    e = fed(y, p)
    for i in range(2):
        residual, variation = p[:, i] - y[:, i], ((y[:, i] - y[:, i].mean()) ** 2).sum()
        assert e.mean_squared_error(i) == pytest.approx((residual ** 2).mean())
        assert e.mean_absolute_error(i) == pytest.approx(np.abs(residual).mean())
        assert e.root_mean_squared_error(i) == pytest.approx(np.sqrt((residual ** 2).mean()))
        assert e.relative_squared_error(i) == pytest.approx((residual ** 2).sum() / variation)
        assert e.r_squared(i) == pytest.approx(1 - (residual ** 2).sum() / variation)
        assert e.pearson_correlation(i) == pytest.approx(np.corrcoef(y[:, i], p[:, i])[0, 1])
    assert e.average_mean_squared_error() == pytest.approx(((p - y) ** 2).mean())
    assert e.score_for_metric(RegressionEvaluation.Metric.R2) == e.average_r_squared()


def test_parts_merged_are_the_whole(rng):
    y, p = data(rng)
    first, second, empty, whole = fed(y[:20], p[:20]), fed(y[20:], p[20:]), RegressionEvaluation(), fed(y, p)
    first.merge(second)
    empty.merge(first)
    for e in (first, empty):
        assert e.r_squared(0) == pytest.approx(whole.r_squared(0))
        assert e.pearson_correlation(1) == pytest.approx(whole.pearson_correlation(1))
    assert empty == first


def test_masks(rng):
    y, p = data(rng)
    mask = rng.integers(0, 2, y.shape)
    e = fed(y, np.where(mask, p, np.nan), mask)
    for i in range(2):
        keep = mask[:, i] > 0
        alone = fed(y[keep, i], p[keep, i])
        assert e.mean_squared_error(i) == pytest.approx(alone.mean_squared_error(0))
        assert e.r_squared(i) == pytest.approx(alone.r_squared(0))


def test_error_of_one_row_is_not_negative():
    assert fed([[1.0]], [[0.5]]).mean_absolute_error(0) == 0.5


def test_names_and_precision():
    e = fed([[1.0, 2.0], [2.0, 1.0]], [[1.0, 2.5], [2.5, 1.0]], None, ["a", "b"], 2)
    head, first, *_ = e.stats().split("\n")
    assert head.startswith("Column") and first.split()[:2] == ["a", "1.25e-01"]
    assert RegressionEvaluation("a", "b").column_names == ["a", "b"]
    with pytest.raises(ShapeError, match="2 columns"):
        e.eval(np.ones((3, 3)), np.ones((3, 3)))


def test_no_data():
    e = RegressionEvaluation()
    assert e.stats() == "RegressionEvaluation: No Data" and e.num_columns() == 0
    assert np.isnan(e.score_for_metric(RegressionEvaluation.Metric.MSE))
    with pytest.raises(NumericalError):
        e.mean_squared_error(0)
    assert RegressionEvaluation.from_json(e.to_json()) == e


def test_which_metrics_are_to_be_small():
    small = {m.name for m in RegressionEvaluation.Metric if m.minimize()}
    assert small == {"MSE", "MAE", "RMSE", "RSE"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("masked", [False, True])
def test_labels_far_from_zero_keep_their_digits(parts, masked, dtype):
    rng = np.random.default_rng(5)
    y = (1e8 if dtype is np.float64 else 1e4) + rng.normal(size=(90, 2))
    p = y + 0.1 * rng.normal(size=(90, 2))
    y, p, mask = y.astype(dtype), p.astype(dtype), rng.random((90, 2)) < 0.7
    e = RegressionEvaluation()
    for k in np.array_split(np.arange(90), parts):
        part = RegressionEvaluation()
        part.eval(y[k], p[k], mask[k].astype(dtype) if masked else None)
        e.merge(part)
    for i in range(2):
        seen = mask[:, i] if masked else slice(None)
        a, b = y[seen, i].astype(np.float64), p[seen, i].astype(np.float64)
        share = ((a - b) ** 2).sum() / ((a - a.mean()) ** 2).sum()
        assert e.pearson_correlation(i) == pytest.approx(np.corrcoef(a, b)[0, 1], rel=1e-5)
        assert e.r_squared(i) == pytest.approx(1 - share, rel=1e-5) and e.relative_squared_error(i) == pytest.approx(share, rel=1e-5)
