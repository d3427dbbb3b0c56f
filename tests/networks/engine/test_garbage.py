"""Garbage is collected at any point, in any thread."""
from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from dl4py.layers import DenseLayer, InputType, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, ParallelInference, ParallelWrapper
from dl4py.samediff.data import AsyncDataSetIterator, DataSet, ExistingDataSetIterator
from dl4py.samediff.training import Adam

RNG = np.random.default_rng(3)
BATCHES = [DataSet(RNG.standard_normal((8, 4)).astype("f"), np.eye(3, dtype="f")[RNG.integers(0, 3, 8)]) for _ in range(4)]


def network(units=7):
    builder = NeuralNetConfiguration.Builder().seed(5).updater(Adam(0.01))
    conf = builder.list(DenseLayer(n_out=units, activation="tanh"), OutputLayer(n_out=3))
    return MultiLayerNetwork(conf.set_input_type(InputType.feed_forward(4)).build()).init()


@pytest.fixture(autouse=True)
def light():
    """What was there before is left out, so that a collection takes no time."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_collections_at_any_point_of_training_and_of_requests():
    ours = network(9)
    gc.set_threshold(1, 1, 10)          # nearly every object that is made sets the collector to work
    ours.fit(BATCHES)
    ours.fit(AsyncDataSetIterator(ExistingDataSetIterator(BATCHES), 2))
    with ParallelInference(ours) as service:
        found = service.output(BATCHES[0].features)
    gc.set_threshold(700, 10, 10)
    wanted = network(9)
    wanted.fit(BATCHES * 2)
    np.testing.assert_array_equal(ours.params(), wanted.params())
    np.testing.assert_array_equal(found, wanted.output(BATCHES[0].features))


def test_networks_in_cycles_end_in_whatever_thread_collects():
    ended, end, before = [], threading.Event(), set(threading.enumerate())

    def collect():
        while not end.wait(0.005):
            gc.collect()
    threads = [threading.Thread(target=collect) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for k in range(10):
            net = network()
            wrapper, service = ParallelWrapper(net, workers=2), ParallelInference(net)
            cycle = [net, wrapper, service, iter(AsyncDataSetIterator(ExistingDataSetIterator(BATCHES), 2))]
            next(cycle[-1])
            cycle.append(cycle)
            wrapper.fit(BATCHES)
            service.output(BATCHES[0].features)
            net.fit(BATCHES)
            weakref.finalize(net, ended.append, k)
            del net, wrapper, service, cycle
    finally:
        end.set()
        for thread in threads:
            thread.join()
    for _ in range(200):
        gc.collect()
        left = [t.name for t in set(threading.enumerate()) - before
                if t.name.startswith(("dl4py-training", "dl4py-inference", "dl4py-read"))]
        if not left and len(ended) == 10:
            break
        threading.Event().wait(0.05)
    assert sorted(ended) == list(range(10)) and not left
