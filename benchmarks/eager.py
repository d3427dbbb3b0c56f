"""Calls on small arrays: what an operation of ``INDArray`` and of the op namespaces takes beside NumPy's own.

    python benchmarks/eager.py [--size 8] [--rounds 40] [--only add,mmul]

Both run in turn; minima count. The last column is what dl4py adds to a call.
"""
from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dl4py import Nd4j

CALLS = 400         # of one piece that is timed

Call = Callable[[], Any]


def rows(size: int) -> dict[str, tuple[Call, Call]]:
    """Each operation in dl4py and in NumPy."""
    a, b = (np.random.default_rng(k).normal(size=(size, size)).astype(np.float32) for k in (0, 1))
    x, y = Nd4j.create(a), Nd4j.create(b)
    out = np.empty_like(a)
    return {
        "add": (lambda: x.add(y), lambda: a + b),
        "x + y": (lambda: x + y, lambda: a + b),
        "addi": (lambda: x.addi(0.0), lambda: np.add(a, 0.0, out=out)),
        "mul": (lambda: x.mul(y), lambda: a * b),
        "mmul": (lambda: x.mmul(y), lambda: a @ b),
        "math.add": (lambda: Nd4j.math.add(x, y), lambda: a + b),
        "math.tanh": (lambda: Nd4j.math.tanh(x), lambda: np.tanh(a)),
        "base.mmul": (lambda: Nd4j.base.mmul(x, y), lambda: a @ b),
        "sum": (lambda: x.sum(), lambda: a.sum()),
        "sum(1)": (lambda: x.sum(1), lambda: a.sum(1)),
        "max(0)": (lambda: x.max(0), lambda: a.max(0)),
        "sumNumber": (lambda: x.sum_number(), lambda: float(a.sum())),
        "reshape": (lambda: x.reshape(-1), lambda: a.reshape(-1)),
        "transpose": (lambda: x.transpose(), lambda: a.T),
        "addRowVector": (lambda: x.add_row_vector(y[0]), lambda: a + b[0]),
        "getDouble": (lambda: x.get_double(1, 2), lambda: float(a[1, 2])),
        "nn.softmax": (lambda: Nd4j.nn.softmax(x), lambda: np.exp(a - a.max(1, keepdims=True))),
    }


def seconds(call: Call) -> float:
    """The time of one call in a piece of many."""
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - begin) / CALLS


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", default="", help="operations, with commas between")
    given = parser.parse_args(arguments)
    print(f"{'':14}{'dl4py us':>10}{'NumPy us':>10}{'more us':>10}")
    for name, pair in rows(given.size).items():
        if given.only and name not in given.only.split(","):
            continue
        ours, theirs = (min(times) * 1e6 for times in zip(*[[seconds(call) for call in pair] for _ in range(given.rounds)]))
        print(f"{name:14}{ours:10.2f}{theirs:10.2f}{ours - theirs:10.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
