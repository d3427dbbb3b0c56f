"""Regularization terms: values, schedules, JSON, which replaces which."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import Adam, AdaMax, DataSet, DataType, ListDataSetIterator, Nesterovs, RmsProp, SameDiff, Sgd
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training import (
    ApplyStep,
    ExponentialSchedule,
    FixedSchedule,
    InverseSchedule,
    L1Regularization,
    L2Regularization,
    MapSchedule,
    Regularization,
    StepSchedule,
    TrainingConfig,
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


#: Two epochs of six batches, of which a network takes some in one native call.
STEPS = range(12)
RATES = {
    "iterations": (ExponentialSchedule("ITERATION", 0.5, 0.7), [0.5 * 0.7 ** k for k in STEPS]),
    "epochs": (ExponentialSchedule("EPOCH", 0.5, 0.7), [0.5] * 6 + [0.35] * 6),
    "steps": (StepSchedule("ITERATION", 0.4, 0.5, 2), [0.4 * 0.5 ** (k // 2) for k in STEPS]),
    "a map": (MapSchedule("ITERATION", {0: 0.1, 1: 0.3, 4: 0.2}), [0.1] + [0.3] * 3 + [0.2] * 8),
    "fixed": (0.25, [0.25] * 12),
}
COEFFICIENTS = {"fixed": (0.2, [0.2] * 12), "a schedule": (InverseSchedule("ITERATION", 0.2, 1.0, 1.0), [0.2 / (1 + k) for k in STEPS])}


def decayed(start, rates, coefficients, apply_lr):
    """What is left of weights without a gradient, in plain arithmetic."""
    for rate, c in zip(rates, coefficients):
        start = start - start * c * (rate if apply_lr else 1.0)
    return start


@pytest.fixture(params=[Sgd, Adam, Nesterovs, RmsProp, AdaMax], ids=lambda u: u.__name__)
def updater(request):
    return request.param


@pytest.mark.sampled(18)
@pytest.mark.parametrize("apply_lr", [True, False])
@pytest.mark.parametrize("c", COEFFICIENTS)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("way", ["one by one", "in one go"])
def test_decay_of_a_network_follows_the_rate(rate, c, apply_lr, updater, way) -> None:
    """Inputs of 0 give weights no gradient."""
    (schedule, rates), (coefficient, coefficients) = RATES[rate], COEFFICIENTS[c]
    decay = WeightDecay(coefficient, apply_lr)
    builder = NeuralNetConfiguration.Builder().seed(1).data_type("DOUBLE").updater(updater(learning_rate=schedule)).list()
    builder = builder.layer(DenseLayer(n_in=3, n_out=4, regularization=[decay])).layer(OutputLayer(n_in=4, n_out=2))
    net = MultiLayerNetwork(builder.build()).init()
    start = np.array(net.get_param("0_W"))
    batches = [DataSet(np.zeros((5, 3)), np.eye(2)[[0, 1, 1, 0, 0]]) for _ in range(6)]
    for _ in range(2):
        if way == "in one go":
            net.fit(batches)
        else:
            for batch in batches:
                net.fit(batch)
            net.set_epoch_count(net.get_epoch_count() + 1)
    np.testing.assert_allclose(net.get_param("0_W"), decayed(start, rates, coefficients, apply_lr), rtol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("apply_lr", [True, False])
@pytest.mark.parametrize("c", COEFFICIENTS)
@pytest.mark.parametrize("rate", RATES)
def test_decay_of_a_graph_follows_the_rate(rate, c, apply_lr, updater) -> None:
    (schedule, rates), (coefficient, coefficients) = RATES[rate], COEFFICIENTS[c]
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.DOUBLE, -1, 3), sd.placeholder("y", DataType.DOUBLE, -1)
    start = np.array([1.0, -2.0, 0.5])
    w = sd.var("w", start)
    sd.loss.mean_squared_error("loss", y, (x * w).sum(1))
    sd.set_training_config(TrainingConfig(updater=updater(learning_rate=schedule), regularization=[WeightDecay(coefficient, apply_lr)],
                                          data_set_feature_mapping=["x"], data_set_label_mapping=["y"]))
    sd.fit(ListDataSetIterator([DataSet(np.zeros((1, 3)), np.zeros(1)) for _ in range(6)], 1), 2)
    np.testing.assert_allclose(w.get_arr(), decayed(start, rates, coefficients, apply_lr), rtol=1e-12)
