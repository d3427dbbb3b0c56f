"""Gradients for given gradients of the outputs, against differences."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import LSTM, BatchNormalization, ConvolutionLayer, DenseLayer, DropoutLayer, InputType, MergeVertex, OutputLayer
from dl4py.networks import ComputationGraph, NeuralNetConfiguration
from dl4py.samediff import Adam, Sgd
from dl4py.samediff.errors import GraphError, ShapeError
from tests.helpers.networkcheck import network

RNG = np.random.default_rng(6)


def differences(function, array, step=1e-6):
    wanted = np.zeros(array.size)
    for i in range(array.size):
        sides = []
        for sign in (1, -1):
            moved = array.copy().reshape(-1)
            moved[i] += sign * step
            sides.append(function(moved.reshape(array.shape)))
        wanted[i] = (sides[0] - sides[1]) / (2 * step)
    return wanted.reshape(array.shape)


CASES = {
    "dense": ([DenseLayer(n_in=4, n_out=5), DenseLayer(n_in=5, n_out=3, activation="identity")], None, (6, 4)),
    "images": ([ConvolutionLayer(n_out=2, kernel_size=(2, 2)), DenseLayer(n_out=3)], InputType.convolutional(4, 4, 2), (3, 2, 4, 4)),
    "series": ([LSTM(n_in=3, n_out=4), LSTM(n_in=4, n_out=2)], None, (2, 3, 5)),
    "output layer": ([DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3)], None, (6, 4)),
    "dropout": ([DenseLayer(n_in=4, n_out=5), DropoutLayer(0.5), DenseLayer(n_in=5, n_out=3)], None, (6, 4)),
    "batch normalization": ([DenseLayer(n_in=4, n_out=5), BatchNormalization(n_out=5), DenseLayer(n_in=5, n_out=3)], None, (6, 4)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_a_list(name):
    layers, input_type, shape = CASES[name]
    net = network(*layers, input_type=input_type)
    x = RNG.normal(size=shape)
    net.set_input(x)
    outside = RNG.normal(size=net.feed_forward(train=True)[-1].shape)

    def loss(params=None, x=x):
        net.set_params(start if params is None else params)
        net.set_input(x)
        return float((net.feed_forward(train=True)[-1] * outside).sum())

    start = net.params()
    gradient, below = net.backprop_gradient(outside)
    found, moving = gradient.gradient().copy(), np.ones(start.size, bool)
    at = 0
    for slot in net.engine.parameters.slots:
        moving[at:at + slot.size] = slot.scaled         # running statistics have a step instead of a gradient
        at += slot.size
    np.testing.assert_allclose(found[moving], differences(loss, start)[moving], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(below, differences(lambda v: loss(x=v), x), rtol=1e-5, atol=1e-7)


def test_external_errors_train_like_a_loss():
    first = DenseLayer(n_in=4, n_out=3, activation="identity", updater=Adam(0.1), l2=0.1, gradient_normalization="ClipL2PerLayer",
                       gradient_normalization_threshold=0.5)
    inner, whole = network(first), network(first, OutputLayer(n_in=3, n_out=2, updater=Sgd(0.0)))
    x, y = RNG.normal(size=(6, 4)), np.eye(2)[[0, 1, 1, 0, 1, 0]]
    inner.set_params(whole.params()[:inner.num_params()])
    weights = whole.get_param("1_W")
    for step in range(3):
        inner.set_input(x)
        hidden = inner.feed_forward(train=True)[-1]
        scores = hidden @ weights + whole.get_param("1_b")
        p = np.exp(scores - scores.max(1, keepdims=True))
        gradient, _ = inner.backprop_gradient((p / p.sum(1, keepdims=True) - y) @ weights.T)
        inner.get_updater().update(gradient, step, 0, len(x))
        before = inner.params()
        inner.set_params(before - gradient.gradient())
        whole.fit(x, y)
        np.testing.assert_allclose(inner.params(), whole.params()[:inner.num_params()], rtol=1e-9)
    inner.update(gradient)
    np.testing.assert_allclose(inner.params(), before, rtol=1e-12)


def two_ends():
    conf = (NeuralNetConfiguration.Builder().seed(1).data_type("DOUBLE").activation("tanh").graph_builder().add_inputs("a", "b")
            .add_layer("left", DenseLayer(n_in=2, n_out=3), "a").add_layer("right", DenseLayer(n_in=2, n_out=3), "b")
            .add_vertex("both", MergeVertex(), "left", "right").add_layer("free", DenseLayer(n_in=6, n_out=2), "both")
            .add_layer("out", OutputLayer(n_in=3, n_out=2), "left").set_outputs("free", "out").build())
    return ComputationGraph(conf).init()


def test_gradients_of_a_graph():
    net = two_ends()
    a, b, y = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2)), np.eye(2)[[0, 1, 1]]
    free, out = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2))
    start = net.params()

    def loss(params=start, a=a, b=b, with_labels=False):
        net.set_params(params)
        found = net.feed_forward(a, b)
        other = -(y * np.log(found["out"])).sum() if with_labels else (found["out"] * out).sum()
        return float((found["free"] * free).sum() + other)

    net.set_inputs(a, b)
    gradient = net.backprop_gradient(free, out)
    np.testing.assert_allclose(gradient.gradient(), differences(loss, start), rtol=1e-5, atol=1e-8)
    for found, wanted in zip(gradient.get_input_gradients(), (differences(lambda v: loss(a=v), a), differences(lambda v: loss(b=v), b))):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-8)

    net.set_params(start)
    net.set_label(1, y)                                 # the loss of that output for its labels
    mixed = net.backprop_gradient(free, None).gradient().copy()
    np.testing.assert_allclose(mixed, differences(lambda p: loss(p, with_labels=True), start), rtol=1e-5, atol=1e-8)


def test_misuse():
    net = network(DenseLayer(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2))
    with pytest.raises(GraphError, match="set_input"):
        net.backprop_gradient(np.ones((2, 2)))
    net.set_input(np.ones((5, 4)))
    with pytest.raises(ShapeError, match=r"\(5, 2\).*\(5, 3\)"):
        net.backprop_gradient(np.ones((5, 3)))
    with pytest.raises(ShapeError, match=r"got \(1, 2\)"):
        net.backprop_gradient(np.ones((1, 2)))
    graph = two_ends()
    graph.set_inputs(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(GraphError, match="free, out"):
        graph.backprop_gradient(np.ones((2, 2)))
    with pytest.raises(GraphError, match="nothing to propagate"):
        graph.backprop_gradient(None, None)
    gradient = net.backprop_gradient(np.ones((5, 2)))[0]
    other = network(DenseLayer(n_in=2, n_out=2))
    with pytest.raises(ShapeError, match="6 parameters"):
        other.get_updater().update(gradient, 0, 0, 5)


def test_gradients_after_other_settings():
    net = network(DenseLayer(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2))
    x = np.ones((5, 4))
    net.set_input(x)
    first = net.backprop_gradient(np.ones((5, 2)))[0].gradient().copy()
    net.set_learning_rate(0.7)                          # new memory for parameters and gradients
    np.testing.assert_array_equal(net.backprop_gradient(np.ones((5, 2)))[0].gradient(), first)
