"""Recurrent layers in front of row layers, and with activation functions of every kind."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    GravesBidirectionalLSTM,
    GravesLSTM,
    IActivation,
    InputType,
    LastTimeStep,
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


def check_gradient(net, x, y):
    data, before = DataSet(x, y), net.params().copy()
    net.set_input(x)
    net.set_labels(y)
    net.compute_gradient_and_score()
    gradient = net.gradient().gradient().copy().ravel() / len(x)
    for k in range(0, before.size, 7):
        step = np.zeros(before.size)
        step[k] = 1e-5
        scores = [net.set_params(before.ravel() + s) or net.score(data) for s in (step, -step)]
        assert gradient[k] == pytest.approx((scores[0] - scores[1]) / 2e-5, rel=1e-5, abs=1e-8)


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


@pytest.mark.parametrize("layer", [*RECURRENT[:3], RECURRENT[4]])
def test_softmax_inside_a_recurrent_layer(layer, rng):
    net = net_of(layer(activation="softmax"), RnnOutputLayer(n_out=2, activation="identity", loss="mse"))
    check_gradient(net, rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2, 4)))
