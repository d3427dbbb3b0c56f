"""Masks of every shape, in every evaluation: an extent of 1 counts for the whole axis, what is masked might be missing."""
from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dl4py.samediff.errors import ShapeError
from dl4py.samediff.evaluation import (
    ROC,
    CustomEvaluation,
    Evaluation,
    EvaluationBinary,
    EvaluationCalibration,
    RegressionEvaluation,
    ROCBinary,
    ROCMultiClass,
)

OUTPUTS = 2
PER_OUTPUT = {"regression": RegressionEvaluation, "binary": EvaluationBinary, "binary with ROC": lambda: EvaluationBinary(OUTPUTS, 4),
              "ROC": ROCBinary, "ROC in steps": lambda: ROCBinary(4)}
PER_ROW = {"classes": Evaluation, "ROC": ROC, "ROC in steps": lambda: ROC(4), "classes against the rest": ROCMultiClass,
           "the same in steps": lambda: ROCMultiClass(4), "calibration": lambda: EvaluationCalibration(4, 6)}
SHAPES = [((5, OUTPUTS), 1), ((5, OUTPUTS, 4), 1), ((5, 4, OUTPUTS), 2), ((3, OUTPUTS, 2, 4), 1), ((3, 2, 4, OUTPUTS), 3)]
EXTENTS = [(shape, axis, ones) for shape, axis in SHAPES for ones in product((False, True), repeat=len(shape))]
NAMES = [f"{shape}, {axis}, {''.join('1' if one else 'n' for one in ones)}" for shape, axis, ones in EXTENTS]


def data(rng, shape, axis):
    labels = np.eye(OUTPUTS)[rng.integers(0, OUTPUTS, shape[:axis] + shape[axis + 1:])]
    return np.moveaxis(labels, -1, axis), rng.random(shape)


def given(rng, shape, ones):
    """A mask with an extent of 1 along some axes."""
    return rng.integers(0, 2, [1 if one else n for one, n in zip(ones, shape)]).astype(float)


def fed(make, axis, *arrays):
    e = make()
    e.axis = axis
    e.eval(*arrays)
    return e


def by_column(e):
    """What a report says of each column, as far as one is independent of the other."""
    if isinstance(e, RegressionEvaluation):
        return [[of(i) for of in (e.mean_squared_error, e.mean_absolute_error, e.r_squared)] for i in range(OUTPUTS)]
    if isinstance(e, EvaluationBinary):
        areas = [[]] * OUTPUTS if e.roc_binary is None else by_column(e.roc_binary)
        return [[e.true_positives(i), e.false_positives(i), e.true_negatives(i), e.false_negatives(i), *areas[i]] for i in range(OUTPUTS)]
    return [[e.count_actual_positive(i), e.count_actual_negative(i), e.calculate_auc(i), e.calculate_aucpr(i)] for i in range(OUTPUTS)]


@pytest.mark.parametrize("make", PER_OUTPUT.values(), ids=PER_OUTPUT)
@pytest.mark.parametrize(("shape", "axis", "ones"), EXTENTS, ids=NAMES)
def test_masks_of_outputs(make, shape, axis, ones, rng):
    y, p = data(rng, shape, axis)
    mask = given(rng, shape, ones)
    whole = np.broadcast_to(mask, shape)
    e = fed(make, axis, y, np.where(whole, p, np.nan), mask)
    np.testing.assert_allclose(by_column(e), by_column(fed(make, axis, y, p, whole.copy())))
    for i in range(OUTPUTS):
        kept = np.take(whole, i, axis).ravel() > 0
        columns = [np.take(a, i, axis).ravel()[kept] for a in (y, p)]
        alone = fed(make, 1, *(np.repeat(column[:, None], OUTPUTS, 1) for column in columns))
        if kept.any():
            np.testing.assert_allclose(by_column(e)[i], by_column(alone)[0])


