"""How much faster two and 64 threads get answers of one network than one thread alone.

    python benchmarks/concurrency.py [--seconds 1.0] [--rounds 5] [--profile]

Method: every thread asks for outputs of the same network as fast as it can for the given time; one, two and 64 threads are
measured in turn, so that a change of the machine's speed meets all alike, and the best of the rounds is compared. Two processes that do
the same without sharing anything say what the machine can give at best. ``--profile`` also shows how long a call holds the
interpreter's lock (GIL).
"""
from __future__ import annotations

import argparse
import multiprocessing
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dl4py.layers import ConvolutionLayer, DenseLayer, InputType, OutputLayer, SubsamplingLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, ParallelInference

#: name: what builds the network and one input
NETWORKS: dict[str, tuple[Callable[[], MultiLayerNetwork], tuple[int, ...]]] = {}


def workload(name: str, *shape: int) -> Callable[[Callable[[], MultiLayerNetwork]], Callable[[], MultiLayerNetwork]]:
    """Add a network to the table."""
    def add(make: Callable[[], MultiLayerNetwork]) -> Callable[[], MultiLayerNetwork]:
        NETWORKS[name] = make, shape
        return make
    return add


@workload("MLP 10-64-32-3, batch 1", 1, 10)
@workload("MLP 10-64-32-3, batch 32", 32, 10)
def tabular() -> MultiLayerNetwork:
    """A small network for tables."""
    return MultiLayerNetwork(_builder().list(DenseLayer(n_in=10, n_out=64), DenseLayer(n_in=64, n_out=32),
                                             OutputLayer(n_in=32, n_out=3)).build()).init()


@workload("MLP 784-256-10, batch 8", 8, 784)             # products that the BLAS library does not share among threads
@workload("MLP 784-256-10, batch 128", 128, 784)
def digits() -> MultiLayerNetwork:
    """A dense network for pictures of digits."""
    return MultiLayerNetwork(_builder().list(DenseLayer(n_in=784, n_out=256), OutputLayer(n_in=256, n_out=10)).build()).init()


@workload("MLP 512-2048-2048-10, batch 8", 8, 512)
def wide() -> MultiLayerNetwork:
    """Large products: nearly all time is spent in kernels."""
    return MultiLayerNetwork(_builder().list(DenseLayer(n_in=512, n_out=2048), DenseLayer(n_in=2048, n_out=2048),
                                             OutputLayer(n_in=2048, n_out=10)).build()).init()


@workload("LeNet, batch 16", 16, 1, 28, 28)
def lenet() -> MultiLayerNetwork:
    """A convolutional network for pictures of digits."""
    builder = _builder().list()
    for filters in (20, 50):
        builder.layer(ConvolutionLayer(kernel_size=(5, 5), n_out=filters)).layer(SubsamplingLayer(kernel_size=(2, 2), stride=(2, 2)))
    builder.layer(DenseLayer(n_out=500)).layer(OutputLayer(n_out=10))
    return MultiLayerNetwork(builder.set_input_type(InputType.convolutional(28, 28, 1)).build()).init()


def _builder() -> Any:
    return NeuralNetConfiguration.Builder().seed(1).activation("relu")


def rate(ask: Callable[[Any], object], inputs: list[Any], threads: int, seconds: float) -> float:
    """Answers per second that so many threads get together."""
    counts, begin, end = [0] * threads, threading.Barrier(threads + 1), [0.0]

    def work(k: int) -> None:
        x, done = inputs[k % len(inputs)], 0
        begin.wait()
        while time.perf_counter() < end[0]:
            for _ in range(5):
                ask(x)
            done += 5
        counts[k] = done

    running = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    for thread in running:
        thread.start()
    began = time.perf_counter()
    end[0] = began + seconds
    begin.wait()
    for thread in running:
        thread.join()
    return sum(counts) / (time.perf_counter() - began)


def _alone(name: str, seconds: float, begin: Any, rates: Any) -> None:
    make, shape = NETWORKS[name]
    net, x = make(), np.random.default_rng(0).random(shape, np.float32)
    net.output(x)
    begin.wait()
    rates.put(rate(net.output, [x], 1, seconds))


def two_processes(name: str, seconds: float) -> float:
    """Answers per second of two processes that share nothing."""
    context = multiprocessing.get_context("spawn")
    begin, rates = context.Barrier(2), context.Queue()
    running = [context.Process(target=_alone, args=(name, seconds, begin, rates)) for _ in range(2)]
    for process in running:
        process.start()
    total = sum(float(rates.get()) for _ in running)
    for process in running:
        process.join()
    return total


def lock_held(net: MultiLayerNetwork, x: Any, seconds: float) -> tuple[float, float]:
    """Microseconds of one call, and the part of it in which no other thread can run Python.

    A second thread counts in pure Python: what it loses while the first one calls is the time in which that one had the lock.
    """
    def counted(also: Callable[[], object] | None) -> tuple[float, float]:
        stop, calls = threading.Event(), [0]

        def call() -> None:
            while not stop.is_set():
                if also is not None:
                    also()
                    calls[0] += 1
        other = threading.Thread(target=call)
        if also is not None:
            other.start()
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            for _ in range(1000):
                count += 1
        stop.set()
        if also is not None:
            other.join()
        return count / seconds, calls[0] / seconds

    free = counted(None)[0]
    busy, calls = counted(lambda: net.output(x))
    began = time.perf_counter()
    for _ in range(200):
        net.output(x)
    alone = (time.perf_counter() - began) / 200
    return alone * 1e6, (1 - busy / free) / calls * 1e6 if calls else float("nan")


def compare(name: str, net: MultiLayerNetwork, inputs: list[Any], rounds: int, seconds: float) -> dict[str, float]:
    """Answers per second in all ways, the best of the rounds."""
    with ParallelInference(net, workers=2) as service:
        ways: dict[str, Callable[[], float]] = {
            "1": lambda: rate(net.output, inputs, 1, seconds), "2": lambda: rate(net.output, inputs, 2, seconds),
            "64": lambda: rate(net.output, inputs, 64, seconds), "processes": lambda: two_processes(name, seconds),
            "batched": lambda: rate(service.output, inputs, 64, seconds)}
        for _ in range(64):
            net.output(inputs[0])
        found = dict.fromkeys(ways, 0.0)
        for turn in range(rounds):
            for way, measure in ways.items():
                if way != "processes" or turn < 2:       # they take long to start
                    found[way] = max(found[way], measure())
    return found


def main() -> None:
    """Measure all networks and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    print(f"{'answers per second':32}{'1 thread':>10}{'2 threads':>18}{'64 threads':>18}{'2 processes':>18}{'64, BATCHED':>18}")
    for name, (make, shape) in NETWORKS.items():
        net, rng = make(), np.random.default_rng(0)
        inputs = [rng.random(shape, np.float32) for _ in range(4)]
        found = compare(name, net, inputs, args.rounds, args.seconds)
        cells = [f"{found[w]:10.0f} ({found[w] / found['1']:4.2f}x)" for w in ("2", "64", "processes", "batched")]
        print(f"{name:32}{found['1']:10.0f}" + "".join(f"{c:>18}" for c in cells), flush=True)
        if args.profile:
            whole, held = min((lock_held(net, inputs[0], args.seconds) for _ in range(args.rounds)), key=lambda t: t[0])
            print(f"{'':4}one call {whole:.1f} us; the lock is held for about {held:.1f} us of it")


if __name__ == "__main__":
    main()
