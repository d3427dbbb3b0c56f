"""Recurrent layers in front of row layers, and with activation functions of every kind."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    Bidirectional,
    FrozenLayer,
    FrozenLayerWithBackprop,
    GlobalPoolingLayer,
    GravesBidirectionalLSTM,
    GravesLSTM,
    IActivation,
    InputType,
    LastTimeStep,
    MaskZeroLayer,
    OutputLayer,
    RecurrentAttentionLayer,
    RnnOutputLayer,
    SimpleRnn,
    activation,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet


def net_of(*layers, size=2):
    builder = NeuralNetConfiguration.Builder().seed(3).updater("sgd").data_type("DOUBLE").list(*layers)
    return MultiLayerNetwork(builder.set_input_type(InputType.recurrent(size, 4)).build()).init()


def check_gradient(net, x, y, mask=None):
    data, before = DataSet(x, y, mask, None), net.params().copy()
    net.set_input(x)
    net.set_labels(y)
    net.set_layer_mask_arrays(mask, None)
    net.compute_gradient_and_score()
    gradient = net.gradient().gradient().copy().ravel() / len(x)
    for k in range(0, before.size, 7):
        step = np.zeros(before.size)
        step[k] = 1e-5
        scores = [net.set_params(before.ravel() + s) or net.score(data) for s in (step, -step)]
        assert gradient[k] == pytest.approx((scores[0] - scores[1]) / 2e-5, rel=1e-5, abs=1e-8)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", [LSTM, GravesLSTM, SimpleRnn])
def test_identity_activation(kind, rng):
    net = net_of(kind(n_out=3, activation="identity"), RnnOutputLayer(n_out=2, activation="identity", loss="mse"))
    check_gradient(net, rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2, 4)))


def test_labels_of_every_step_as_rows(rng):
    net = net_of(LSTM(n_out=3), OutputLayer(n_out=2, activation="identity", loss="mse"))
    same = net_of(LSTM(n_out=3), RnnOutputLayer(n_out=2, activation="identity", loss="mse"))
    x, y = rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2, 4))
    rows = y.transpose(2, 0, 1).reshape(12, 2)         # all examples of the first step, then those of the second ...
    assert net.score(DataSet(x, rows)) == pytest.approx(same.score(DataSet(x, y)) / 4)
    before = net.params().copy()
    same.set_input(x)
    same.set_labels(y)
    same.compute_gradient_and_score()
    net.fit(DataSet(x, rows))
    rate = net.get_layer_wise_configurations().get_conf(0).get_layer().updater.learning_rate
    np.testing.assert_allclose(before - net.params(), rate * same.gradient().gradient() / 12, rtol=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("masked", [False, True])
def test_simple_rnn_with_layer_normalization(masked, rng):
    net = net_of(SimpleRnn(n_out=3, has_layer_norm=True, activation="tanh"), RnnOutputLayer(n_out=2, activation="identity", loss="mse"))
    x, y = rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2, 4))
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]], float) if masked else None
    w, rw, b, g = (net.get_param(f"0_{k}") for k in ("W", "RW", "b", "g"))
    net.set_param("0_g", rng.normal(size=6))
    g = np.ravel(net.get_param("0_g"))

    def normalized(z):
        spread = z.std(1, keepdims=True)
        return np.where(spread == 0, 0, (z - z.mean(1, keepdims=True)) / np.where(spread == 0, 1, spread))

    h, wanted = np.zeros((3, 3)), []
    for t in range(4):
        h = np.tanh(normalized(x[:, :, t] @ w) * g[:3] + normalized(h @ rw) * g[3:] + np.ravel(b))
        h = h if mask is None else h * mask[:, t:t + 1]
        wanted.append(h)
    found = net.feed_forward(x, features_mask=mask)[1]
    np.testing.assert_allclose(found, np.stack(wanted, 2), atol=1e-12)
    data, before = DataSet(x, y, mask, mask), net.params().copy()
    net.set_input(x)
    net.set_labels(y)
    net.set_layer_mask_arrays(mask, mask)
    net.compute_gradient_and_score()
    gradient = net.gradient().gradient().copy().ravel() / len(x)
    net.clear_layer_mask_arrays()
    for k in range(before.size):
        step = np.zeros(before.size)
        step[k] = 1e-6
        scores = [net.set_params(before.ravel() + s) or net.score(data) for s in (step, -step)]
        assert gradient[k] == pytest.approx((scores[0] - scores[1]) / 2e-6, rel=1e-5, abs=1e-7)


def test_simple_rnn_with_an_activation_over_all_units(rng):
    net = net_of(SimpleRnn(n_out=3, activation="softmax"), RnnOutputLayer(n_out=2, activation="identity", loss="mse"))
    x = rng.normal(size=(3, 2, 4))
    steps = [net.rnn_time_step(x[:, :, t]) for t in range(4)]
    np.testing.assert_allclose(np.stack([np.reshape(s, (3, 2)) for s in steps], 2), net.output(x), atol=1e-12)
    np.testing.assert_allclose(net.feed_forward(x)[1].sum(1), 1, atol=1e-12)


@activation("tests.TanhInTwoOps")
class TanhInTwoOps(IActivation):
    """The hyperbolic tangent as 2 sigmoid(2 x) - 1."""

    def define(self, sd, x):
        return sd.nn.sigmoid(x * 2) * 2 - 1


RECURRENT = [lambda **k: LSTM(n_out=3, **k), lambda **k: GravesLSTM(n_out=3, **k), lambda **k: GravesBidirectionalLSTM(n_out=3, **k),
             lambda **k: LastTimeStep(LSTM(n_out=3, **k)), lambda **k: RecurrentAttentionLayer(n_out=4, n_heads=2, **k)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("layer", RECURRENT[:4])
def test_activations_of_several_ops_run_step_by_step(layer, rng):
    last = isinstance(layer(), LastTimeStep)
    head = (OutputLayer if last else RnnOutputLayer)(n_out=2, activation="identity", loss="mse")
    one, several = (net_of(layer(activation=a), head) for a in ("tanh", TanhInTwoOps()))
    several.set_params(one.params())
    x, y = rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2) if last else (3, 2, 4))
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0.0]])
    (gradient, below), (same, same_below) = (n.calculate_gradients(x, y, mask, None) for n in (one, several))
    np.testing.assert_allclose(several.output(x), one.output(x), atol=1e-12)
    np.testing.assert_allclose(same.gradient(), gradient.gradient(), atol=1e-12)
    np.testing.assert_allclose(same_below, below, atol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("layer", [*RECURRENT[:3], RECURRENT[4]])
def test_softmax_inside_a_recurrent_layer(layer, rng):
    net = net_of(layer(activation="softmax"), RnnOutputLayer(n_out=2, activation="identity", loss="mse"))
    check_gradient(net, rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2, 4)))


def last_of(inner):
    return net_of(LastTimeStep(inner), OutputLayer(n_out=2, activation="softmax", loss="mcxent"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", [LSTM, GravesLSTM, SimpleRnn])
def test_last_step_of_both_directions_starts_behind_the_padding(kind, rng):
    net, x = last_of(Bidirectional(kind(n_out=3))), rng.normal(size=(2, 2, 4))
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0.]])
    found = net.output(x, False, mask, None)
    np.testing.assert_allclose(found[:1], net.output(x[:1, :, :3]), rtol=1e-12)
    np.testing.assert_allclose(found[1:], net.output(x[1:, :, :2]), rtol=1e-12)


@pytest.mark.parametrize("wrapper", [FrozenLayer, FrozenLayerWithBackprop])
def test_a_frozen_lstm_in_front_of_the_last_step_sees_the_mask(wrapper, rng):
    x, mask = rng.normal(size=(2, 2, 4)), np.array([[0, 1, 1, 1], [1, 0, 1, 0.]])
    found = last_of(wrapper(LSTM(n_out=3))).output(x, False, mask, None)
    np.testing.assert_allclose(found, last_of(LSTM(n_out=3)).output(x, False, mask, None), rtol=1e-12)
    assert abs(found - last_of(LSTM(n_out=3)).output(x)).max() > 1e-3


@pytest.mark.sampled(2)
@pytest.mark.parametrize("masked", [False, True])
def test_gradient_of_the_last_step_of_both_directions(masked, rng):
    net, x, y = last_of(Bidirectional(LSTM(n_out=2))), rng.normal(size=(2, 2, 4)), np.eye(2)
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0.]]) if masked else None
    check_gradient(net, x, y, mask)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("inner", [LSTM, GravesLSTM, GravesBidirectionalLSTM])
def test_gradient_where_a_mask_has_gaps(inner, rng):
    net, mask = last_of(inner(n_out=2)), np.array([[0, 1, 1, 1], [1, 0, 1, 0.]])
    check_gradient(net, rng.normal(size=(2, 2, 4)), np.eye(2), mask)


@pytest.mark.parametrize("pooling", ["MAX", "AVG", "SUM", "PNORM"])
def test_pooling_over_time_takes_the_mask_in_both_orders(pooling, rng):
    x, mask = rng.normal(size=(2, 2, 4)), np.array([[1, 1, 1, 0], [1, 1, 0, 0.]])
    scores = []
    for order in ("NCW", "NWC"):
        layers = LSTM(n_out=3, rnn_data_format=order), GlobalPoolingLayer(pooling_type=pooling), OutputLayer(n_out=2)
        conf = NeuralNetConfiguration.Builder().seed(3).data_type("DOUBLE").list(*layers).set_input_type(InputType.recurrent(2, 4, order))
        series = x if order == "NCW" else x.transpose(0, 2, 1)
        scores.append(MultiLayerNetwork(conf.build()).init().score(DataSet(series, np.eye(2), mask, None)))
    assert scores[0] == pytest.approx(scores[1])


@pytest.mark.parametrize("kind", [LSTM, SimpleRnn])
def test_zero_mask_reaches_through_wrappers(kind, rng):
    x = rng.normal(size=(2, 2, 4))
    x[0, :, 3] = x[1, :, 0] = 0
    outer, inner = last_of(MaskZeroLayer(Bidirectional(kind(n_out=3)))), last_of(Bidirectional(MaskZeroLayer(kind(n_out=3))))
    np.testing.assert_array_equal(outer.output(x), inner.output(x))
    np.testing.assert_allclose(outer.output(x)[:1], last_of(Bidirectional(kind(n_out=3))).output(x[:1, :, :3]), rtol=1e-12)


@pytest.mark.plans
@pytest.mark.sampled(30)
@pytest.mark.parametrize("masked", [False, True], ids=["", "masked"])
@pytest.mark.parametrize("function", ["sigmoid", "softsign", "elu", "cube"])
@pytest.mark.parametrize("kind", [LSTM, GravesLSTM, GravesBidirectionalLSTM, SimpleRnn])
def test_any_activation_runs_natively_as_the_reference_says(kind, function, masked, rng, monkeypatch):
    def net():
        builder = NeuralNetConfiguration.Builder().seed(3).updater("sgd").list(
            kind(n_out=3, activation=function), RnnOutputLayer(n_out=2, activation="softmax", loss="mcxent"))
        return MultiLayerNetwork(builder.set_input_type(InputType.recurrent(2, 4)).build()).init()
    x, y = rng.normal(size=(3, 2, 4)), np.eye(2)[rng.integers(0, 2, (3, 4))].transpose(0, 2, 1)
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]], float) if masked else None
    data = DataSet(x, y, mask, mask)
    trained, reference = net(), net()
    assert "steps called from Python: 0" in str(trained.explain(data))
    for _ in range(3):
        trained.fit(data)
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    for _ in range(3):
        reference.fit(data)
    np.testing.assert_allclose(trained.params(), reference.params(), rtol=1e-5, atol=1e-6)
