"""Workers on devices of their own."""
from __future__ import annotations

import ctypes
import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dl4py.layers import BatchNormalization, DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, ParallelWrapper, TrainingMode
from dl4py.networks.parallel import workers
from dl4py.networks.parallel.all_reduce import BrokenGroupError, ThreadAllReduce
from dl4py.networks.parallel.device_all_reduce import DeviceAllReduce
from dl4py.samediff import DataSet, Device
from dl4py.samediff.cuda.drivers.drivers import driver_of
from dl4py.samediff.device.device_memory import MirroredArray, to_host
from dl4py.samediff.errors import DeviceError
from dl4py.samediff.training import Adam
from tests.samediff.cuda.support import needs_compiler

pytestmark = needs_compiler
PLACES = [Device.of(f"emulated:{k}") for k in range(3)]


class Links:
    """What NCCL does, for ranks whose devices share the memory of the host."""

    def __init__(self, size):
        self.barrier, self.lent, self.calls = threading.Barrier(size), [0] * size, []

    def connect(self, size, rank):
        return Link(self, rank)


class Link:
    def __init__(self, links, rank):
        self.links, self.rank = links, rank

    def _exchange(self, place, size, kind, combine):
        links = self.links
        links.lent[self.rank] = self._array(place, size, kind)
        links.calls.append(size)
        links.barrier.wait()
        result = combine(links.lent)
        links.barrier.wait()
        links.lent[self.rank][...] = result
        links.barrier.wait()

    def _array(self, place, size, kind):
        dtype = {4: np.int64, 7: np.float32, 8: np.float64}[kind]
        return np.frombuffer((ctypes.c_char * (size * np.dtype(dtype).itemsize)).from_address(place), dtype)

    def allReduce(self, source, target, size, kind, operation, stream):
        assert source == target and operation == 0
        self._exchange(source, size, kind, lambda arrays: np.sum(arrays, 0))

    def broadcast(self, source, target, size, kind, root, stream):
        assert source == target and root == 0
        self._exchange(source, size, kind, lambda arrays: arrays[0].copy())

    def abort(self):
        self.links.barrier.abort()


def _ranks():
    links = Links(3)
    return links, DeviceAllReduce.over(PLACES, links.connect)


def _each(ends, work):
    with ThreadPoolExecutor(len(ends)) as pool:
        return list(pool.map(work, ends))


@pytest.mark.parametrize("size", [1, 64, 65, 1000])
def test_sums_and_means(size):
    links, ends = _ranks()
    arrays = [np.full(size, rank, np.float32) for rank in range(3)]
    _each(ends, lambda end: end.reduce(arrays[end.rank]))
    assert all((to_host(a) == 3).all() for a in arrays)
    _each(ends, lambda end: end.reduce(arrays[end.rank], 2.0))
    assert all((to_host(a) == 4.5).all() for a in arrays)
    assert len(links.calls) == (6 if size > 64 else 0)


def test_newer_values_of_a_device_count():
    _, ends = _ranks()
    arrays = [np.zeros(100, np.float32) for _ in range(3)]
    for array, place in zip(arrays, PLACES):
        driver, block = driver_of(place), MirroredArray.of(array)
        block.view(driver, array)[...] = place.index + 1
        block.changed_on(driver)
    _each(ends, lambda end: end.reduce(arrays[end.rank]))
    assert [to_host(a)[0] for a in arrays] == [6, 6, 6]


def test_broadcast():
    _, ends = _ranks()
    arrays = [np.arange(100, dtype=np.float64) * (rank + 1) for rank in range(3)]
    _each(ends, lambda end: end.broadcast(arrays[end.rank]))
    assert all((to_host(a) == np.arange(100)).all() for a in arrays)


def test_a_rank_that_ends_ends_the_others():
    _, ends = _ranks()

    def work(end):
        if end.rank == 1:
            end.abort()
            return "ended"
        try:
            end.reduce(np.zeros(100, np.float32))
        except BrokenGroupError:
            return "broken"
        return "done"
    assert _each(ends, work) == ["broken", "ended", "broken"]


