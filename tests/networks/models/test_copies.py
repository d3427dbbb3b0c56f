"""Copies of networks by Python's own means, and what is said about labels of another form."""
from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork
from dl4py.samediff import DataSet
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.training import Adam, ScoreIterationListener
from tests.helpers.networkcheck import network

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
    ({"n_in": 4, "n_out": 3}, np.arange(6)[:, None] / 2, r"np.eye\(classes\)\[labels.ravel\(\)\]"),
    ({"n_in": 4, "n_out": 3}, np.arange(6) / 2, r"whole numbers in 0 … 2; got 0.5 in row 1"),
    ({"n_in": 4, "n_out": 3}, 3, "labels of the network must have an axis of examples"),
])
def test_labels_of_another_form_are_told_the_form(layer, labels, said):
    net = network(OutputLayer(**layer))
    with pytest.raises(DL4PyError, match=said):
        net.fit(X, labels)
    if np.ndim(labels) and np.asarray(labels).dtype.kind != "i":
        with pytest.raises(DL4PyError, match=said):
            net.score(DataSet(X, labels))


@pytest.mark.parametrize("labels", [np.arange(6) / 6, np.arange(6) % 2 == 0, np.arange(6) % 2, list(range(6))])
@pytest.mark.parametrize("as_graph", [False, True])
def test_labels_in_one_row_are_a_column_of_the_only_output(labels, as_graph):
    net = network(OutputLayer(**ONE))
    net = net.to_computation_graph() if as_graph else net
    other = net.clone()
    column = np.asarray(labels, np.float64).reshape(-1, 1)
    net.fit(X, labels)
    other.fit(X, column)
    np.testing.assert_array_equal(net.params(), other.params())
    assert net.score(X, labels) == other.score(DataSet(X, column)) == net.score((X, np.asarray(labels))) \
        == net.score(DataSet(X, np.asarray(labels)))
    assert net.evaluate_regression(X, np.asarray(labels)).stats() == other.evaluate_regression(DataSet(X, column)).stats()


@pytest.mark.parametrize("as_graph", [False, True])
def test_class_numbers_are_labels_of_every_call(as_graph):
    net = network(OutputLayer(n_in=4, n_out=3, activation="softmax", loss="mcxent"))
    net = net.to_computation_graph() if as_graph else net
    classes, other = np.arange(6) % 3, net.clone()
    data = DataSet(X, np.eye(3, dtype=np.float32)[classes])
    net.fit(X, classes)
    other.fit(data)
    np.testing.assert_array_equal(net.params(), other.params())
    assert net.score(X, classes) == net.score(data)
    wanted = net.evaluate(data)
    for found in (net.evaluate(X, classes), net.evaluate(X, list(classes)), net.evaluate((X, classes)), net.evaluate(X, data.labels)):
        assert found.stats() == wanted.stats()
    assert net.evaluate_roc_multi_class(X, classes).calculate_average_auc() == net.evaluate_roc_multi_class(data).calculate_average_auc()
    assert net.evaluate(data, ["a", "b", "c"]).stats() != wanted.stats()
    assert net.evaluate_binary(X, classes).stats() == net.evaluate_binary(data).stats()
    assert net.evaluate_calibration(X, classes).stats() == net.evaluate_calibration(data).stats()
    assert net.f1_score(X, classes) == net.f1_score(data) == wanted.f1()
    np.testing.assert_array_equal(net.score_examples(X, classes), net.score_examples(data))
    with pytest.raises(DL4PyError, match="NoneType"):
        net.score(data, None)
    with pytest.raises(DL4PyError, match=r"0 … 2; got 3 in row 3"):
        net.evaluate(X, np.arange(6) % 4)


@pytest.mark.parametrize("call", [lambda n: n.rnn_time_step(True), lambda n: n.set_input(False), lambda n: n.fit(True, True)])
def test_truth_values_are_no_inputs(call):
    with pytest.raises(DL4PyError, match="must have an axis of examples, got (True|False|a single number)"):
        call(network(OutputLayer(n_in=4, n_out=3)))


