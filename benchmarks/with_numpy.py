"""The workloads by hand in NumPy: what one gets without any framework."""
from __future__ import annotations

from typing import Any

import numpy as np
from workloads import GATE, RATE, Task, Workload, cross_entropy, looped, table, total

SYSTEMS = ("numpy",)
Arrays = dict[str, np.ndarray]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _log_softmax(z: np.ndarray) -> np.ndarray:
    z = z - z.max(1, keepdims=True)
    return z - np.log(np.exp(z).sum(1, keepdims=True))


class Mlp:
    """Dense layers with relu, a gate, or batch norm, relu and dropout between; softmax and cross entropy; Adam in DL4J's form."""

    def __init__(self, w: Workload) -> None:
        self.kind, self.p, self.last = w.task, w.weights(), len(w.sizes) - 1
        if w.task == "regular":
            self.running = {i: [np.zeros(n, np.float32), np.ones(n, np.float32)] for i, n in enumerate(w.sizes[1:-1], 1)}
            for i, n in enumerate(w.sizes[1:-1], 1):
                self.p |= {f"g{i}": np.ones(n, np.float32), f"c{i}": np.zeros(n, np.float32)}
        self.m, self.v = ({n: np.zeros_like(a) for n, a in self.p.items()} for _ in range(2))
        self.t, self.rng = 0, np.random.default_rng(5)

    def between(self, i: int, z: np.ndarray, train: bool) -> tuple[np.ndarray, Any]:
        """What follows a hidden layer, and what its gradient needs."""
        if self.kind in ("custom", "builtin"):
            s = _sigmoid(np.float32(GATE) * z)
            y = z * s
            return y, s + np.float32(GATE) * y * (1 - s)
        if self.kind != "regular":
            return np.maximum(z, 0), z > 0
        mean, var = (z.mean(0), z.var(0)) if train else self.running[i]
        scale = 1 / np.sqrt(var + np.float32(1e-5))
        n = (z - mean) * scale
        y = np.maximum(n * self.p[f"g{i}"] + self.p[f"c{i}"], 0)
        if not train:
            return y, None
        self.running[i] = [np.float32(0.9) * a + np.float32(0.1) * b for a, b in zip(self.running[i], (mean, var))]
        slope = (self.rng.random(y.shape, np.float32) < 0.5) * np.float32(2)
        return y * slope, (slope * (y > 0), n, scale)

    def forward(self, x: np.ndarray, train: bool = False) -> tuple[np.ndarray, list[np.ndarray], list[Any]]:
        """Logits, inputs of the layers, and what the gradients need."""
        inputs, kept = [x], []
        for i in range(1, self.last):
            x, more = self.between(i, x @ self.p[f"W{i}"] + self.p[f"bW{i}"], train)
            inputs.append(x)
            kept.append(more)
        return x @ self.p[f"W{self.last}"] + self.p[f"bW{self.last}"], inputs, kept

    def gradients(self, x: np.ndarray, y: np.ndarray) -> Arrays:
        """Of the mean cross entropy."""
        z, inputs, kept = self.forward(x, True)
        d, grads = (np.exp(_log_softmax(z)) - y) / np.float32(len(x)), {}
        for i in range(self.last, 0, -1):
            grads |= {f"W{i}": inputs[i - 1].T @ d, f"bW{i}": d.sum(0)}
            if i == 1:
                return grads
            d = d @ self.p[f"W{i}"].T
            if self.kind == "regular":
                slope, n, scale = kept[i - 2]
                d = d * slope
                grads |= {f"g{i - 1}": (d * n).sum(0), f"c{i - 1}": d.sum(0)}
                d = self.p[f"g{i - 1}"] * scale * (d - d.mean(0) - n * (d * n).mean(0))
            else:
                d *= kept[i - 2]
        return grads

    def step(self, x: np.ndarray, y: np.ndarray) -> None:
        """One step of Adam."""
        self.t += 1
        rate = np.float32(RATE * np.sqrt(1 - 0.999**self.t) / (1 - 0.9**self.t))
        for n, g in self.gradients(x, y).items():
            m, v = self.m[n], self.v[n]
            m += np.float32(0.1) * (g - m)
            v += np.float32(0.001) * (g * g - v)
            self.p[n] -= rate * m / (np.sqrt(v) + np.float32(1e-8))

    def score(self, x: np.ndarray, y: np.ndarray) -> float:
        """Mean cross entropy."""
        return float(-(_log_softmax(self.forward(x)[0]) * y).sum() / len(x))