def _network():
    conf = NeuralNetConfiguration.Builder().seed(3).updater(Adam(1e-2)).l2(1e-3).list(
        DenseLayer(n_in=6, n_out=12, activation="tanh"), BatchNormalization(), OutputLayer(n_out=3, activation="softmax"))
    return MultiLayerNetwork(conf.build()).init()


@pytest.mark.parametrize("mode", [TrainingMode.AVERAGING, TrainingMode.SHARED_GRADIENTS])
@pytest.mark.parametrize("batches", [6, 5])
def test_training_on_two_devices(mode, batches):
    rng = np.random.default_rng(0)
    classes = np.eye(3, dtype=np.float32)
    data = [DataSet(rng.standard_normal((8, 6)).astype(np.float32), classes[rng.integers(0, 3, 8)]) for _ in range(batches)]
    here, there = _network(), _network()
    for net, options in ((here, {}), (there, {"devices": ("emulated:0", "emulated:1")})):
        with ParallelWrapper(net, workers=2, training_mode=mode, **options) as wrapper:
            wrapper.fit(data)
            wrapper.fit(data)
    assert str(there.device()) == "emulated:0"
    np.testing.assert_allclose(there.params(), here.params(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(there.score(), here.score(), rtol=1e-5)


def test_processes_on_devices():
    rng, classes = np.random.default_rng(0), np.eye(3, dtype=np.float32)
    data = [DataSet(rng.standard_normal((8, 6)).astype(np.float32), classes[rng.integers(0, 3, 8)]) for _ in range(4)]
    here, there = _network(), _network()
    for net, options in ((here, {}), (there, {"processes": True, "devices": ("emulated:0", "emulated:1")})):
        with ParallelWrapper(net, workers=2, **options) as wrapper:
            wrapper.fit(data)
    np.testing.assert_allclose(there.params(), here.params(), rtol=1e-5, atol=1e-6)


def test_a_device_that_is_none():
    with pytest.raises(DeviceError, match="cuad"):
        ParallelWrapper(_network(), devices=("cuad:0",))


class Cut(BaseException):
    """Comes like an interrupt."""


@pytest.mark.parametrize("place", ["copied", "reduce", "_assign"])
@pytest.mark.parametrize("devices", [(), ("emulated:0", "emulated:1")])
def test_an_interrupted_average_leaves_the_last_step(monkeypatch, place, devices):
    """Parameters and updater state are those before the average, never those of one and not of the other, nor a sum."""
    rng, classes = np.random.default_rng(0), np.eye(3, dtype=np.float32)
    data = [DataSet(rng.standard_normal((8, 6)).astype(np.float32), classes[rng.integers(0, 3, 8)]) for _ in range(2)]
    alone, net = _network(), _network()
    alone.fit(data[0])
    if devices:
        monkeypatch.setattr(workers, "_group", lambda count, places: DeviceAllReduce.over(PLACES[:2], Links(2).connect))
    elif place == "_assign":
        pytest.skip("a host's arrays change in a transaction, which has tests of its own")
    kind = DeviceAllReduce if devices else ThreadAllReduce
    real, count = getattr(kind, place), itertools.count(1)
    at = 4 if place == "_assign" else 2         # two copies were made, one array was replaced

    def cut(self, array, *more):
        if self.rank == 0 and array.size > 2 and next(count) == at:
            raise Cut
        return real(self, array, *more)
    monkeypatch.setattr(kind, place, cut)
    with pytest.raises(Cut), ParallelWrapper(net, workers=2, averaging_frequency=1, devices=devices) as wrapper:
        wrapper.fit(data)
    np.testing.assert_allclose(net.params(), alone.params(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(net.updater_state(), alone.updater_state(), rtol=1e-5, atol=1e-6)
