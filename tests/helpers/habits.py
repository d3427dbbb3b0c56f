"""Three models of one shape, and things that people have instead of arrays."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.training import Sgd, TrainingConfig

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(12, 4)).astype(np.float32)
C = np.arange(12) % 3
Y = np.eye(3, dtype=np.float32)[C]


def list_network() -> MultiLayerNetwork:
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.1)).list(
        DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3)).build()).init()


def graph_network() -> ComputationGraph:
    return ComputationGraph(NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.1)).graph_builder().add_inputs("x")
                            .add_layer("d", DenseLayer(n_in=4, n_out=5), "x").add_layer("y", OutputLayer(n_in=5, n_out=3), "d")
                            .set_outputs("y").build()).init()


def samediff(weights: bool = True) -> SameDiff:
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.placeholder("y", DataType.FLOAT, -1, 3)
    p = sd.nn.softmax("p", x.mmul(sd.var("w", np.zeros((4, 3), np.float32))))
    given = {"weights": sd.placeholder("weights", DataType.FLOAT, -1, 1)} if weights else {}
    sd.loss.log_loss("loss", y, p, **given)
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping="y",
                                          data_set_label_mask_mapping=list(given) or None))
    return sd


def single_network() -> MultiLayerNetwork:
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.1)).list(
        OutputLayer(n_in=4, n_out=1, activation="sigmoid", loss_function="xent")).build()).init()


def single_samediff() -> SameDiff:
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.placeholder("y", DataType.FLOAT, -1, 1)
    p = sd.nn.sigmoid("p", x.mmul("z", sd.var("w", np.full((4, 1), 0.1, np.float32))))
    sd.loss.log_loss("loss", y, p)
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


SINGLE = {"list": single_network, "samediff": single_samediff}
MODELS = {"list": list_network, "graph": graph_network, "samediff": samediff}


def parameters(model: Any) -> Any:
    return np.array(model.variable("w").get_arr() if isinstance(model, SameDiff) else model.params())


def pairs(x: Any, y: Any) -> Any:
    return x, y


class Loader:
    """Batches of four, as a loader gives them: it can be gone through, and that is all."""

    def __init__(self, form: Any = pairs) -> None:
        self.form = form

    def __iter__(self) -> Any:
        return (self.form(X[i:i + 4], Y[i:i + 4]) for i in range(0, 12, 4))


class Examples:
    """Single examples by their numbers, as data sets of PyTorch and Hugging Face have them."""

    def __init__(self, form: Any = pairs) -> None:
        self.form = form

    def __len__(self) -> int:
        return 12

    def __getitem__(self, k: int) -> Any:
        if not 0 <= k < 12:
            raise IndexError(k)
        return self.form(X[k], Y[k])


class Sequence:
    """Batches by their numbers, as Keras has them, without an iterator."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, k: int) -> Any:
        return X[4 * k:4 * k + 4], Y[4 * k:4 * k + 4]


class InJava:
    """Batches with has_next and next alone."""

    def __init__(self) -> None:
        self.k = 0

    def has_next(self) -> bool:
        return self.k < 3

    def next(self) -> Any:
        self.k += 1
        return Sequence()[self.k - 1]

    def reset(self) -> None:
        self.k = 0


class InJavasSpelling:
    """The same in Java's spelling."""

    def __init__(self) -> None:
        self._batches = InJava()
        self.hasNext, self.next, self.reset = self._batches.has_next, self._batches.next, self._batches.reset


class Tensors:
    """Batches as TensorFlow's data sets give them to others."""

    def __init__(self, form: Any = pairs) -> None:
        self.form = form

    def as_numpy_iterator(self) -> Any:
        return iter(Loader(self.form))


class Pair(NamedTuple):
    x: Any
    y: Any


@dataclass
class Record:
    features: Any
    labels: Any


class Capsule:
    """A tensor of a library that speaks DLPack alone."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class Tracked:
    """A tensor that gives its values where nothing follows them, as PyTorch's."""

    requires_grad = True

    def __init__(self, array: Any) -> None:
        self.array = array

    def detach(self) -> Any:
        return self.array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("call detach first")
