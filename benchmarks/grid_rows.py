"""The rows of the grid: every layer with the options that change its kernels, in two sizes, training and inference."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dl4py.layers import InputType
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.batches.batch import NetworkBatch
from dl4py.samediff.data import DataSet, MultiDataSet
from dl4py.samediff.training import Sgd

RATE = 0.01


@dataclass
class Network:
    """What a row of a network runs; ``plain`` where the updater is all that changes parameters."""

    net: Any
    batches: list[NetworkBatch]
    updater: Any
    plain: bool = True
    random: bool = False
    double: bool = False

    def data(self) -> list[Any]:
        """The batches as users give them."""
        one = len(self.batches[0].inputs) == len(self.batches[0].labels) == 1
        if one:
            return [DataSet(*[part[0] if part else None for part in b.parts()]) for b in self.batches]
        return [MultiDataSet(*[part or None for part in b.parts()]) for b in self.batches]


@dataclass
class Call:
    """A graph that is computed, with gradients where names are given."""

    sd: Any
    feeds: dict[str, np.ndarray]
    outputs: list[str]
    gradients: list[str] = field(default_factory=list)
    double: bool = False


@dataclass(frozen=True)
class Row:
    """One line: ``kind`` is train, infer or call; what is random ends up with other scores in other systems."""

    name: str
    kind: str
    build: Callable[[], Network | Call]
    tolerance: float = 5e-3
    task: str = "grid"


@dataclass(frozen=True)
class Given:
    """An input type in the sizes that are tried, with batch sizes."""

    kind: Callable[[Any], Any]
    small: tuple[Any, int]
    large: tuple[Any, int]


GIVEN = {
    "rows": Given(lambda n: InputType.feed_forward(n), (16, 16), (256, 128)),
    "series": Given(lambda s: InputType.recurrent(*s), ((8, 16), 8), ((32, 50), 32)),
    "images": Given(lambda s: InputType.convolutional(*s), ((14, 14, 4), 8), ((32, 32, 32), 16)),
    "images_last": Given(lambda s: InputType.convolutional(*s, "NHWC"), ((14, 14, 4), 8), ((32, 32, 32), 16)),
    "volumes": Given(lambda s: InputType.convolutional3d("NCDHW", *s), ((6, 6, 6, 2), 4), ((12, 12, 12, 8), 8)),
}


def network(layers: Sequence[Any], given: Any, batch: int, *, updater: Any = None, dtype: str = "FLOAT", mask: bool = False,
            whole: int = 0, random: bool = False, plain: bool = True, labels: Callable[..., Any] | None = None,
            set_up: Callable[[Any], Any] = lambda b: b) -> Network:
    """A list of layers on random batches; labels as the output is shaped, ``whole`` numbers below it as inputs instead of normal ones."""
    updater = updater or Sgd(RATE)
    builder = set_up(NeuralNetConfiguration.Builder().seed(5).updater(updater).data_type(dtype))
    net = MultiLayerNetwork(builder.list(*layers).set_input_type(given).build())
    net.init()
    kind, rng = np.dtype({"FLOAT": np.float32, "DOUBLE": np.float64, "HALF": np.float16}[dtype]), np.random.default_rng(7)
    shape = (batch, *given.array_shape()[1:])

    def one() -> NetworkBatch:
        x = (rng.integers(0, whole, shape) if whole else 0.3 * rng.standard_normal(shape)).astype(kind)
        out = np.asarray(net.output(x))
        y = (labels or one_hot)(rng, out.shape, out.ndim).astype(kind)
        lengths = rng.integers(shape[-1] // 2, shape[-1] + 1, batch)
        masks = [(np.arange(shape[-1]) < lengths[:, None]).astype(kind)] if mask else None
        return NetworkBatch([x], [y], masks, masks if mask and out.ndim == 3 else None)
    return Network(net, [one() for _ in range(4)], updater, plain, random, dtype == "DOUBLE")


def one_hot(rng: np.random.Generator, shape: Sequence[int], ndim: int) -> np.ndarray:
    """One class of axis 1 everywhere."""
    classes = rng.integers(0, shape[1], (shape[0], *shape[2:]))
    return np.moveaxis(np.eye(shape[1])[classes], -1, 1)


def normal(rng: np.random.Generator, shape: Sequence[int], ndim: int) -> np.ndarray:
    """Normal numbers."""
    return rng.standard_normal(shape)


def positive(rng: np.random.Generator, shape: Sequence[int], ndim: int) -> np.ndarray:
    """Numbers from 0 to 1."""
    return rng.random(shape)


def signs(rng: np.random.Generator, shape: Sequence[int], ndim: int) -> np.ndarray:
    """-1 and 1."""
    return rng.choice([-1.0, 1.0], shape)


def class_numbers(rng: np.random.Generator, shape: Sequence[int], ndim: int) -> np.ndarray:
    """The number of a class for each example."""
    return rng.integers(0, shape[1], (shape[0], 1, *shape[2:]))


def table() -> Iterator[Row]:
    """All rows, layers first."""
    from grid_graphs import graph_rows
    from grid_layers import layer_rows
    from grid_networks import network_rows
    yield from layer_rows()
    yield from graph_rows()
    yield from network_rows()


def find(name: str) -> Row:
    """The row of that name."""
    return next(row for row in table() if row.name == name)
