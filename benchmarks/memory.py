"""Resident memory over many training steps, batch shapes, threads and requests: it must not grow.

    python benchmarks/memory.py [--steps 100000] [--shapes 1000] [--trace]

Every part runs for a while to warm up (until all plans that are kept have been made), then goes on while the resident size is read at ten
points in between; the table shows how far the last lies above the first. ``--trace`` names the lines of Python that allocated
what is left.
"""
from __future__ import annotations

import argparse
import gc
import os
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, ParallelInference, ParallelWrapper
from dl4py.samediff.data import DataSet
from dl4py.samediff.training import Adam

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> float:
    """Resident size of this process in MB."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / 1e6


def network() -> MultiLayerNetwork:
    """The tabular MLP 10-64-32-3."""
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater(Adam(1e-3)).activation("relu").list(
        DenseLayer(n_in=10, n_out=64), DenseLayer(n_in=64, n_out=32), OutputLayer(n_in=32, n_out=3)).build()).init()


def batch(rows: int, seed: int = 0) -> DataSet:
    """Random inputs and classes."""
    rng = np.random.default_rng(seed)
    return DataSet(rng.random((rows, 10), np.float32), np.eye(3, dtype=np.float32)[rng.integers(0, 3, rows)])


def steps(count: int) -> Callable[[int], object]:
    """The same training step again and again, on 16 batches of 32 rows."""
    net, data = network(), [batch(32, k) for k in range(16)]
    return lambda i: net.fit(data[i % 16])


def shapes_fitted(count: int) -> Callable[[int], object]:
    """Training on batches of ever other sizes."""
    net = network()
    return lambda i: net.fit(batch(1 + i % count))


def shapes_asked(count: int) -> Callable[[int], object]:
    """Outputs for batches of ever other sizes."""
    net = network()
    return lambda i: net.output(np.zeros((1 + i % count, 10), np.float32))


def threads(count: int) -> Callable[[int], object]:
    """New threads, each of which asks for some outputs."""
    net, x = network(), np.zeros((4, 10), np.float32)

    def work(i: int) -> None:
        made = [threading.Thread(target=net.output, args=(x,)) for _ in range(8)]
        for thread in made:
            thread.start()
        for thread in made:
            thread.join()
    return work


def requests(count: int) -> Callable[[int], object]:
    """Requests to a service, of several shapes."""
    service, xs = ParallelInference(network(), workers=2), [np.zeros((1 + k, 10), np.float32) for k in range(8)]
    return lambda i: [answer.result() for answer in [service.submit(x) for x in xs]]


def rounds(count: int) -> Callable[[int], object]:
    """Parallel training, each time with a wrapper of its own."""
    net, data = network(), [batch(8, k) for k in range(4)]

    def work(i: int) -> None:
        with ParallelWrapper(net, workers=2) as wrapper:
            wrapper.fit(data)
    return work


def measure(name: str, call: Callable[[int], object], count: int, warm_up: int, trace: bool) -> None:
    """Run a part and print its line of the table."""
    for i in range(warm_up):
        call(i)
    if trace:
        tracemalloc.start(8)
    before, sizes = tracemalloc.take_snapshot() if trace else None, [resident()]
    for point in range(10):
        for i in range(warm_up + count * point // 10, warm_up + count * (point + 1) // 10):
            call(i)
        sizes.append(resident())
    half = sizes[5:]
    print(f"{name:44}{sizes[0]:10.1f}{sizes[-1]:10.1f}{sizes[-1] - sizes[0]:+10.2f}{half[-1] - half[0]:+14.2f}"
          f"{1e6 * (sizes[-1] - sizes[0]) / count:12.1f}", flush=True)
    if before is not None:
        for line in tracemalloc.take_snapshot().compare_to(before, "lineno")[:6]:
            print(f"    {line}")
        tracemalloc.stop()


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--shapes", type=int, default=1000)
    parser.add_argument("--trace", action="store_true")
    args = parser.parse_args()
    print(f"{'resident size in MB':44}{'first':>10}{'last':>10}{'growth':>10}{'second half':>14}{'bytes/call':>12}")
    measure(f"{args.steps} training steps", steps(0), args.steps, 200, args.trace)
    measure(f"outputs for {args.shapes} batch sizes, twice", shapes_asked(args.shapes), 2 * args.shapes, args.shapes, args.trace)
    measure(f"training steps of {args.shapes} batch sizes, twice", shapes_fitted(args.shapes), 2 * args.shapes, args.shapes, args.trace)
    measure("400 times 8 new threads", threads(0), 400, 50, args.trace)
    measure("4000 requests of 8 shapes", requests(0), 500, 50, args.trace)
    measure("200 parallel trainings", rounds(0), 200, 20, args.trace)


if __name__ == "__main__":
    main()
