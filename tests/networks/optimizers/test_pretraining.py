"""Layer-wise pretraining."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import AutoEncoder, DenseLayer, InputType, OutputLayer, RnnOutputLayer, TimeDistributed, VariationalAutoencoder
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet
from dl4py.samediff.errors import ConfigurationError, GraphError
from dl4py.samediff.training import (
    AdaDelta,
    AdaGrad,
    AMSGrad,
    CheckpointListener,
    EvaluativeListener,
    InMemoryStatsStorage,
    Listener,
    Nesterovs,
    PerformanceListener,
    RmsProp,
    ScoreIterationListener,
    StatsListener,
)
from tests.helpers.networkcheck import network

X = np.random.default_rng(3).uniform(size=(6, 4))


def stacked(corruption=0.0):
    return network(DenseLayer(n_in=4, n_out=5), AutoEncoder(n_in=5, n_out=3, corruption_level=corruption, activation="sigmoid"),
                   OutputLayer(n_in=3, n_out=2))


def test_only_the_layer_itself_changes_by_its_rule():
    net = stacked()
    before = {n: a.copy() for n, a in net.param_table().items()}
    inside = net.feed_forward(X)[1]
    net.pretrain_layer(1, X)
    def sigmoid(z):
        return 1 / (1 + np.exp(-z))
    w, b, vb = (before[f"1_{n}"].reshape(-1) if n != "W" else before["1_W"] for n in ("W", "b", "vb"))
    y = sigmoid(inside @ w + b)
    error = inside - sigmoid(y @ w.T + vb)
    hidden = error @ w * y * (1 - y)
    wanted = before | {"1_W": w - 0.1 / 6 * (inside.T @ hidden + error.T @ y), "1_b": b - 0.1 / 6 * hidden.sum(0),
                       "1_vb": vb - 0.1 / 6 * error.sum(0)}
    for name, array in net.param_table().items():
        np.testing.assert_allclose(array.reshape(-1), wanted[name].reshape(-1), rtol=1e-9)
    assert (net.get_iteration_count(), net.score()) == (0, 0)


def test_series_are_pretrained_as_the_rows_of_their_steps():
    made = AutoEncoder(n_out=3, corruption_level=0.0, activation="sigmoid", l2=0.3)
    series = np.random.default_rng(4).normal(size=(2, 4, 5))
    one = network(made, RnnOutputLayer(n_out=2, activation="softmax"), input_type=InputType.recurrent(4, 5))
    other = network(made, OutputLayer(n_out=2, activation="softmax"), input_type=InputType.feed_forward(4))
    other.set_params(one.params())
    one.pretrain_layer(0, series)
    other.pretrain_layer(0, series.transpose(2, 0, 1).reshape(10, 4))
    np.testing.assert_allclose(one.params(), other.params(), rtol=1e-12)


def test_pretrain_takes_data_sets_and_epochs():
    one, other = stacked(0.3), stacked(0.3)
    one.pretrain([DataSet(X, X)], 2)
    other.pretrain_layer(1, X)
    other.pretrain_layer("layer1", X)
    np.testing.assert_array_equal(one.params(), other.params())
    untouched = one.params()
    one.pretrain_layer(0, X)
    np.testing.assert_array_equal(one.params(), untouched)
    with pytest.raises(ConfigurationError, match="epochs"):
        one.pretrain(X, 0)


class Heard(Listener):
    def __init__(self):
        self.calls = []

    def on_gradient_calculation(self, model):
        self.calls.append(("gradient", model.get_config().n_out, sorted(model.gradient().gradient_for_variable())))

    def iteration_done(self, model, iteration, epoch):
        self.calls.append(("done", iteration, epoch, model.score()))

    def on_epoch_start(self, model):
        self.calls.append("epoch")


def test_listeners_hear_the_layer_as_in_dl4j(tmp_path, capsys):
    net, heard, storage = stacked(), Heard(), InMemoryStatsStorage()
    with pytest.raises(GraphError, match="was not pretrained"):
        net.get_layer(1).gradient()
    net.set_listeners(heard, ScoreIterationListener(1), StatsListener(storage), PerformanceListener(1),
                      CheckpointListener(tmp_path, save_every_n_iterations=1, save_every_n_epochs=1),
                      EvaluativeListener(DataSet(X, np.eye(2)[[0, 1] * 3]), 1))
    net.pretrain([DataSet(X, X)] * 2, 2)
    layer = net.get_layer(1)
    assert [c[0] for c in heard.calls] == ["gradient", "done"] * 4
    assert heard.calls[0][1:] == (3, ["W", "b", "vb"])
    assert [c[1:3] for c in heard.calls[1::2]] == [(i, 0) for i in range(4)]
    assert heard.calls[-1][3] == layer.score() and (layer.get_iteration_count(), layer.get_epoch_count()) == (4, 0)
    assert capsys.readouterr().err.count("Score at iteration") == 4
    assert len(storage.records()) == 4 and set(storage.records()[-1]["gradients"]) == {"W", "b", "vb"}
    assert not list(tmp_path.iterdir())         # there is no network to save at these moments


def test_what_only_pretraining_moves_can_be_left_out():
    """Numbers of DL4J 1.0.0-M2.1."""
    conf = (NeuralNetConfiguration.Builder().l2(0.1).l2_bias(0.2).seed(1).list(
        VariationalAutoencoder(n_in=5, n_out=2, encoder_layer_sizes=(4,), decoder_layer_sizes=(3,)),
        OutputLayer(n_in=2, n_out=2, activation="identity", loss="mse")).build())
    for net in (MultiLayerNetwork(conf).init(), MultiLayerNetwork(conf).init().to_computation_graph()):
        size = net.params().size
        net.set_params(np.arange(size) * np.float32(0.01))
        assert (size, net.params(True).size, net.num_params(False), net.num_params(True)) == (99, 99, 99, 40)
        assert [n.partition("_")[2] for n in net.param_table(True)] == ["e0W", "e0b", "pZXMeanW", "pZXMeanb", "W", "b"]
        assert net.calc_regularization_score() == net.calc_regularization_score(True) == pytest.approx(0.451239978303034, rel=1e-6)
        assert net.calc_regularization_score(False) == pytest.approx(2.147960022411251, rel=1e-6)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("updater", [RmsProp(0.1), AdaGrad(0.1), AdaDelta(), Nesterovs(0.1, 0.9), AMSGrad(0.1)], ids=str)
@pytest.mark.parametrize("layer, left", [
    (AutoEncoder(n_out=3), {"0_vb"}),
    (VariationalAutoencoder(n_out=3, encoder_layer_sizes=(5,), decoder_layer_sizes=(4,)),
     {"0_d0W", "0_d0b", "0_pXZW", "0_pXZb", "0_pZXLogStd2W", "0_pZXLogStd2b"}),
], ids=["AutoEncoder", "VariationalAutoencoder"])
def test_steps_leave_alone_what_only_pretraining_moves(updater, layer, left):
    net = network(layer.replace(n_in=4, l2=0.1, updater=updater), OutputLayer(n_in=3, n_out=2, updater=updater))
    net.engine.flat.state[...] = 0.5
    before = {n: a.copy() for n, a in net.param_table().items()}
    labels = np.eye(2)[[0, 1, 0, 1, 1, 0]]
    for _ in range(3):
        net.fit(X, labels)
    states = net.engine.flat.state_by_parameter()
    assert {n for n, own in states.items() if all((a == 0.5).all() for a in own.values())} == left
    assert {n for n, a in net.param_table().items() if (a == before[n]).all()} == left
    updates = [s for s in net.profile(DataSet(X, labels), steps=1).steps if s.phase == "update"]
    assert {n for s in updates for n in s.members} == before.keys() - left


def test_a_wrapper_does_not_move_them_either():
    net = network(TimeDistributed(AutoEncoder(n_in=4, n_out=3, updater=RmsProp(0.1))), RnnOutputLayer(n_in=3, n_out=2))
    net.engine.flat.state[...] = 0.5
    net.fit(X.reshape(2, 3, 4).transpose(0, 2, 1), np.eye(2)[[[0, 1, 0], [1, 1, 0]]].transpose(0, 2, 1))
    found = {name: float(own["G"].max()) for name, own in net.engine.flat.state_by_parameter().items() if own}
    assert found["0_vb"] == 0.5 and found["0_W"] != 0.5
