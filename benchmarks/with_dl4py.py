"""The workloads in dl4py, through the public API of networks."""
from __future__ import annotations

import itertools
from collections.abc import Callable

from data import Workload, batches, weights

from dl4py.layers import ConvolutionLayer, DenseLayer, InputType, OutputLayer, SubsamplingLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet
from dl4py.samediff.training import Adam


def network(kind: str) -> MultiLayerNetwork:
    """The network with the common initial weights."""
    builder = NeuralNetConfiguration.Builder().seed(1).updater(Adam(1e-3)).list()
    if kind == "mlp":
        builder.layer(DenseLayer(n_in=784, n_out=256, activation="relu")).layer(OutputLayer(n_in=256, n_out=10))
        names = {"W1": "0_W", "bW1": "0_b", "W2": "1_W", "bW2": "1_b"}
    else:
        builder.layer(ConvolutionLayer(kernel_size=(5, 5), n_out=20, activation="relu"))
        builder.layer(SubsamplingLayer(kernel_size=(2, 2), stride=(2, 2)))
        builder.layer(ConvolutionLayer(kernel_size=(5, 5), n_out=50, activation="relu"))
        builder.layer(SubsamplingLayer(kernel_size=(2, 2), stride=(2, 2)))
        builder.layer(DenseLayer(n_out=500, activation="relu")).layer(OutputLayer(n_out=10))
        builder.set_input_type(InputType.convolutional(28, 28, 1))
        names = {"K1": "0_W", "bK1": "0_b", "K2": "2_W", "bK2": "2_b", "W1": "4_W", "bW1": "4_b", "W2": "5_W", "bW2": "5_b"}
    net = MultiLayerNetwork(builder.build()).init()
    for name, value in weights(kind).items():
        net.set_param(names[name], value)
    return net


def make(workload: Workload) -> tuple[Callable[[], object], Callable[[], float]]:
    """One step as a call without arguments, and what gives the score of the first batch."""
    net = network(workload.network)
    data = [DataSet(x, y) for x, y in batches(workload)]
    turn = itertools.cycle(data)
    if workload.train:
        return lambda: net.fit(next(turn)), lambda: net.score(data[0])
    inputs = itertools.cycle([d.get_features() for d in data])
    return lambda: net.output(next(inputs)), lambda: net.score(data[0])
