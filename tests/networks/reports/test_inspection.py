"""Questions about layers, and runs of some of them."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import ComputationGraph, NeuralNetConfiguration
from dl4py.samediff import DataSet
from dl4py.samediff.errors import DataTypeError, GraphError
from tests.helpers.networkcheck import network

X = np.random.default_rng(3).normal(size=(6, 4))


def dense():
    return network(DenseLayer(n_in=4, n_out=5, layer_name="hidden"), DenseLayer(n_in=5, n_out=7), OutputLayer(n_in=7, n_out=3))


def test_activations_of_some_layers():
    net = dense()
    layers = net.feed_forward(X)
    np.testing.assert_array_equal(net.activate_selected_layers(0, 2, X), layers[3])
    np.testing.assert_array_equal(net.activateSelectedLayers(1, 1, layers[1]), layers[2])
    np.testing.assert_array_equal(net.activate_selected_layers(1, 2, layers[1]), layers[3])
    net.set_params(net.params() * 2)
    np.testing.assert_array_equal(net.activate_selected_layers(0, 0, X), net.feed_forward(X)[1])
    with pytest.raises(GraphError, match="2 to 1"):
        net.activate_selected_layers(2, 1, X)


def test_layers_and_their_sizes():
    net = dense()
    assert net.is_init_called() and net.get_layer_names() == ["hidden", "layer1", "layer2"]
    assert net.get_layers()[1] == net.get_layer(1) and net.getOutputLayer() == net.get_layer(2)
    assert (net.layer_size("hidden"), net.layer_input_size(1), net.num_labels()) == (5, 5, 3)
    assert net.get_default_configuration().seed == 7
    with pytest.raises(GraphError):
        net.layer_size(3)


def test_layers_of_a_graph():
    conf = (NeuralNetConfiguration.Builder().graph_builder().add_inputs("in").add_layer("d", DenseLayer(n_in=4, n_out=5), "in")
            .add_layer("out", OutputLayer(n_in=5, n_out=3), "d").set_outputs("out").build())
    net = ComputationGraph(conf)
    assert not net.is_init_called()
    net.init()
    assert (net.layer_size("d"), net.get_num_layers(), net.get_output_layer(0).n_out) == (5, 2, 3)


def test_rows_of_different_length_are_no_data():
    with pytest.raises(DataTypeError, match="rows of different length|one length"):
        DataSet([[1, 2], [3]], np.ones((2, 1)))


def graph():
    builder = NeuralNetConfiguration.Builder().graph_builder().add_inputs("in")
    builder.add_layer("first", DenseLayer(n_in=4, n_out=5), "in").add_layer("out", OutputLayer(n_in=5, n_out=3), "first")
    return ComputationGraph(builder.set_outputs("out").build()).init()


@pytest.mark.parametrize("made, names", [(dense, ["hidden", "1", "2"]), (graph, ["first", "out"])])
def test_a_network_is_a_sequence_of_its_layers(made, names):
    net = made()
    layers = [net.get_layer(name) for name in names]
    assert len(net) == len(layers)
    assert bool(net)
    assert list(net) == net.layers == net[:] == layers
    assert [net[i] for i in range(len(layers))] == [net[np.int64(i - len(layers))] for i in range(len(layers))] == layers
    assert net[1:] == layers[1:]
    assert net[::-1] == layers[::-1]
    assert net[names[0]] == layers[0]
    assert names[0] in net and layers[1] in net and "none" not in net and 3 not in net
    np.testing.assert_array_equal(net(X), net.output(X)[0] if made is graph else net.output(X))


@pytest.mark.parametrize("made", [dense, graph])
@pytest.mark.parametrize("ask", ["__getitem__", "get_layer"])
def test_layers_that_do_not_exist(made, ask):
    net = made()
    for place in (3, -4, 99):
        with pytest.raises(IndexError, match="does not exist") as found:
            getattr(net, ask)(place)
        assert isinstance(found.value, GraphError)
    with pytest.raises(KeyError, match="hiddn|first"):
        getattr(net, ask)("hiddn")
    with pytest.raises(GraphError, match="whole number"):
        getattr(net, ask)(1.5)


def test_a_graph_with_several_outputs_gives_a_list():
    builder = NeuralNetConfiguration.Builder().graph_builder().add_inputs("in")
    for name in ("a", "b"):
        builder.add_layer(name, OutputLayer(n_in=4, n_out=3), "in")
    net = ComputationGraph(builder.set_outputs("a", "b").build()).init()
    for got, want in zip(net(X), net.output(X), strict=True):
        np.testing.assert_array_equal(got, want)
