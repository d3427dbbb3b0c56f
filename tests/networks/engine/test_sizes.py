"""Layers of users see the sizes of what a network is given, all but the number of examples."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import BaseLayer, ConvolutionLayer, DenseLayer, InputType, OutputLayer, RnnOutputLayer, SameDiffLoss, layer, loss
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import SameDiff
from dl4py.udf import user_op

SEEN: list[tuple[int, ...]] = []


@layer("sizes.Seen")
class Seen(BaseLayer):
    def output_type(self, input_type):
        return input_type

    def define_layer(self, sd, x, params, mask):
        SEEN.append(x.get_shape())
        return x * 1


@layer("sizes.Places")
class Places(BaseLayer):
    """(batch, c, h, w) -> (batch, c h w), in the order of places, by products of sizes."""

    def output_type(self, input_type):
        return InputType.feed_forward(input_type.array_elements_per_example())

    def define_layer(self, sd, x, params, mask):
        _, c, h, w = x.get_shape()
        return sd.reshape(sd.permute(sd.reshape(x, -1, c, h * w), 0, 2, 1), -1, c * h * w)


@loss("sizes.Halves")
class Halves(SameDiffLoss):
    def define_loss(self, sd, layer_input, labels):
        half = labels.get_shape()[1] // 2
        return sd.math.square((labels - layer_input)[:, :half]).sum(1)


@user_op("sizes.halves")
def halves(xp, x):
    return x[:, :x.shape[1] // 2] + x[:, x.shape[1] // 2:]


@pytest.mark.parametrize("kind, shape", [
    (InputType.convolutional(4, 3, 6), (2, 6, 4, 3)), (InputType.convolutional3d(2, 3, 4, 5), (2, 5, 2, 3, 4)),
    (InputType.recurrent(5), (2, 5, 7)), (InputType.feed_forward(3), (2, 3))])
@pytest.mark.parametrize("graph", [False, True])
def test_all_sizes_but_the_batch_are_known(kind, shape, graph):
    builder = NeuralNetConfiguration.Builder().seed(1)
    if graph:
        conf = (builder.graph_builder().add_inputs("in").set_input_types(kind).add_layer("seen", Seen(), "in").set_outputs("seen").build())
        net = ComputationGraph(conf).init()
    else:
        net = MultiLayerNetwork(builder.list().layer(Seen()).set_input_type(kind).build()).init()
    for batch in (2, 3):
        SEEN.clear()
        net.output(np.zeros((batch, *shape[1:]), np.float32))
        assert SEEN in ([(-1, *shape[1:])], [])           # another batch needs no other graph


def network():
    conf = (NeuralNetConfiguration.Builder().seed(1).list().layer(ConvolutionLayer(n_out=4, kernel_size=(2, 2))).layer(Places())
            .layer(DenseLayer(n_out=4)).layer(OutputLayer(n_out=2)).set_input_type(InputType.convolutional(4, 5, 2)).build())
    return MultiLayerNetwork(conf).init()


def test_products_of_sizes_train_and_are_known_after_loading(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(6, 2, 4, 5)), np.eye(2)[[0, 1, 1, 0, 1, 0]]
    net = network()
    net.fit(x, y)
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    np.testing.assert_array_equal(net.output(x), again.output(x))
    for n in (net, again):
        n.fit(x[:3], y[:3])
    np.testing.assert_array_equal(net.params(), again.params())


def test_series_of_another_length_and_losses_that_ask_for_sizes():
    conf = (NeuralNetConfiguration.Builder().seed(1).list().layer(Seen())
            .layer(RnnOutputLayer(n_out=4, activation="identity", loss_function=Halves())).set_input_type(InputType.recurrent(3)).build())
    net = MultiLayerNetwork(conf).init()
    for steps in (5, 2):
        SEEN.clear()
        net.fit(np.ones((2, 3, steps)), np.zeros((2, 4, steps)))
        assert set(SEEN) == {(-1, 3, steps)}


def test_networks_of_built_in_layers_keep_one_graph_for_all_sizes():
    conf = (NeuralNetConfiguration.Builder().seed(1).list().layer(ConvolutionLayer(n_in=1, n_out=2, kernel_size=(2, 2))).build())
    net = MultiLayerNetwork(conf).init()
    for size in (4, 5):
        net.output(np.zeros((1, 1, size, size)))
    assert len(net.engine.graphs.plain) == 1


def test_open_sizes_of_a_graph_have_a_gradient():
    sd = SameDiff.create()
    x = sd.placeholder("x", "DOUBLE", -1, -1)
    sd.set_loss_variables((halves("y", x) ** 2).sum().rename("loss"))
    a = np.arange(8.0).reshape(2, 4)
    np.testing.assert_array_equal(sd.calculate_gradients({"x": a}, "x")["x"], np.tile(2 * (a[:, :2] + a[:, 2:]), 2))
