"""The workloads: what is computed, on which data, from which weights. The same numbers for every system."""
from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, np.ndarray]
HEADS, RATE, GATE = 4, 1e-3, 1.5                 # of the attention block, of Adam, of the custom op
ROWS = 100_000


@dataclass(frozen=True)
class Place:
    """Where a workload runs: ``device`` as dl4py names it.

    On a GPU each step of any system brings its batch there, and what is asked for back to the host. With ``on_device`` batches of the other
    systems lie there from the start, and their results stay.
    """

    device: str = "cpu"
    on_device: bool = False

    @property
    def kind(self) -> str:
        """cpu, cuda or emulated."""
        return self.device.partition(":")[0]

    @property
    def index(self) -> int:
        """Of the GPU."""
        return int(self.device.partition(":")[2] or 0)

    @property
    def is_gpu(self) -> bool:
        """Whether the other systems can be there."""
        return self.kind == "cuda"

    @property
    def from_host(self) -> bool:
        """Whether steps of the other systems begin and end on the host though they run elsewhere."""
        return self.is_gpu and not self.on_device

    @property
    def tf32(self) -> bool:
        """Whether products of GPUs may be rounded, in all systems alike."""
        return os.environ.get("DL4PY_TF32", "0") not in ("", "0")


CPU = Place()


@dataclass(frozen=True)
class Workload:
    """One line of the table.

    ``task`` names the computation; ``sizes`` are its widths, ``steps`` the length of series or the number of elements. ``kind``
    is "train", "infer", or "call" for a graph that is only computed. ``tolerance`` is how far scores may lie apart after some steps.
    """

    name: str
    title: str
    task: str
    kind: str
    batch: int
    sizes: tuple[int, ...] = ()
    steps: int = 0
    tolerance: float = 2e-3

    def batches(self) -> list[Arrays]:
        """Inputs and labels; varied, because one fixed batch drives Adam's state into denormals."""
        rng = np.random.default_rng(7)
        return [DATA[self.task](self, rng) for _ in range(2 if self.task in ("chain", "map") else 16)]

    def weights(self) -> dict[str, np.ndarray]:
        """Initial weights: matrices (in, out), kernels (out, in, height, width); "b..." are biases, at 0 but for forget gates."""
        rng = np.random.default_rng(11)
        return {name: _initial(name, shape, rng) for name, shape in SHAPES[self.task](self).items()}


@dataclass
class Task:
    """A workload in one system: ``run(n)`` makes n steps, ``score()`` is the loss of the first batch or a sum of what was computed."""

    run: Callable[[int], object]
    score: Callable[[], float]


def looped(step: Callable[..., object], batches: list[Any], end: Callable[[], object] = lambda: None) -> Callable[[int], None]:
    """A plain Python loop of steps over the batches in turn, as users of the other systems write it."""
    turn: Iterator[Any] = itertools.cycle(batches)

    def run(n: int) -> None:
        for _ in range(n):
            step(*next(turn))
        end()
    return run


def total(found: Any) -> float:
    """The score of arrays that were computed: the sum of all their sizes."""
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (list, tuple)):
        return sum(map(total, found))
    return float(np.abs(np.asarray(found)).sum(dtype=np.float64))


def cross_entropy(probabilities: Any, y: np.ndarray) -> float:
    """The score of an inference."""
    return float(-(np.log(np.asarray(probabilities, np.float64)) * y).sum() / len(y))


def table() -> Path:
    """A file of 100,000 rows: 20 numbers and a class."""
    path = Path(tempfile.gettempdir()) / f"dl4py-benchmark-{ROWS}.csv"
    if not path.exists():
        rng = np.random.default_rng(3)
        x = rng.normal(rng.normal(0, 5, 20), rng.uniform(0.5, 9, 20), (ROWS, 20))
        labels = (x - x.mean(0) @ np.ones((20, 20)) / 20)[:, :3].argmax(1)
        partly = path.with_suffix(".part")
        np.savetxt(partly, np.c_[x, labels], fmt=["%.5f"] * 20 + ["%d"], delimiter=",")
        partly.rename(path)
    return path


def _initial(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if name[0] == "b":
        bias = np.zeros(shape, np.float32)
        if name.startswith("bL"):                # an LSTM's gates: input, forget, output, modulation
            bias[shape[0] // 4:shape[0] // 2] = 1
        return bias
    fan = shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))
    return (rng.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)


def _labels(w: Workload, rng: np.random.Generator) -> np.ndarray:
    return np.eye(w.sizes[-1], dtype=np.float32)[rng.integers(0, w.sizes[-1], w.batch)]


def _vectors(w: Workload, rng: np.random.Generator) -> Arrays:
    return rng.random((w.batch, w.sizes[0]), np.float32), _labels(w, rng)


def _characters(w: Workload, rng: np.random.Generator) -> Arrays:
    codes = rng.integers(0, w.sizes[0], (w.batch, w.steps + 1))
    codes[:, 1::2] = codes[:, :-1:2] // 2        # something to learn
    one_hot = np.eye(w.sizes[0], dtype=np.float32)[codes]
    return np.ascontiguousarray(one_hot[:, :-1]), np.ascontiguousarray(one_hot[:, 1:])


def _normal(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], Arrays]:
    return lambda rng: (rng.standard_normal(shapes[0], np.float32), rng.standard_normal(shapes[-1], np.float32))


