"""Listeners that watch the speed count the examples of each batch."""
import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet
from dl4py.samediff.training import PerformanceListener


def net_of(kind):
    layers = DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3)
    if kind == "list":
        return MultiLayerNetwork(NeuralNetConfiguration.Builder().list(*layers).build()).init()
    graph = NeuralNetConfiguration.Builder().graph_builder().add_inputs("in").add_layer("a", layers[0], "in").add_layer("b", layers[1], "a")
    return ComputationGraph(graph.set_outputs("b").build()).init()


@pytest.mark.parametrize("kind", ["list", "graph"])
@pytest.mark.parametrize("given", ["arrays", "data set", "data sets"])
def test_samples_are_counted(kind, given, capsys):
    net, listener = net_of(kind), PerformanceListener(1)
    net.set_listeners(listener)
    x, y = np.ones((6, 4), np.float32), np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1, 2]]
    for _ in range(3):
        net.fit(*{"arrays": (x, y), "data set": (DataSet(x, y),), "data sets": ([DataSet(x, y)] * 2,)}[given])
    assert listener.last_samples_per_sec == pytest.approx(6 * listener.last_batches_per_sec)
    assert "samples/sec: 0.000" not in capsys.readouterr().err
