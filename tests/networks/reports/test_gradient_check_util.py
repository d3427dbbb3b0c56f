"""Gradients of networks against differences, under DL4J's name."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py import GradientCheckUtil
from dl4py.layers import BatchNormalization, DenseLayer, OutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.errors import ConfigurationError, DataTypeError, OutOfRangeError, UnknownNameError
from dl4py.samediff.training import Adam, NoOp, Sgd

X = np.random.default_rng(0).normal(size=(5, 3))
Y = np.eye(2)[np.arange(5) % 2]


def network(updater: Any = None, data_type: str = "double", activation: Any = "tanh", **options: Any) -> MultiLayerNetwork:
    general = NeuralNetConfiguration.Builder().seed(1).data_type(data_type).updater(updater or NoOp()).l1(0.02).l2(0.01)
    dense = DenseLayer(n_in=3, n_out=4, activation=activation, **options)
    return MultiLayerNetwork(general.list(dense, OutputLayer(n_in=4, n_out=2)).build())


def graph() -> ComputationGraph:
    return ComputationGraph(
        NeuralNetConfiguration.Builder().seed(1).data_type("double").updater(NoOp()).graph_builder().add_inputs("a", "b")
        .add_layer("d", DenseLayer(n_in=3, n_out=2), "a").add_layer("e", DenseLayer(n_in=3, n_out=2), "b")
        .add_layer("n", BatchNormalization(n_in=4, n_out=4), "d", "e").add_layer("o", OutputLayer(n_in=4, n_out=2), "n")
        .set_outputs("o").build()).init()


def check(*arguments: Any) -> bool:
    return GradientCheckUtil.checkGradients(*arguments)


config = GradientCheckUtil.MLNConfig


@pytest.mark.parametrize("right", [
    lambda: check(network(), 1e-6, 1e-3, 1e-8, False, True, X, Y),
    lambda: check(network(i_dropout=0.5), 1e-6, 1e-3, 1e-8, False, True, X, Y, None, np.ones((5, 1)), True, 4, {"0_W"}, 12345),
    lambda: check(config().net(network(Sgd(1.0))).input(X).labels(Y).epsilon(1e-5).maxRelError(1e-3).subset(True).maxPerParam(2)
                  .print(GradientCheckUtil.PrintMode.FAILURES_ONLY).excludeParams({"1_b"})),
    lambda: GradientCheckUtil.check_gradients(network(), inputs=X, labels=Y, exit_on_first_error=True),
    lambda: check(GradientCheckUtil.GraphConfig().net(graph()).inputs([X, 2 * X]).labels([Y]).subset(True).maxPerParam(3)),
], ids=["positions", "all positions", "configuration", "names", "graph"])
def test_right_gradients(right):
    assert right()


def test_parameters_stay_as_they_are():
    net = network().init()
    before = np.array(net.params())
    assert check(net, 1e-6, 1e-3, 1e-8, False, True, X, Y) and np.array_equal(before, net.params())


def test_every_number_is_told(caplog):
    with caplog.at_level("INFO", "dl4py.training"):
        assert not check(network(), 1e-2, 1e-12, 1e-20, False, False, X, Y)
    assert "0_W[2, 3] FAILED: gradient" in caplog.text and "26 numbers checked, 0 right, 26 wrong" in caplog.text
    caplog.clear()
    with caplog.at_level("INFO", "dl4py.training"):
        assert not check(network(), 1e-2, 1e-12, 1e-20, False, True, X, Y)
    assert caplog.text.count("FAILED") == 1


@pytest.mark.parametrize("act, error, said", [
    (lambda: check(network(data_type="float"), 1e-6, 1e-3, 1e-8, False, True, X, Y), DataTypeError, "FLOAT"),
    (lambda: check(network(Adam()), 1e-6, 1e-3, 1e-8, False, True, X, Y), ConfigurationError, "0_W.*Adam"),
    (lambda: check(network(Sgd(0.1)), 1e-6, 1e-3, 1e-8, False, True, X, Y), ConfigurationError, "0.1"),
    (lambda: check(network(), 0.2, 1e-3, 1e-8, False, True, X, Y), OutOfRangeError, "epsilon"),
    (lambda: check(network(), 1e-6, 0.3, 1e-8, False, True, X, Y), OutOfRangeError, "max_rel_error"),
    (lambda: check(config().net(network()).input(X).labels(Y).excludeParams({"0_V"})), UnknownNameError, "0_W"),
    (lambda: check(config().net(network()).input(X)), ConfigurationError, "labels"),
    (lambda: check(config().input(X).labels(Y)), ConfigurationError, "network"),
    (lambda: GradientCheckUtil.check_gradients(network(), epsilom=1), Exception, "epsilon"),
], ids=lambda one: one if isinstance(one, str) else "")
def test_what_is_refused(act, error, said):
    with pytest.raises(error, match=said):
        act()
