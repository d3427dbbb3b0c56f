"""A convolutional network with a custom op, on a GPU by naming it: the same numbers as on the CPU, and how much faster.

Run: python examples/gpu.py [device]        (cuda:0 when none is named)

Where there is no GPU, the program says what is missing and runs the same CUDA kernels on the emulator, which needs a C++ compiler and
is slow: it is there to check kernels, not to train.
"""
from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from dl4py.layers import ConvolutionLayer, DenseLayer, InputType, OutputLayer, SameDiffLambdaLayer, SubsamplingLayer, layer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DeviceError
from dl4py.samediff.data import DataSet, ListDataSetIterator
from dl4py.samediff.training import Adam
from dl4py.udf import user_op

DATA = Path(__file__).parent / "data" / "mnist_digits.npz"


@user_op("gpu_example.swish")
def swish(xp, x, *, beta: float = 1.0):
    """Array code only: it is fused with its neighbours, on the CPU and on the GPU."""
    return x * (1 + xp.tanh(0.5 * beta * x)) / 2


@layer("gpu_example.Swish")
class Swish(SameDiffLambdaLayer):
    """The op as a layer."""

    def define_layer(self, sd, layer_input):
        return swish(layer_input, beta=1.5)

    def get_output_type(self, layer_index, input_type):
        return input_type


def build() -> MultiLayerNetwork:
    """Convolution, pooling, a dense layer, our op, softmax."""
    conf = (NeuralNetConfiguration.Builder().seed(42).updater(Adam(2e-3)).weight_init("relu")
            .list(ConvolutionLayer(kernel_size=(5, 5), n_out=12, activation="relu"),
                  SubsamplingLayer(kernel_size=(2, 2), stride=(2, 2)),
                  DenseLayer(n_out=64), Swish(),
                  OutputLayer(n_out=10, activation="softmax"))
            .set_input_type(InputType.convolutional(28, 28, 1)).build())
    return MultiLayerNetwork(conf).init()


def digits(count: int) -> DataSet:
    """Images (batch, 1, 28, 28) in [0, 1] and one-hot labels."""
    with np.load(DATA) as z:
        images, labels = z["train_images"][:count], z["train_labels"][:count]
    return DataSet(images[:, None].astype(np.float32) / 255, np.eye(10, dtype=np.float32)[labels])


def trained(name: str, data: DataSet, epochs: int) -> tuple[MultiLayerNetwork, float]:
    """The network after some epochs on a device, and milliseconds of a step once it is warm."""
    net, batches = build().to(name), ListDataSetIterator(data.as_list(), 32)
    net.fit(batches)                              # kernels are compiled, the step is captured as a CUDA graph
    start = time.perf_counter()
    net.fit(batches, epochs)
    score = net.score()                           # waits until the device is done
    steps = net.get_iteration_count() * epochs / (epochs + 1)
    print(f"{name:10} score {score:.5f}, {1000 * (time.perf_counter() - start) / steps:8.3f} ms a step")
    return net, 1000 * (time.perf_counter() - start) / steps


def main(name: str = "cuda:0", epochs: int = 5, count: int = 1024) -> float:
    """Train on the CPU and on the device; returns the largest difference of their outputs."""
    data = digits(count)
    here, cpu = trained("cpu", data, epochs)
    try:
        there, gpu = trained(name, data, epochs)
    except DeviceError as error:
        print(f"\n{error}\n")
        name, epochs, data = "emulated", 1, digits(64)
        print("On the emulator, four steps:")
        here, cpu = trained("cpu", data, epochs)
        there, gpu = trained(name, data, epochs)
    difference = float(np.abs(here.output(data.features) - there.output(data.features)).max())
    print(f"largest difference of an output: {difference:.1e}; {name} takes {gpu / cpu:.2f} times as long as the CPU")
    return difference


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cuda:0")
