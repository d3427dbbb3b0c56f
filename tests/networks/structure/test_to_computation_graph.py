"""List networks as graphs, and networks in other types."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import layers as L
from dl4py.layers import LSTM, ConvolutionLayer, DenseLayer, InputType, OutputLayer, RnnOutputLayer, SubsamplingLayer
from dl4py.networks import BackpropType, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.structure.conversion import as_graph
from dl4py.samediff import Adam, DataType
from dl4py.samediff.errors import DataTypeError
from tests.helpers.networkcheck import network

RNG = np.random.default_rng(4)


def images():
    conf = (NeuralNetConfiguration.Builder().seed(2).updater(Adam(0.01)).mini_batch(False).activation("relu").list()
            .layer(ConvolutionLayer(n_out=3, kernel_size=(3, 3))).layer(SubsamplingLayer()).layer(DenseLayer(n_out=6, layer_name="dense"))
            .layer(OutputLayer(n_out=2)).set_input_type(InputType.convolutional(8, 8, 2)).build())
    return MultiLayerNetwork(conf).init()


def test_the_graph_goes_on_where_the_network_was():
    net = images()
    x, y = RNG.normal(size=(5, 2, 8, 8)), np.eye(2)[[0, 1, 1, 0, 1]]
    net.fit(x, y)
    graph = net.toComputationGraph()
    conf = graph.get_configuration()
    assert (conf.network_inputs, conf.network_outputs, list(conf.vertices)) == (("in",), ("3",), ["0", "1", "2", "3"])
    assert conf.vertex_inputs["2"] == ("1",) and conf.vertices["2"].pre_processor == net.get_configuration().input_pre_processors[2]
    assert graph.get_iteration_count() == 1 and not conf.default_configuration.mini_batch
    np.testing.assert_array_equal(graph.output(x)[0], net.output(x))
    for _ in range(3):
        net.fit(x, y)
        graph.fit(x, y)
    np.testing.assert_array_equal(graph.params(), net.params())
    np.testing.assert_array_equal(graph.updater_state(), net.updater_state())
    assert graph.score() == net.score()
    graph.set_params(graph.params() * 2)
    assert not np.array_equal(graph.params(), net.params())


def test_truncated_training_stays():
    conf = (NeuralNetConfiguration.Builder().seed(2).list().layer(LSTM(n_in=3, n_out=4)).layer(RnnOutputLayer(n_in=4, n_out=2))
            .backprop_type(BackpropType.TruncatedBPTT).tbptt_length(2).build())
    net = MultiLayerNetwork(conf).init()
    graph = net.to_computation_graph()
    x, y = RNG.normal(size=(2, 3, 6)), np.eye(2)[RNG.integers(0, 2, (2, 6))].transpose(0, 2, 1)
    net.fit(x, y)
    graph.fit(x, y)
    assert graph.get_iteration_count() == net.get_iteration_count() == 3
    np.testing.assert_array_equal(graph.params(), net.params())


@pytest.mark.parametrize("as_graph", [False, True])
def test_another_type(as_graph):
    net = images()
    x, y = RNG.normal(size=(4, 2, 8, 8)), np.eye(2)[[0, 1, 1, 0]]
    net.fit(x, y)
    net = net.to_computation_graph() if as_graph else net
    double = net.convert_data_type("DOUBLE")
    assert double.params().dtype == np.float64 and net.params().dtype == np.float32
    assert double.get_configuration().data_type is DataType.DOUBLE and double.get_iteration_count() == 1
    np.testing.assert_array_equal(double.params(), net.params())
    np.testing.assert_array_equal(double.updater_state(), net.updater_state())
    double.fit(x, y)
    net.fit(x, y)
    np.testing.assert_allclose(double.params(), net.params(), rtol=1e-3, atol=1e-5)
    assert net.convertDataType(DataType.FLOAT) is net
    assert double.convert_data_type("FLOAT").output(x)[0].dtype == np.float32
    with pytest.raises(DataTypeError, match="INT"):
        net.convert_data_type("INT")


def test_memory_of_a_network():
    text = images().memory_info(16, InputType.convolutional(8, 8, 2))
    assert "batches of 16" in text
    rows = dict(line.rsplit(None, 1) for line in text.splitlines()[2:])
    assert rows["Parameters"] == rows["Gradients"] == f"{images().params().nbytes:,}"
    assert rows["Updater state"] == f"{2 * images().params().nbytes:,}"
    assert rows["Activations of layer 'dense' (DenseLayer)"] == f"{16 * 6 * 4:,}"
    assert int(rows["Working memory of output()"].replace(",", "")) > 0
    graph = network(DenseLayer(n_in=3, n_out=2), OutputLayer(n_in=2, n_out=2)).to_computation_graph()
    assert "layer '0' (DenseLayer)" in graph.memory_info(2, InputType.feed_forward(3))


@pytest.mark.parametrize("made", [L.FrozenLayer(L.LSTM(n_in=3, n_out=2, layer_name="own")),
                                  L.LastTimeStep(L.Bidirectional(L.LSTM(n_in=3, n_out=2))),
                                  L.MaskZeroLayer(L.SimpleRnn(n_in=3, n_out=2, layer_name="own"), 0.0)], ids=lambda la: type(la).__name__)
def test_a_layer_and_those_inside_it_have_one_name(made):
    """In lists, graphs and lists that become graphs, as in DL4J."""
    def names(layer):
        inner = [getattr(layer, n) for n in ("underlying", "fwd", "bwd") if hasattr(layer, n)]
        return {layer.layer_name}.union(*map(names, inner))

    conf = NeuralNetConfiguration.Builder().list(made, L.OutputLayer(n_in=2, n_out=2)).build()
    assert names(conf.layers[0]) == {"layer0"}
    assert names(as_graph(conf).vertices["0"].layer) == {"0"}
    graph = NeuralNetConfiguration.Builder().graph_builder().add_inputs("in").add_layer("x", made, "in")
    assert names(graph.add_layer("out", L.OutputLayer(n_in=2, n_out=2), "x").set_outputs("out").build().vertices["x"].layer) == {"x"}
