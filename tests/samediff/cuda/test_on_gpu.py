"""What only a GPU can show: graphs that are captured, arrays that stay there, streams, memory."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet, DataType, ListDataSetIterator, SameDiff, device
from dl4py.samediff.training import Adam

pytestmark = pytest.mark.gpu
RNG = np.random.default_rng(3)
X = RNG.standard_normal((64, 10)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 64)]


def _network():
    conf = NeuralNetConfiguration.Builder().seed(1).updater(Adam(1e-2)).list(
        DenseLayer(n_in=10, n_out=16, activation="relu"), OutputLayer(n_in=16, n_out=3, activation="softmax"))
    return MultiLayerNetwork(conf.build()).init()


def _graph():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 10)
    sd.nn.softmax("y", sd.math.tanh(x.mmul(sd.var("w", np.ones((10, 3), np.float32)))))
    return sd


def test_training_is_that_of_the_cpu():
    here, there = _network(), _network().to("cuda:0")
    for net in (here, there):
        net.fit(ListDataSetIterator(DataSet(X, Y).as_list(), 16), 5)
    np.testing.assert_allclose(there.params(), here.params(), rtol=1e-4, atol=1e-4)


def test_the_second_run_is_a_graph():
    sd = _graph()
    with device("cuda:0"):
        first, second, third = (sd.output_single({"x": X}, "y") for _ in range(3))
        assert "runs as one CUDA graph" in sd.explain({"x": X}, "y")
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, third)


def test_arrays_of_the_device_come_and_stay():
    cupy = pytest.importorskip("cupy")
    sd = _graph()
    with device("cuda:0", results_stay=True):
        found = sd.output_single({"x": cupy.asarray(X)}, "y")
    assert isinstance(found, cupy.ndarray)
    np.testing.assert_allclose(found.get(), sd.output_single({"x": X}, "y"), rtol=1e-5)


def test_64_streams():
    net, wrong = _network().to("cuda:0"), []
    wanted = net.output(X)

    def work():
        for _ in range(100):
            if not np.array_equal(net.output(X), wanted):
                wrong.append(1)
    threads = [threading.Thread(target=work) for _ in range(64)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.slow
def test_memory_stays_flat_over_many_steps():
    cupy = pytest.importorskip("cupy")
    net, batches = _network().to("cuda:0"), DataSet(X, Y).batch_by(16)
    net.fit(batches)
    before = cupy.get_default_memory_pool().total_bytes()
    for _ in range(250):
        net.fit(batches * 100)
    assert net.get_iteration_count() >= 100_000
    assert cupy.get_default_memory_pool().total_bytes() == before
