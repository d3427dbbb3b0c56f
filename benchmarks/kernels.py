"""Nanoseconds per element of single ops as a plan runs them, beside the same in plain NumPy where that is short.

    python benchmarks/kernels.py [--seconds 0.15] [--only softmax]

The minimum over many runs of a graph with one op (or a chain that becomes one kernel) on float32, results kept by the plan's own memory.
"""
from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dl4py.samediff import Conv2DConfig, DataType, Pooling2DConfig, SameDiff


class Row(NamedTuple):
    """What is measured: nodes for variables of these shapes, and array code that gives the same."""

    build: Callable[..., Any]
    shapes: Sequence[tuple[int, ...]]
    plain: Callable[..., Any] | None = None


VECTOR, MATRIX, IMAGES = (1 << 17,), (256, 512), (16, 32, 28, 28)
POOL = Pooling2DConfig(k_h=2, k_w=2, s_h=2, s_w=2)


def _blocks(x: np.ndarray) -> np.ndarray:
    return x.reshape(*x.shape[:2], x.shape[2] // 2, 2, x.shape[3] // 2, 2)


ROWS = {
    "bias + relu": Row(lambda sd, x, b: sd.nn.relu(x + b, 0), [MATRIX, (512,)], lambda x, b: np.maximum(x + b, 0)),
    "tanh": Row(lambda sd, x: sd.math.tanh(x), [VECTOR], np.tanh),
    "exp": Row(lambda sd, x: sd.math.exp(x), [VECTOR], np.exp),
    "gelu": Row(lambda sd, x: sd.nn.gelu(x), [VECTOR]),
    "x sigmoid(1.7x) + tanh(x) exp(-xx)": Row(lambda sd, x: x * sd.nn.sigmoid(x * 1.7) + sd.math.tanh(x) * sd.math.exp(-(x * x)), [VECTOR],
                                              lambda x: x / (1 + np.exp(-1.7 * x)) + np.tanh(x) * np.exp(-x * x)),
    "sum of squares": Row(lambda sd, x: (x * x).sum(), [VECTOR], lambda x: (x * x).sum()),
    "maximum of rows": Row(lambda sd, x: x.max(1), [MATRIX], lambda x: x.max(1)),
    "sum over the batch": Row(lambda sd, x: x.sum(False, 0), [MATRIX], lambda x: x.sum(0)),
    "softmax": Row(lambda sd, x: sd.nn.softmax(x), [MATRIX],
                   lambda x: (e := np.exp(x - x.max(1, keepdims=True))) / e.sum(1, keepdims=True)),
    "layer norm": Row(lambda sd, x, g: sd.nn.layer_norm(x, g, False, 1), [MATRIX, (512,)],
                      lambda x, g: (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True) * g),
    "max pool 2 x 2": Row(lambda sd, x: sd.cnn.max_pooling2d(x, POOL), [IMAGES], lambda x: _blocks(x).max((3, 5))),
    "average pool 2 x 2": Row(lambda sd, x: sd.cnn.avg_pooling2d(x, POOL), [IMAGES], lambda x: _blocks(x).mean((3, 5))),
    "convolution 3 x 3": Row(lambda sd, x, w: sd.cnn.conv2d(x, w, Conv2DConfig(k_h=3, k_w=3)), [IMAGES, (3, 3, 32, 32)]),
    "moments of channels": Row(lambda sd, x: sd.math.moments(x, [0, 2, 3])[1], [IMAGES], lambda x: x.var((0, 2, 3))),
    "gather of rows": Row(lambda sd, x: sd.gather(x, sd.constant(np.arange(0, 256, 3)), 0), [MATRIX], lambda x: x[::3].copy()),
}


def shortest(call: Callable[[], object], seconds: float) -> float:
    """The minimum of its times."""
    call()
    found, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end or found == float("inf"):
        start = time.perf_counter()
        call()
        found = min(found, time.perf_counter() - start)
    return found


def measured(row: Row, seconds: float) -> tuple[float, float | None]:
    """Nanoseconds per element of the first input: of a plan, and of NumPy."""
    rng, sd = np.random.default_rng(0), SameDiff.create()
    arrays = {f"x{k}": rng.normal(size=shape).astype(np.float32) for k, shape in enumerate(row.shapes)}
    made = row.build(sd, *(sd.placeholder(n, DataType.FLOAT, *a.shape) for n, a in arrays.items()))
    name, size = made.name(), arrays["x0"].size / 1e9
    plain = None if row.plain is None else shortest(lambda: row.plain(*arrays.values()), seconds) / size    # type: ignore[misc]
    return shortest(lambda: sd.output(arrays, name), seconds) / size, plain


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.15, help="for each side of a row")
    parser.add_argument("--only", default="", help="rows whose names hold this")
    given = parser.parse_args(arguments)
    for name, row in ROWS.items():
        if given.only in name:
            ours, numpy = measured(row, given.seconds)
            print(f"{name:36s} {ours:8.3f} ns" + ("" if numpy is None else f"  NumPy {numpy:8.3f} ns  {numpy / ours:6.1f} x"))


if __name__ == "__main__":
    main()
