"""Updaters that look at whole parameters: LARS and LAMB as a user writes them."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import DenseLayer, InputType, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import SameDiff
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.training import Adam, RatedUpdater, TrainingConfig


def ratio(xp, a, b):
    top, bottom = xp.sqrt((a * a).sum()), xp.sqrt((b * b).sum())
    return xp.where((top > 0) & (bottom > 0), top / xp.where(bottom > 0, bottom, 1), 1)


@configuration("test_whole.Lars")
class Lars(RatedUpdater):
    """Momentum on gradients that are as long as their parameter."""
    state_names = ("V",)
    learning_rate: float = 0.1
    momentum: float = 0.5

    def before_step(self, xp, param, gradient):
        return gradient * ratio(xp, param, gradient)

    def step(self, xp, gradient, state, hyper):
        v = self.momentum * state[0] + hyper[0] * gradient
        return v, (v,)


@configuration("test_whole.Lamb")
class Lamb(Adam):
    """Adam whose step is as long as the parameter, times the rate."""

    def after_step(self, xp, param, update):
        return update * ratio(xp, param, update) * self.learning_rate


def network(updater, dtype="DOUBLE"):
    conf = (NeuralNetConfiguration.Builder().seed(1).data_type(dtype).updater(updater).list(DenseLayer(n_out=4), DenseLayer(n_out=4),
                                                                                           OutputLayer(n_out=2))
            .set_input_type(InputType.feed_forward(3)).build())
    return MultiLayerNetwork(conf).init()


X, Y = np.random.default_rng(0).normal(size=(6, 3)), np.eye(2)[[0, 1, 0, 1, 1, 0]]


@pytest.mark.parametrize("updater", [Lars(), Lamb(0.05)])
@pytest.mark.parametrize("dtype", ["DOUBLE", "FLOAT"])
def test_each_parameter_moves_by_its_own_length(updater, dtype):
    net = network(updater, dtype)
    before = {n: a.copy() for n, a in net.param_table().items()}
    net.fit(X, Y)
    rate = 0.1 if isinstance(updater, Lars) else 0.05
    for name, a in net.param_table().items():
        length = np.linalg.norm(before[name])
        if length:
            assert np.linalg.norm(a - before[name]) == pytest.approx(rate * length, rel=1e-5), name


def test_files_and_copies(tmp_path):
    net = network(Lars())
    net.fit(X, Y)
    net.save(tmp_path / "n.zip")
    again = MultiLayerNetwork.load(tmp_path / "n.zip")
    for one in (net, again):
        one.fit(X, Y)
    np.testing.assert_array_equal(net.params(), again.params())
    score = net.score()
    net.fit([(X, Y)] * 20)
    assert net.score() < score


def test_in_graphs():
    sd = SameDiff.create()
    w = sd.var("w", np.array([3.0, 4.0]))
    (w * sd.placeholder("x", "DOUBLE", 2)).sum("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(updater=Lars(), data_set_feature_mapping=["x"], data_set_label_mapping=[]))
    sd.fit([{"x": np.array([0.0, 2.0])}])
    np.testing.assert_allclose(sd.variable("w").get_arr(), [3.0, 4.0 - 0.1 * 5])


def test_on_a_device():
    host, other = network(Lars(), "FLOAT"), network(Lars(), "FLOAT").to("emulated")
    for net in (host, other):
        net.fit([(X, Y)] * 2)
    np.testing.assert_allclose(other.params(), host.params(), rtol=1e-4, atol=1e-6)
