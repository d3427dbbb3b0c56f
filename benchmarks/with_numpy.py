"""The MLP written by hand in NumPy: what one gets without any framework."""
from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from data import Workload, batches, weights


class Mlp:
    """Two layers, softmax and cross entropy, Adam in DL4J's form."""

    def __init__(self) -> None:
        self.w = weights("mlp")
        self.m = {n: np.zeros_like(v) for n, v in self.w.items()}
        self.v = {n: np.zeros_like(v) for n, v in self.w.items()}
        self.t = 0

    def forward(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Hidden activations and log-probabilities."""
        h = np.maximum(x @ self.w["W1"] + self.w["bW1"], 0)
        z = h @ self.w["W2"] + self.w["bW2"]
        z -= z.max(1, keepdims=True)
        return h, z - np.log(np.exp(z).sum(1, keepdims=True))

    def step(self, x: np.ndarray, y: np.ndarray) -> None:
        """One optimizer step."""
        h, logp = self.forward(x)
        dz = (np.exp(logp) - y) / np.float32(len(x))
        dh = (dz @ self.w["W2"].T) * (h > 0)
        grads = {"W2": h.T @ dz, "bW2": dz.sum(0), "W1": x.T @ dh, "bW1": dh.sum(0)}
        self.t += 1
        rate = np.float32(1e-3 * np.sqrt(1 - 0.999**self.t) / (1 - 0.9**self.t))
        for n, g in grads.items():
            self.m[n] = np.float32(0.9) * self.m[n] + np.float32(0.1) * g
            self.v[n] = np.float32(0.999) * self.v[n] + np.float32(0.001) * g * g
            self.w[n] -= rate * self.m[n] / (np.sqrt(self.v[n]) + np.float32(1e-8))

    def score(self, x: np.ndarray, y: np.ndarray) -> float:
        """Mean cross entropy."""
        return float(-(self.forward(x)[1] * y).sum() / len(x))


def make(workload: Workload) -> tuple[Callable[[], object], Callable[[], float]] | None:
    """One step as a call without arguments, and the score of the first batch; None where there is no version."""
    if workload.network != "mlp":
        return None
    net, data = Mlp(), batches(workload)
    turn = itertools.cycle(data)
    if workload.train:
        return lambda: net.step(*next(turn)), lambda: net.score(*data[0])
    return lambda: np.exp(net.forward(next(turn)[0])[1]), lambda: net.score(*data[0])
