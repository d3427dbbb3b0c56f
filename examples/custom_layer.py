"""Custom layers: two ways to write one, a vertex and a loss of one's own; checked, trained, saved and loaded.

Run: python examples/custom_layer.py
"""
from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from dl4py.layers import (
    DenseLayer,
    FeedForwardLayer,
    InputType,
    OutputLayer,
    SameDiffLambdaVertex,
    SameDiffLayer,
    SameDiffLoss,
    layer,
    loss,
    vertex,
)
from dl4py.networks import ComputationGraph, NeuralNetConfiguration
from dl4py.samediff import DataSet, DataType
from dl4py.samediff.errors import GraphError
from dl4py.samediff.training import Adam


@layer("example.Maxout")
class Maxout(FeedForwardLayer):
    """The largest of several affine maps (Goodfellow et al., 2013), written like a built-in layer.

    Shapes: x (batch, n_in) -> (batch, n_out).
    """

    pieces: int = 2

    def define_parameters(self, params):
        for i in range(self.pieces):
            params.weight(f"W{i}", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)
            params.bias(f"b{i}", (self.n_out,), init=0.1 * i)

    def define_layer(self, sd, x, params, mask):
        best = x.mmul(params["W0"]) + params["b0"]
        for i in range(1, self.pieces):
            best = sd.math.max(best, x.mmul(params[f"W{i}"]) + params[f"b{i}"])
        return best


@layer("example.Residual")
class Residual(SameDiffLayer):
    """x + tanh(x W + b), written with DL4J's method names."""

    size: int = 0

    def set_n_in(self, input_type, override):
        self.size = input_type.size

    def define_parameters(self, params):
        params.clear()
        params.add_weight_param("W", self.size, self.size)
        params.add_bias_param("b", 1, self.size)

    def initialize_parameters(self, params):
        self.init_weights(self.size, self.size, self.weight_init, params["W"])
        params["b"][...] = 0

    def get_output_type(self, layer_index, input_type):
        return InputType.feed_forward(self.size)

    def define_layer(self, sd, layer_input, param_table, mask):
        return layer_input + sd.math.tanh(layer_input.mmul(param_table["W"]) + param_table["b"])


@vertex("example.Gate")
class Gate(SameDiffLambdaVertex):
    """The first input where the second is large."""

    def define_vertex(self, sd, inputs):
        return inputs.get_input(0) * sd.nn.sigmoid(inputs.get_input(1))

    def get_output_type(self, layer_index, *input_types):
        return input_types[0]


@loss("example.LogCosh")
class LogCosh(SameDiffLoss):
    """log(cosh(error)), smooth like the square and robust like the absolute value."""

    def define_loss(self, sd, layer_input, labels):
        return sd.math.log(sd.math.cosh(labels - layer_input)).sum(1)


def network(dtype: DataType = DataType.FLOAT, dropout: float | None = 0.95) -> ComputationGraph:
    """Two numbers in, one out, through all of them; ``dropout`` is the share of values that is kept."""
    conf = (NeuralNetConfiguration.Builder().seed(5).data_type(dtype).updater(Adam(0.01)).l2(1e-5).graph_builder().add_inputs("in")
            .add_layer("maxout", Maxout(n_out=16, pieces=3), "in")
            .add_layer("residual", Residual(dropout=dropout), "maxout")
            .add_layer("switch", DenseLayer(n_out=16, activation="identity"), "in")
            .add_vertex("gate", Gate(), "residual", "switch")
            .add_layer("out", OutputLayer(n_out=1, activation="identity", loss_function=LogCosh()), "gate")
            .set_outputs("out").set_input_types(InputType.feed_forward(2)).build())
    return ComputationGraph(conf).init()


def points(n: int, seed: int = 1) -> DataSet:
    """A ring-shaped surface."""
    x = np.random.default_rng(seed).uniform(-1.5, 1.5, (n, 2)).astype(np.float32)
    radius = np.linalg.norm(x, axis=1, keepdims=True)
    return DataSet(x, np.exp(-8 * (radius - 1) ** 2))


def largest_gradient_error() -> float:
    """The gradient against central differences in float64, without dropout."""
    net, data = network(DataType.DOUBLE, dropout=None), points(4)
    inputs, labels = data.features.astype(np.float64), data.labels.astype(np.float64)
    net.set_inputs(inputs)
    net.set_labels(labels)
    net.compute_gradient_and_score()
    found, start = net.gradient().gradient() / len(inputs), net.params()
    worst = 0.0
    for i in range(start.size):
        scores = []
        for step in (1e-6, -1e-6):
            moved = start.copy()
            moved[i] += step
            net.set_params(moved)
            scores.append(net.score(DataSet(inputs, labels)) - net.calc_regularization_score())
        worst = max(worst, abs((scores[0] - scores[1]) / 2e-6 - found[i]))
    return worst


def main(epochs: int = 150) -> tuple[float, float]:
    """Check, train, save, load; returns the scores before and after training."""
    net, data, unseen = network(), points(256), points(100, seed=2)
    print(net.summary())
    print(f"largest difference of gradients and central differences: {largest_gradient_error():.1e}")
    before = net.score(unseen)
    for _ in range(epochs):
        net.fit(data)
    after = net.score(unseen)
    print(f"score of unseen points: {before:.4f} before, {after:.4f} after {epochs} steps")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "custom.zip"
        net.save(path)
        same = ComputationGraph.load(path).output(unseen.features)[0]
    print("loaded network gives the same numbers:", bool(np.array_equal(same, net.output(unseen.features)[0])))
    try:
        net.output(np.zeros((1, 3), np.float32))
    except GraphError as error:
        print("three numbers instead of two:", str(error).rpartition("): ")[2])
    return before, after


if __name__ == "__main__":
    main()
