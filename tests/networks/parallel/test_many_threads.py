"""One network asked by many threads at once: no wrong answer, also while plans are being built and dropped."""
from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from dl4py.layers import BatchNormalization, ConvolutionLayer, DenseLayer, InputType, OutputLayer, SubsamplingLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, ParallelInference

ROWS = range(1, 13)


def network(kind):
    builder = NeuralNetConfiguration.Builder().seed(5).activation("relu").list()
    if kind == "dense":
        return MultiLayerNetwork(builder.layer(DenseLayer(n_in=10, n_out=64)).layer(DenseLayer(n_in=64, n_out=32))
                                 .layer(OutputLayer(n_in=32, n_out=3)).build()).init(), (10,)
    builder.layer(ConvolutionLayer(n_out=4, kernel_size=(3, 3))).layer(BatchNormalization()).layer(
        SubsamplingLayer(kernel_size=(2, 2), stride=(2, 2))).layer(OutputLayer(n_out=3))
    return MultiLayerNetwork(builder.set_input_type(InputType.convolutional(8, 8, 1)).build()).init(), (1, 8, 8)


def ask(output, wanted, threads, times):
    """What went wrong when each thread asks so many times for batches of changing sizes."""
    wrong, begin = [], threading.Barrier(threads)

    def work(k):
        begin.wait()
        try:
            for i in range(times):
                x, right = wanted[(i * 7 + k) % len(wanted)]
                found = output(x)
                if found.shape != right.shape or not np.allclose(found, right, atol=1e-5):
                    wrong.append((k, i, found))
        except Exception as error:
            wrong.append((k, error))

    running = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return wrong


@pytest.fixture
def impatient():
    """Threads take turns a thousand times more often than usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


def sizes(threads, times):
    return pytest.param(threads, times, marks=[pytest.mark.slow] if threads * times > 10_000 else [], id=f"{threads}x{times}")


@pytest.mark.parametrize("kind", ["dense", pytest.param("images", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("threads", "times"), [sizes(16, 60), sizes(64, 300)])
def test_no_wrong_answer(kind, threads, times, impatient):
    net, shape = network(kind)
    alone = net.clone()
    rng = np.random.default_rng(1)
    wanted = [(x, alone.output(x)) for x in (rng.normal(size=(n, *shape)).astype(np.float32) for n in ROWS)]
    assert ask(net.output, wanted, threads, times) == []


@pytest.mark.parametrize("mode", ["BATCHED", "SEQUENTIAL", "INPLACE"])
@pytest.mark.parametrize(("threads", "times"), [sizes(16, 30), sizes(64, 300)])
def test_no_wrong_answer_of_a_service(mode, threads, times):
    net, shape = network("dense")
    rng = np.random.default_rng(1)
    wanted = [(x, net.output(x)) for x in (rng.normal(size=(n, *shape)).astype(np.float32) for n in ROWS)]
    with ParallelInference(net, inference_mode=mode, workers=2) as service:
        assert ask(service.output, wanted, threads, times) == []


def test_answers_while_the_network_is_trained():
    """Parameters change, so only shapes and sums can be checked; training itself is not disturbed."""
    net, shape = network("dense")
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(32, *shape)).astype(np.float32), np.eye(3, dtype=np.float32)[rng.integers(0, 3, 32)]
    alone, stop, wrong = net.clone(), threading.Event(), []

    def read():
        while not stop.is_set():
            found = net.output(x[:5])
            if found.shape != (5, 3) or not np.allclose(found.sum(1), 1, atol=1e-4):
                wrong.append(found)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for _ in range(50):
        net.fit(x, y)
    stop.set()
    for reader in readers:
        reader.join()
    for _ in range(50):
        alone.fit(x, y)
    assert wrong == []
    np.testing.assert_array_equal(net.params(), alone.params())
