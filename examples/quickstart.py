"""The main job: a convolutional network with a custom op and a custom layer learns real digits, is evaluated, saved as a
DL4J model zip and loaded again.

Run: python examples/quickstart.py
"""
from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from dl4py.layers import (
    ConvolutionLayer,
    DenseLayer,
    InputType,
    OutputLayer,
    SameDiffLayer,
    SubsamplingLayer,
    WeightInit,
    layer,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet, ListDataSetIterator
from dl4py.samediff.training import Adam, Listener
from dl4py.udf import user_op

DATA = Path(__file__).parent / "data" / "mnist_digits.npz"


@user_op("quickstart.swish")
def swish(xp, x, *, beta: float = 1.0):
    """A custom op: differentiable, compiled into its neighbours, saved with the graph."""
    return x * (1 + xp.tanh(0.5 * beta * x)) / 2


@layer("quickstart.ResidualSwish")
class ResidualSwish(SameDiffLayer):
    """A custom layer: x + swish(x W + b), with our op inside."""

    size: int = 0
    beta: float = 1.5

    def set_n_in(self, input_type, override):
        self.size = input_type.size

    def define_parameters(self, params):
        params.add_weight_param("W", self.size, self.size)
        params.add_bias_param("b", 1, self.size)

    def initialize_parameters(self, params):
        self.init_weights(self.size, self.size, WeightInit.XAVIER, params["W"])
        params["b"][...] = 0

    def get_output_type(self, index, input_type):
        return input_type

    def define_layer(self, sd, x, params, mask=None):
        return x + swish(x.mmul(params["W"]) + params["b"], beta=self.beta)


def build() -> MultiLayerNetwork:
    """Twice convolution and pooling, then dense, our layer, softmax."""
    conf = (NeuralNetConfiguration.Builder()
            .seed(42)
            .updater(Adam(2e-3))
            .weight_init("relu")
            .list()
            .layer(ConvolutionLayer(kernel_size=(5, 5), n_out=12, activation="relu"))
            .layer(SubsamplingLayer(kernel_size=(2, 2), stride=(2, 2)))
            .layer(ConvolutionLayer(kernel_size=(5, 5), n_out=24, activation="relu"))
            .layer(SubsamplingLayer(kernel_size=(2, 2), stride=(2, 2)))
            .layer(DenseLayer(n_out=64, activation="relu", dropout=0.5))      # DL4J's meaning: keep half of the inputs
            .layer(ResidualSwish(beta=1.5))
            .layer(OutputLayer(n_out=10, activation="softmax", loss_function="mcxent"))
            .set_input_type(InputType.convolutional(28, 28, 1))
            .build())
    return MultiLayerNetwork(conf).init()


def digits() -> tuple[DataSet, DataSet]:
    """Training and test digits: images (batch, 1, 28, 28) in [0, 1], one-hot labels."""
    with np.load(DATA) as z:
        train, test = (DataSet(z[f"{part}_images"][:, None].astype(np.float32) / 255, np.eye(10, dtype=np.float32)[z[f"{part}_labels"]])
                       for part in ("train", "test"))
    return train, test


class EpochLine(Listener):
    """Prints a line at the end of each epoch."""

    def __init__(self, test: DataSet) -> None:
        self.test, self.start = test, time.perf_counter()

    def on_epoch_end(self, model):
        accuracy = model.evaluate(self.test).accuracy()
        print(f"epoch {model.get_epoch_count() + 1:2}  score {model.score():.4f}  test accuracy {accuracy:6.1%}  "
              f"{time.perf_counter() - self.start:5.1f} s")


def main(epochs: int = 10) -> float:
    """Train, evaluate, save, load; returns the accuracy on the test digits."""
    train, test = digits()
    net = build()
    print(net.summary())
    print(f"{train.num_examples()} training digits, {test.num_examples()} test digits; "
          "the first step waits for the kernels to compile (once per machine)\n")

    net.set_listeners(EpochLine(test))
    train.shuffle(1)
    net.fit(ListDataSetIterator(train.as_list(), 32), epochs)

    evaluation = net.evaluate(test)
    print(evaluation.stats())

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.zip"
        net.save(path)
        again = MultiLayerNetwork.load(path)
        same = np.array_equal(net.output(test.features), again.output(test.features))
        print(f"\nsaved as a DL4J model zip ({path.stat().st_size / 1024:.0f} KiB), loaded again: "
              f"{'the same outputs, bit for bit' if same else 'OTHER OUTPUTS'}")
        if not same:
            raise SystemExit("the loaded network computes something else")
    return evaluation.accuracy()


if __name__ == "__main__":
    main()
