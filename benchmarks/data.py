"""Data of the workloads: the same numbers for every system, a new batch at each step."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BATCHES = 16


@dataclass(frozen=True)
class Workload:
    """What is measured: the shape of the input, the batch size, and whether a step trains."""

    name: str
    network: str            # "mlp" or "lenet"
    batch: int
    train: bool

    @property
    def x_shape(self) -> tuple[int, ...]:
        """Shape of one input batch."""
        return (self.batch, 784) if self.network == "mlp" else (self.batch, 1, 28, 28)


WORKLOADS = (
    Workload("MLP 784-256-10, train, batch 32", "mlp", 32, True),
    Workload("MLP 784-256-10, train, batch 128", "mlp", 128, True),
    Workload("MLP 784-256-10, inference, batch 1", "mlp", 1, False),
    Workload("LeNet, train, batch 64", "lenet", 64, True),
)


def batches(workload: Workload) -> list[tuple[np.ndarray, np.ndarray]]:
    """Inputs in [0, 1) and one-hot labels; varied, because one fixed batch drives Adam's state into denormals."""
    rng = np.random.default_rng(7)
    return [(rng.random(workload.x_shape, np.float32), np.eye(10, dtype=np.float32)[rng.integers(0, 10, workload.batch)])
            for _ in range(BATCHES)]


def weights(network: str) -> dict[str, np.ndarray]:
    """Initial weights, as (in, out) matrices and (out, in, kh, kw) kernels; biases start at 0."""
    rng = np.random.default_rng(11)
    shapes = {"mlp": {"W1": (784, 256), "W2": (256, 10)},
              "lenet": {"K1": (20, 1, 5, 5), "K2": (50, 20, 5, 5), "W1": (800, 500), "W2": (500, 10)}}[network]
    made = {}
    for name, shape in shapes.items():
        fan = shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))
        made[name] = (rng.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)
        made["b" + name] = np.zeros(shape[1] if len(shape) == 2 else shape[0], np.float32)
    return made