@pytest.mark.parametrize(("shape", "axis", "ones"), EXTENTS, ids=NAMES)
def test_functions_get_whole_masks(shape, axis, ones, rng):
    y, p = data(rng, shape, axis)
    mask = given(rng, shape, ones)
    kept = []
    fed(lambda: CustomEvaluation(lambda *rows: kept.append(rows) or 0.0), axis, y, p, mask)
    labels, predictions, per_output = kept[0]
    assert labels.shape == predictions.shape
    assert per_output is None or per_output.shape == labels.shape
    counted = labels.size if per_output is None else per_output.sum()
    assert counted == np.broadcast_to(mask, shape).sum()


@pytest.mark.parametrize("make", PER_ROW.values(), ids=PER_ROW)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_masks_of_rows(make, shape, axis, rng):
    y, p = data(rng, shape, axis)
    mask = given(rng, shape[:axis] + shape[axis + 1:], [False] * (len(shape) - 1))
    rows = [np.moveaxis(a, axis, -1)[mask > 0] for a in (y, p)]
    hidden = np.where(np.expand_dims(mask, axis), p, np.nan)
    assert fed(make, axis, y, hidden, mask).stats() == fed(make, 1, *rows).stats()
    if len(shape) == 2:
        assert fed(make, axis, y, hidden, mask[:, None]).stats() == fed(make, 1, *rows).stats()
    none = fed(make, axis, y, hidden, mask)
    none.eval(y, np.full_like(p, np.nan), np.zeros_like(mask))       # a batch that is masked out changes nothing
    assert none.stats() == fed(make, axis, y, hidden, mask).stats()


@pytest.mark.parametrize("make", PER_ROW.values(), ids=PER_ROW)
@pytest.mark.parametrize(("shape", "axis", "ones"), EXTENTS, ids=NAMES)
def test_masks_of_outputs_are_refused(make, shape, axis, ones, rng):
    mask = given(rng, shape, ones)
    if mask.shape != (shape[0], 1):      # that is a mask of rows
        with pytest.raises(ShapeError, match="not of single outputs"):
            fed(make, axis, *data(rng, shape, axis), mask)


@pytest.mark.parametrize("make", [*PER_OUTPUT.values(), *PER_ROW.values()])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_masks_that_do_not_fit(make, shape, axis, rng):
    for wrong in ((shape[0] + 1, *shape[1:]), (*shape, 1), (shape[0] + 1,), (2,) * len(shape)):
        with pytest.raises(ShapeError, match="a mask for labels of shape"):
            fed(make, axis, *data(rng, shape, axis), np.ones(wrong))


def test_a_column_that_is_masked_out(rng):
    y, p = data(rng, (6, OUTPUTS), 1)
    for steps in (0, 4):
        e = fed(lambda: EvaluationBinary(OUTPUTS, steps), 1, y, p, np.array([[1.0, 0.0]]))  # noqa: B023
        assert e.total_count(0) == 6
        assert e.total_count(1) == 0
        assert e.stats().splitlines()[2].split()[-1] == "NaN"
        assert np.isnan(e.roc_binary.calculate_aucpr(1))
        assert np.isnan(e.roc_binary.calculate_average_auc())
        assert not np.isnan(e.roc_binary.calculate_auc(0))


@pytest.mark.parametrize("axis", [1, 2])
def test_a_batch_of_one_and_a_step_of_one(axis, rng):
    """Shapes whose own extents are 1."""
    for shape in ((1, OUTPUTS, 1), (1, OUTPUTS, 4), (3, OUTPUTS, 1)):
        y, p = (np.moveaxis(a, 1, axis) for a in data(rng, shape, 1))
        for mask in (np.ones((shape[0], shape[2])), np.ones(y.shape), np.ones((1, 1, 1)), None):
            found, whole = (by_column(fed(EvaluationBinary, axis, y, p, m)) for m in (mask, None))
            assert found == whole
