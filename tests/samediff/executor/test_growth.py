"""Work that grows with the size of a graph and not faster, counted in lines of Python that run."""
from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataType, SameDiff

pytestmark = pytest.mark.slow


def lines_run(work: Callable[..., Any], *args: Any) -> int:
    """How many lines run, each turn of a loop and of a comprehension counted."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        return trace
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work(*args)
    finally:
        sys.settrace(before)
    return count


def chain(nodes: int, gradients: bool) -> None:
    """A graph of products and activations, to its first result."""
    sd = SameDiff.create()
    w = sd.var("w", np.full((4, 4), 0.25, np.float32))
    y = sd.placeholder("x", DataType.FLOAT, -1, 4)
    for _ in range(nodes // 2):
        y = sd.math.tanh(y.mmul(w))
    feeds = {"x": np.ones((2, 4), np.float32)}
    if gradients:
        y.sum().mark_as_loss()
        sd.calculate_gradients(feeds, "w")
    else:
        sd.output_single(feeds, y.name())


def network(layers: int) -> None:
    """A network of dense layers, to the end of its first step."""
    builder = NeuralNetConfiguration.Builder().list()
    for _ in range(layers):
        builder.layer(DenseLayer(n_in=4, n_out=4, activation="swish"))      # its gradient is that of a composition
    net = MultiLayerNetwork(builder.layer(OutputLayer(n_in=4, n_out=2)).build()).init()
    net.fit(np.ones((2, 4), np.float32), np.eye(2, dtype=np.float32))


def wide(branches: int) -> None:
    """Sums of branches of one input, which are fused or not."""
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 4)
    y = x
    for i in range(branches):
        y = y + sd.math.sin(x * float(i % 7)).mmul(sd.constant(np.eye(4, dtype=np.float32)))
    sd.output_single({"x": np.ones((2, 4), np.float32)}, y.name())


@pytest.mark.parametrize(("work", "size"), [(lambda n: chain(n, False), 80), (lambda n: chain(n, True), 80), (network, 40), (wide, 80)],
                         ids=["chain", "gradients of a chain", "network", "wide"])
def test_work_grows_with_the_size(work, size):
    work(4 * size)          # what is made once
    small, large = (lines_run(work, n) for n in (size, 4 * size))
    assert large < 4.15 * small, f"{small} lines for {size}, {large} for {4 * size}"
