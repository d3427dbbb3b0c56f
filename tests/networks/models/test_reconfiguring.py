"""Other settings, gradients and updater states for a network; its end."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import BatchNormalization, DenseLayer, OutputLayer
from dl4py.layers.functions.constraints import MaxNormConstraint
from dl4py.networks import CacheMode, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import Adam, DataSet, Evaluation
from dl4py.samediff.errors import ConfigurationError, GraphError, UnknownNameError
from tests.helpers.networkcheck import network

RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(6, 4)), np.eye(2)[[0, 1, 1, 0, 1, 0]]


def adam(rate=0.1, n_out=3, dtype="DOUBLE"):
    conf = (NeuralNetConfiguration.Builder().seed(1).data_type(dtype).updater(Adam(rate)).list().layer(DenseLayer(n_in=4, n_out=n_out))
            .layer(OutputLayer(n_in=n_out, n_out=2)).build())
    return MultiLayerNetwork(conf).init()


def test_other_settings():
    net, other = adam(), adam(0.01)
    net.fit(X, Y)
    other.fit(X, Y)
    other.set_params(net.params())
    other.set_updater(net.get_updater())
    net.setLayerWiseConfigurations(other.get_configuration())
    assert net.get_learning_rate(0) == 0.01 and net.get_iteration_count() == 1
    assert net.conf().layer == other.conf().layer
    for one in (net, other):
        one.fit(X, Y)
    np.testing.assert_array_equal(net.params(), other.params())
    np.testing.assert_array_equal(net.updater_state(), other.updater_state())
    kept = net.get_configuration()
    for wrong, message in ((adam(n_out=5), "other parameters"), (adam(dtype="FLOAT"), "convert_data_type"),
                           (net.to_computation_graph(), "ComputationGraphConfiguration")):
        with pytest.raises(ConfigurationError, match=message):
            net.set_configuration(wrong.get_configuration())
    assert net.get_configuration() == kept
    with pytest.raises(ConfigurationError, match="state of"):
        net.set_updater(adam(n_out=5).get_updater())
    fresh = MultiLayerNetwork(kept)
    fresh.set_configuration(other.get_configuration())
    assert not fresh.is_init_called()


def test_cache_mode_is_noted():
    net = adam()
    net.set_cache_mode("DEVICE")
    assert net.get_configuration().cache_mode is CacheMode.DEVICE
    net.setCacheMode(None)
    assert net.get_configuration().cache_mode is CacheMode.NONE


def test_what_is_divided_by_the_number_of_examples():
    net = network(DenseLayer(n_in=4, n_out=3), BatchNormalization(n_out=3), OutputLayer(n_in=3, n_out=2))
    assert net.updater_divide_by_minibatch("0_W") and not net.updaterDivideByMinibatch("1_mean")
    with pytest.raises(UnknownNameError):
        net.updater_divide_by_minibatch("7_W")


def test_constraints_between_steps():
    short = MaxNormConstraint(max_norm=1.0, params=["W"], dimensions=[0])
    net = network(DenseLayer(n_in=4, n_out=3, constraints=[short]), OutputLayer(n_in=3, n_out=2))
    net.set_params(np.full(net.num_params(), 2.0))
    net.apply_constraints()
    np.testing.assert_allclose(np.linalg.norm(net.get_param("0_W"), axis=0), 1.0, rtol=1e-5)
    assert (net.get_param("1_W") == 2).all()


def test_evaluations_by_hand():
    net = adam()
    evaluation = Evaluation()
    net.do_evaluation_helper(DataSet(X, Y), evaluation)
    assert evaluation.accuracy() == net.evaluate(DataSet(X, Y)).accuracy()


def test_update_of_another_size():
    net, other = adam(), adam(n_out=5)
    other.set_input(X)
    other.set_labels(Y)
    other.compute_gradient_and_score()
    with pytest.raises(ConfigurationError, match=f"{net.num_params()} parameters"):
        net.update(other.gradient())


def test_a_closed_network_says_so():
    net = adam()
    net.close()
    for use in (lambda: net.output(X), lambda: net.fit(X, Y), net.params, net.init):
        with pytest.raises(GraphError, match="was closed"):
            use()