DATA: dict[str, Callable[[Workload, np.random.Generator], Arrays]] = {
    **dict.fromkeys(("mlp", "custom", "builtin", "regular", "table", "slopes"), _vectors),
    "lenet": lambda w, rng: (rng.random((w.batch, 1, 28, 28), np.float32), _labels(w, rng)),
    "char": _characters,
    "uci": lambda w, rng: (rng.standard_normal((w.batch, w.steps, 1), np.float32), _labels(w, rng)),
    **dict.fromkeys(("chain", "map"), lambda w, rng: _normal((w.steps,), (1,))(rng)),
    "block": lambda w, rng: _normal((w.batch, w.steps, w.sizes[0]))(rng),
    **dict.fromkeys(("tiny", "tiny_mm", "tiny_grad"), lambda w, rng: _normal((8, 8), (1,))(rng)),
}


def _dense(sizes: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {name: shape for i, (a, b) in enumerate(itertools.pairwise(sizes), 1) for name, shape in ((f"W{i}", (a, b)), (f"bW{i}", (b,)))}


def _recurrent(w: Workload) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for i, (a, b) in enumerate(itertools.pairwise(w.sizes[:-1])):
        shapes |= {f"L{i}": (a, 4 * b), f"R{i}": (b, 4 * b), f"bL{i}": (4 * b,)}
    return shapes | _dense(w.sizes[-2:])


def _block(w: Workload) -> dict[str, tuple[int, ...]]:
    d, inner = w.sizes
    return {**dict.fromkeys(("Wq", "Wk", "Wv", "Wo"), (d, d)), **_dense((d, inner, d))}


SHAPES: dict[str, Callable[[Workload], dict[str, tuple[int, ...]]]] = {
    **dict.fromkeys(("mlp", "custom", "builtin", "regular", "table", "slopes"), lambda w: _dense(w.sizes)),
    "lenet": lambda w: {"K1": (20, 1, 5, 5), "bK1": (20,), "K2": (50, 20, 5, 5), "bK2": (50,), **_dense((800, 500, 10))},
    "char": _recurrent, "uci": _recurrent, "block": _block,
    "chain": lambda w: {}, "map": lambda w: {},
    **dict.fromkeys(("tiny", "tiny_mm", "tiny_grad"), lambda w: {"W": (8, 8), "b": (8,)}),
}

DIGITS, CHARACTERS = (784, 256, 10), (77, 200, 200, 77)
WORKLOADS = (
    Workload("W0", "tabular MLP 10-64-32-3, b32", "mlp", "train", 32, (10, 64, 32, 3)),
    Workload("W0_infer", "tabular MLP, inference b1", "mlp", "infer", 1, (10, 64, 32, 3)),
    Workload("W1_b32", "MLP 784-256-10, b32", "mlp", "train", 32, DIGITS),
    Workload("W1_b128", "MLP 784-256-10, b128", "mlp", "train", 128, DIGITS),
    Workload("W1_b1024", "MLP 784-256-10, b1024", "mlp", "train", 1024, DIGITS),
    Workload("W1_infer", "MLP 784-256-10, inference b1", "mlp", "infer", 1, DIGITS),
    Workload("W2", "LeNet, b64", "lenet", "train", 64, (10,)),
    Workload("W2_infer", "LeNet, inference b1", "lenet", "infer", 1, (10,)),
    Workload("W2_infer64", "LeNet, inference b64", "lenet", "infer", 64, (10,)),
    Workload("W3_char", "LSTM 77-200-200-77, T50 b32", "char", "train", 32, CHARACTERS, 50),
    Workload("W3_uci", "LSTM 1-32-6, T60 b10", "uci", "train", 10, (1, 32, 6), 60),
    Workload("W4_1e7", "x sigmoid(1.7x) + tanh(x) exp(-xx), 1e7, both ways", "chain", "call", 1, (), 10_000_000),
    Workload("W4_1e6", "the same, 1e6", "chain", "call", 1, (), 1_000_000),
    Workload("W5", "pre-LN attention block, b8 s128 d256 h4 ff1024", "block", "train", 8, (256, 1024), 128),
    Workload("W6", "30 elementwise ops on 8x8", "tiny", "call", 8),
    Workload("W6_mm", "30 ops on 8x8, 10 of them products", "tiny_mm", "call", 8),
    Workload("W6_grad", "30 elementwise ops on 8x8, with gradients", "tiny_grad", "call", 8),
    Workload("W7", "MLP with a custom op and its gradient, b32", "custom", "train", 32, DIGITS),
    Workload("W7_builtin", "the same of built-in ops", "builtin", "train", 32, DIGITS),
    Workload("W8", "MLP 784-256-128-10, batch norm, dropout, b128", "regular", "train", 128, (784, 256, 128, 10), tolerance=0.2),
    Workload("W11_1e7", "x sigmoid(1.7x) + tanh(x) exp(-xx), 1e7, an array", "map", "call", 1, (), 10_000_000),
    Workload("W11_1e6", "the same, 1e6", "map", "call", 1, (), 1_000_000),
    Workload("W12", "MLP 784-256-10, loss and gradients, b32", "slopes", "call", 32, DIGITS),
    Workload("W10", "CSV 100,000 x 20, standardise, one epoch b128", "table", "job", 128, (20, 64, 32, 3)),
)
