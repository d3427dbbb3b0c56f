"""What users write against its built-in twin: one process, in turn, minima of many short slices.

    python benchmarks/plug_ins.py [words of the rows wanted]
"""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from plug_in_layers import MyAttention, MyBatchNorm, MyDropout, MyGru, MyNonNegative, MySimpleRnn
from plug_in_ops import affine, java_plus, plus, scaled

from dl4py.layers import (
    LSTM,
    BatchNormalization,
    DenseLayer,
    InputType,
    NonNegativeConstraint,
    OutputLayer,
    RnnOutputLayer,
    SelfAttentionLayer,
    SimpleRnn,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration

ROUNDS, PIECE = 60, 0.01
Pair = tuple[Callable[[], Any], Callable[[], Any]]


def network(layers: list[Any], kind: InputType) -> MultiLayerNetwork:
    builder = NeuralNetConfiguration.Builder().seed(1).list()
    for one in layers:
        builder = builder.layer(one)
    return MultiLayerNetwork(builder.set_input_type(kind).build()).init()


def fits(mine: list[Any], built_in: list[Any], kind: InputType, x: Any, y: Any) -> Pair:
    nets = [network(layers, kind) for layers in (mine, built_in)]
    return lambda: nets[0].fit(x, y), lambda: nets[1].fit(x, y)


def rows(batch: int, size: int, mine: list[Any], built_in: list[Any]) -> Pair:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(batch, size)).astype("f"), np.eye(4, dtype="f")[rng.integers(0, 4, batch)]
    return fits([*mine, OutputLayer(n_out=4)], [*built_in, OutputLayer(n_out=4)], InputType.feed_forward(size), x, y)


def series(batch: int, size: int, steps: int, mine: list[Any], built_in: list[Any]) -> Pair:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(batch, size, steps)).astype("f")
    y = np.eye(4, dtype="f")[rng.integers(0, 4, (batch, steps))].transpose(0, 2, 1).copy()
    return fits([*mine, RnnOutputLayer(n_out=4)], [*built_in, RnnOutputLayer(n_out=4)], InputType.recurrent(size, steps), x, y)


def dense(n: int, **more: Any) -> DenseLayer:
    return DenseLayer(n_out=n, activation="relu", **more)


def calls() -> dict[str, Callable[[], Pair]]:
    """One number and a small array, against NumPy: what a call costs above it."""
    one, many = np.ones(1, "f"), np.ones((64, 64), "f")
    return {
        "call, one number, against NumPy": lambda: (lambda: scaled(one, beta=2.0), lambda: one / (1 + np.exp(-2.0 * one))),
        "call, 64x64, against NumPy": lambda: (lambda: scaled(many, beta=2.0), lambda: many / (1 + np.exp(-2.0 * many))),
        "call, reductions, against NumPy": lambda: (lambda: affine(many), lambda: many / np.sqrt((many * many).mean(-1, keepdims=True))),
        "graph, DL4J's form, against nodes": lambda: (java_plus(many), plus(many)),
    }


ROWS: dict[str, Callable[[], Pair]] = {}
for b, n in ((32, 32), (128, 256)):
    ROWS |= {
        f"batch norm {b}x{n}": lambda b=b, n=n: rows(b, n, [dense(n), MyBatchNorm()], [dense(n), BatchNormalization(use_log_std=False)]),
        f"dropout {b}x{n}": lambda b=b, n=n: rows(b, n, [dense(n), dense(n, dropout=MyDropout(p=0.5))], [dense(n), dense(n, dropout=0.5)]),
        f"constraint {b}x{n}": lambda b=b, n=n: rows(b, n, [dense(n, constraints=[MyNonNegative(params=("W",))])],
                                                     [dense(n, constraints=[NonNegativeConstraint(params=("W",))])]),
    }
for b, n, t in ((16, 16, 20), (32, 64, 40)):
    def pair(mine: Any, built_in: Any, size: tuple[int, int, int] = (b, n, t)) -> Callable[[], Pair]:
        return lambda: series(*size, [mine], [built_in])
    ROWS |= {
        f"simple rnn by scan {b}x{n}x{t}": pair(MySimpleRnn(n_out=n), SimpleRnn(n_out=n, activation="tanh")),
        f"GRU by scan against LSTM {b}x{n}x{t}": pair(MyGru(n_out=n), LSTM(n_out=n, activation="tanh")),
        f"attention {b}x{n}x{t}": pair(MyAttention(n_out=n, heads=4), SelfAttentionLayer(n_out=n, n_heads=4, project_input=True))}
ROWS |= calls()


def minima(pair: Pair) -> tuple[float, float]:
    """Seconds of one call of each, the best of pieces taken in turn."""
    counts, best = [], [float("inf"), float("inf")]
    for call in pair:
        for _ in range(5):
            call()
        begin = time.perf_counter()
        call()
        counts.append(max(1, int(PIECE / (time.perf_counter() - begin))))
    for _ in range(ROUNDS):
        for i, call in enumerate(pair):
            begin = time.perf_counter()
            for _ in range(counts[i]):
                call()
            best[i] = min(best[i], (time.perf_counter() - begin) / counts[i])
    return best[0], best[1]


if __name__ == "__main__":
    for name, make in ROWS.items():
        if all(word in name for word in sys.argv[1:]):
            mine, built_in = minima(make())
            print(f"{name:40} {mine * 1e6:10.1f} us {built_in * 1e6:10.1f} us {mine / built_in:7.2f}", flush=True)
