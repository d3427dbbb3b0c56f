"""Planning takes steps in proportion to the size of a graph or network: function calls are counted, for one and for twice the size."""
from __future__ import annotations

import sys

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet, DataType, SameDiff

pytestmark = pytest.mark.plans

#: Twice the calls, and what a fixed part and rounding may add.
MOST = 2.15


def calls(job):
    """How many functions a job calls."""
    count = 0

    def counted(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        job()
    finally:
        sys.setprofile(before)
    return count


def graph(nodes):
    sd = SameDiff.create()
    x, w = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.var("w", np.eye(4, dtype=np.float32))
    for _ in range(nodes // 2):
        x = sd.math.tanh(x.mmul(w))
    x.sum().rename("loss").mark_as_loss()
    return sd


def network(layers):
    builder = NeuralNetConfiguration.Builder().seed(1).list(*[DenseLayer(n_in=4, n_out=4, activation="tanh") for _ in range(layers)],
                                                            OutputLayer(n_in=4, n_out=2))
    return MultiLayerNetwork(builder.build())


X, Y = np.ones((3, 4), np.float32), np.eye(2, dtype=np.float32)[[0, 1, 0]]


def of_graph(use):
    def job(size):
        sd = graph(size)
        return lambda: use(sd)
    return job


def of_network(use):
    def job(size):
        net = network(size).init()
        return lambda: use(net)
    return job


JOBS = {
    "building a graph": (120, lambda size: lambda: graph(size)),
    "first result of a graph": (120, of_graph(lambda sd: sd.output({"x": X}, "loss"))),
    "first gradients of a graph": (120, of_graph(lambda sd: sd.calculate_gradients({"x": X}, ["w"]))),
    "summary of a graph": (120, of_graph(lambda sd: sd.summary())),
    "making a network": (30, lambda size: lambda: network(size).init()),
    "first step of a network": (30, of_network(lambda net: net.fit(DataSet(X, Y)))),
    "a later step of a network": (30, of_network(lambda net: (net.fit(DataSet(X, Y)), net.fit(DataSet(X, Y))))),
    "summary of a network": (30, of_network(lambda net: net.summary())),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", JOBS)
def test_growth(name):
    size, make = JOBS[name]
    make(4)()            # what is compiled or loaded once
    assert calls(make(2 * size)) < MOST * calls(make(size))
