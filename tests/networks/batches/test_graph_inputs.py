"""Inputs, labels and masks that are set one by one, and the numbers of vertices."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import DenseLayer, MergeVertex, OutputLayer
from dl4py.networks import ComputationGraph, NeuralNetConfiguration
from dl4py.samediff.errors import GraphError
from tests.helpers.networkcheck import network

RNG = np.random.default_rng(8)
A, B = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 3))
Y, Z = np.eye(2)[[0, 1, 1, 0]], np.eye(3)[[0, 1, 2, 0]]


def graph():
    conf = (NeuralNetConfiguration.Builder().seed(1).data_type("DOUBLE").graph_builder().add_inputs("a", "b")
            .add_layer("y", OutputLayer(n_in=5, n_out=2), "both").add_layer("z", OutputLayer(n_in=5, n_out=3), "both")
            .add_vertex("both", MergeVertex(), "a", "b").set_outputs("y", "z").build())
    return ComputationGraph(conf).init()


def test_inputs_and_labels_one_by_one():
    net, other = graph(), graph()
    net.set_input(1, B)
    with pytest.raises(GraphError, match="not set: a"):
        net.get_inputs()
    assert net.get_input(0) is None and np.shares_memory(net.get_input(1), B)
    with pytest.raises(GraphError, match="set_inputs first"):
        net.set_label(0, Y)
    net.setInput(0, A)
    net.set_label(1, Z)
    net.set_label(0, Y)
    other.set_inputs(A, B)
    other.set_labels(Y, Z)
    for one in (net, other):
        one.compute_gradient_and_score()
    assert net.score() == other.score()
    np.testing.assert_array_equal(net.gradient().gradient(), other.gradient().gradient())
    assert [x.shape for x in net.get_inputs()] == [(4, 2), (4, 3)]
    np.testing.assert_array_equal(net.feed_forward()["y"], net.output(A, B)[0])
    net.set_input(0, A + 1)
    np.testing.assert_array_equal(net.get_input(0), A + 1)
    net.clear()
    assert net.get_input(1) is None
    with pytest.raises(GraphError, match="input 2 does not exist; the graph has 2"):
        net.set_input(2, A)


def test_masks():
    net = graph()
    assert net.get_input_mask_arrays() is None and net.get_label_mask_arrays() is None
    net.set_layer_mask_arrays(None, [np.ones((4, 1)), None])
    assert net.get_input_mask_arrays() is None and net.getLabelMaskArrays()[0].shape == (4, 1)
    single = network(DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2))
    assert single.get_mask_array() is None
    single.set_layer_mask_arrays(labels_mask=np.array([[1.0], [0], [0], [0]]))
    single.set_mask_array(None)
    single.set_input(A)
    single.set_labels(Y)
    single.compute_gradient_and_score()
    masked = single.gradient().gradient().copy()
    single.clear()
    single.set_input(A[:1])
    single.set_labels(Y[:1])
    single.compute_gradient_and_score()
    np.testing.assert_allclose(single.gradient().gradient(), masked)


def test_numbers_of_vertices():
    net = graph()
    assert net.topological_sort_order() == [0, 1, 4, 2, 3]
    indices = net.calculateIndices()
    assert indices.name_to_idx == {"a": 0, "b": 1, "y": 2, "z": 3, "both": 4} and indices.idx_to_name[4] == "both"
    assert net.get_vertices() == [net.get_vertex(n) for n in ("y", "z", "both")]


def test_activations():
    net = network(DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2))
    with pytest.raises(GraphError, match="set_input"):
        net.activate()
    net.set_input(A)
    for found in (net.activate(), net.activate(False), net.activate(A), net.activate(A, True)):
        np.testing.assert_allclose(found, net.output(A))
    assert net.getnLayers() == 2