def _network(w: Workload) -> Task:
    net, data = Mlp(w), w.batches()
    if w.kind == "train":
        return Task(looped(net.step, data), lambda: net.score(*data[0]))

    def predict(x: np.ndarray) -> np.ndarray:
        return np.exp(_log_softmax(net.forward(x)[0]))
    return Task(looped(predict, [(x,) for x, _ in data]), lambda: cross_entropy(predict(data[0][0]), data[0][1]))


def _slopes(w: Workload) -> Task:
    net, data = Mlp(w), w.batches()

    def step(x: np.ndarray, y: np.ndarray) -> list[Any]:
        return [net.score(x, y), net.gradients(x, y)]
    return Task(looped(step, data), lambda: total(step(*data[0])))


def _map(x: np.ndarray) -> np.ndarray:
    return x * _sigmoid(np.float32(1.7) * x) + np.tanh(x) * np.exp(-x * x)


def _chain(x: np.ndarray) -> list[np.ndarray]:
    s, t, e = _sigmoid(np.float32(1.7) * x), np.tanh(x), np.exp(-x * x)
    return [(x * s + t * e).sum(), s + np.float32(1.7) * x * s * (1 - s) + (1 - t * t) * e - 2 * x * t * e]


def _tiny(w: Workload) -> Any:
    W, b = w.weights().values()

    def forward(x: np.ndarray) -> list[np.ndarray]:
        for _ in range(10):
            x = np.tanh(x * np.float32(1.01) + b)
        return [x]

    def products(x: np.ndarray) -> list[np.ndarray]:
        for _ in range(10):
            x = np.tanh(x @ W + b)
        return [x]

    def gradients(x: np.ndarray) -> list[np.ndarray]:
        kept = []
        for _ in range(10):
            x = np.tanh(x * np.float32(1.01) + b)
            kept.append(x)
        d, db = np.ones_like(x), np.zeros_like(b)
        for y in reversed(kept):
            d = d * (1 - y * y)
            db += d.sum(0)
            d *= np.float32(1.01)
        return [x, d, db]
    return {"tiny": forward, "tiny_mm": products, "tiny_grad": gradients}[w.task]


def _graph(w: Workload) -> Task:
    call: Any = {"chain": _chain, "map": _map}.get(w.task) or _tiny(w)
    data = [(x,) for x, _ in w.batches()]
    return Task(looped(call, data), lambda: total(call(*data[0])))


def _job(w: Workload) -> Task:
    done: list[Any] = []

    def job() -> None:
        rows = np.loadtxt(table(), np.float32, delimiter=",")
        x, y = rows[:, :20], np.eye(3, dtype=np.float32)[rows[:, 20].astype(int)]
        x, net = (x - x.mean(0)) / x.std(0), Mlp(w)
        for i in range(0, len(x), w.batch):
            net.step(x[i:i + w.batch], y[i:i + w.batch])
        done[:] = net, x[:w.batch], y[:w.batch]
    return Task(looped(job, [()]), lambda: done[0].score(*done[1:]))


def make(w: Workload, system: str = "numpy") -> Task | None:
    """The workload in NumPy; None where nobody would write it by hand."""
    if w.task in ("lenet", "char", "uci", "block"):
        return None
    if w.task in ("table", "slopes"):
        return (_job if w.task == "table" else _slopes)(w)
    return _network(w) if w.sizes else _graph(w)
