"""Regularization terms: values, schedules, JSON, which replaces which."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training import (
    ApplyStep,
    ExponentialSchedule,
    FixedSchedule,
    L1Regularization,
    L2Regularization,
    Regularization,
    WeightDecay,
    with_regularization,
)

W, G = np.array([-2.0, 0.0, 3.0]), np.array([1.0, 1.0, 1.0])


def test_terms() -> None:
    np.testing.assert_allclose(L1Regularization(0.1).apply(np, W, G, 0.1), [0.9, 1, 1.1])
    np.testing.assert_allclose(L2Regularization(0.1).apply(np, W, G, 0.1), [0.8, 1, 1.3])
    np.testing.assert_allclose(WeightDecay(0.1, True).apply(np, W, G, 0.1, 0.5), [0.9, 1, 1.15])
    np.testing.assert_allclose(WeightDecay(0.1, False).apply(np, W, G, 0.1, 0.5), [0.8, 1, 1.3])
    assert L1Regularization(0.1).score(np, W, 0.1) == pytest.approx(0.5)
    assert L2Regularization(0.1).score(np, W, 0.1) == pytest.approx(0.65)
    assert WeightDecay(0.1, True).score(np, W, 0.1) == pytest.approx(0.65)
    assert L2Regularization.apply_step is ApplyStep.BEFORE_UPDATER
    assert WeightDecay.apply_step is ApplyStep.POST_UPDATER


def test_gradient_is_the_derivative_of_the_score() -> None:
    for term in (L1Regularization(0.3), L2Regularization(0.3)):
        w, h = np.array([-2.0, 3.0]), 1e-6
        numeric = [(term.score(np, w + h * e, 0.3) - term.score(np, w - h * e, 0.3)) / (2 * h) for e in np.eye(2)]
        np.testing.assert_allclose(term.apply(np, w, np.zeros(2), 0.3), numeric, rtol=1e-6)


def test_coefficients_are_schedules() -> None:
    assert L1Regularization(0.5).l1 == FixedSchedule(0.5)
    decaying = L2Regularization(ExponentialSchedule("ITERATION", 0.1, 0.5))
    assert decaying.coefficient(1, 0) == 0.05
    for term in (L1Regularization(0.5), decaying, WeightDecay(0.1, True)):
        assert Regularization.from_json(term.to_json()) == term
    assert '"applyLR" : true' in WeightDecay(0.1, True).to_json()


def test_l2_and_weight_decay_replace_each_other() -> None:
    l1, l2, decay = L1Regularization(0.3), L2Regularization(0.1), WeightDecay(0.2, True)
    assert with_regularization([l1, l2], decay) == [l1, decay]
    assert with_regularization([decay], l2) == [l2]
    assert with_regularization([l1], l2) == [l1, l2]
    assert with_regularization([l2], L2Regularization(0.5)) == [L2Regularization(0.5)]
    assert with_regularization([l1, l2], L1Regularization(0.0)) == [l2]
    with pytest.raises(ConfigurationError, match="negative"):
        with_regularization([], L1Regularization(-0.1))
