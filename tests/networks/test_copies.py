"""Copies of networks by Python's own means, and what is said about labels of another form."""
from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from networkcheck import network

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork
from dl4py.samediff import DataSet
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.training import Adam, ScoreIterationListener

X = np.random.default_rng(3).normal(size=(6, 4))
Y = np.eye(3)[[0, 1, 2, 0, 1, 2]]
WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda net: pickle.loads(pickle.dumps(net))}


def trained():
    net = network(DenseLayer(n_in=4, n_out=5, updater=Adam(0.1)), OutputLayer(n_in=5, n_out=3, updater=Adam(0.1)))
    net.set_listeners(ScoreIterationListener(1000))
    net.fit(X, Y, epochs=3)
    return net


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["list", "graph"])
def test_copies_go_on_as_the_network_would(kind, way):
    net = trained() if kind == "list" else trained().to_computation_graph()
    net.fit(X, Y)
    other = WAYS[way](net)
    assert type(other) is type(net) and other == net and other.get_iteration_count() == net.get_iteration_count()
    before = net.params().copy()
    other.fit(X, Y)
    np.testing.assert_array_equal(net.params(), before)
    net.fit(X, Y)
    np.testing.assert_array_equal(other.params(), net.params())       # updater state and counters came along


def test_one_without_parameters_stays_so():
    net = MultiLayerNetwork(trained().get_configuration())
    other = pickle.loads(pickle.dumps(net))
    assert repr(other) == repr(net) == "<MultiLayerNetwork, not initialised>"


ONE = {"n_in": 4, "n_out": 1, "activation": "identity", "loss": "mse"}


@pytest.mark.parametrize("layer, labels, said", [
    (ONE, np.arange(6) / 6, r"labels.reshape\(-1, 1\) is such a column"),
    (ONE, np.arange(6) % 2 == 0, r"labels.reshape\(-1, 1\)"),
    (ONE, np.arange(6) % 2, r"class labels must lie in 0 … 0, got 0 … 1; for targets of the only output, give a column"),
    ({"n_in": 4, "n_out": 3}, np.arange(6)[:, None] % 3, r"np.eye\(classes\)\[labels.ravel\(\)\]"),
    ({"n_in": 4, "n_out": 3}, np.arange(6) % 3 / 1.0, r"np.eye\(classes\)\[labels.ravel\(\)\]"),
    ({"n_in": 4, "n_out": 3}, 3, "labels of the network must have an axis of examples"),
])
def test_labels_of_another_form_are_told_the_form(layer, labels, said):
    net = network(OutputLayer(**layer))
    with pytest.raises(DL4PyError, match=said):
        net.fit(X, labels)
    if np.ndim(labels) and np.asarray(labels).dtype.kind != "i":
        with pytest.raises(DL4PyError, match=said):
            net.score(DataSet(X, labels))


@pytest.mark.parametrize("call", [lambda n: n.rnn_time_step(True), lambda n: n.set_input(False), lambda n: n.fit(True, True)])
def test_truth_values_are_no_inputs(call):
    with pytest.raises(DL4PyError, match="must have an axis of examples, got (True|False|a single number)"):
        call(network(OutputLayer(n_in=4, n_out=3)))


