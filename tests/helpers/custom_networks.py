"""Small networks and checks for the tests of custom layers."""
from __future__ import annotations

import numpy as np

from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.training.updaters.updaters import Adam, Sgd


def net(*layers, seed=12345, updater=None, dtype="FLOAT", **options):
    builder = NeuralNetConfiguration.Builder().seed(seed).data_type(dtype).updater(updater or Sgd(0.1))
    for name, value in options.items():
        getattr(builder, name)(value)
    stack = builder.list()
    for one in layers:
        stack.layer(one)
    return MultiLayerNetwork(stack.build()).init()


def graph(*vertices, outputs, inputs=("in",), dtype="DOUBLE", updater=None):
    builder = NeuralNetConfiguration.Builder().seed(3).data_type(dtype).updater(updater or Adam(0.01)).graph_builder().add_inputs(*inputs)
    for name, made, *sources in vertices:
        add = builder.add_vertex if hasattr(made, "named_inputs") else builder.add_layer
        add(name, made, *sources)
    return ComputationGraph(builder.set_outputs(*outputs).build()).init()


def data(n, n_in, n_out, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n_in)).astype(dtype), np.eye(n_out, dtype=dtype)[rng.integers(0, n_out, n)]


def reloaded(network, path):
    network.save(path / "net.zip")
    return type(network).load(path / "net.zip")


def gradients(network, x, y):
    network.set_input(x) if isinstance(network, MultiLayerNetwork) else network.set_inputs(x)
    network.set_labels(y)
    network.compute_gradient_and_score()
    return network.gradient().gradient().copy()


def check_gradients(network, *batch):
    """The gradient against central differences, in float64."""
    found = gradients(network, *batch) / len(batch[0])
    start, eps = network.params(), 1e-6
    for i in range(start.size):
        scores = []
        for sign in (1, -1):
            moved = start.copy()
            moved[i] += sign * eps
            network.set_params(moved)
            network.compute_gradient_and_score()
            scores.append(network.score() - network.calc_regularization_score())
        expected = (scores[0] - scores[1]) / (2 * eps)
        assert abs(found[i] - expected) <= 1e-8 + 1e-5 * abs(expected), (i, found[i], expected)
    network.set_params(start)


def equal_training(one, other, x, y, steps=3, rtol=0):
    for _ in range(steps):
        one.fit(x, y)
        other.fit(x, y)
        np.testing.assert_allclose(one.score(), other.score(), rtol=1e-6)
        np.testing.assert_allclose(one.params(), other.params(), rtol)
        np.testing.assert_allclose(one.gradient().gradient(), other.gradient().gradient(), rtol)
