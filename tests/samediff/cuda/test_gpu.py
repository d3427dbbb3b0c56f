"""What the driver of a GPU asks CuPy for, on a stand-in; and the reasons why there is no GPU."""
from __future__ import annotations

import importlib
import importlib.util
import sys
import types

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.cuda import availability
from dl4py.samediff.cuda.drivers import drivers, gpu
from dl4py.samediff.cuda.drivers.gpu import Gpu
from dl4py.samediff.cuda.sources import source
from dl4py.samediff.device import devices
from dl4py.samediff.device.devices import Device, device
from dl4py.samediff.errors import DeviceError
from dl4py.samediff.plans.actions import ArrayCopy, KernelLaunch, MatrixProduct, ZeroFill
from tests.helpers.randomgraphs import agree
from tests.helpers.randomviews import RandomViews
from tests.samediff.cuda.standin import Cupy
from tests.samediff.cuda.support import needs_compiler
from tests.samediff.cuda.test_cublas import Library


class Recorded(Library):
    """Its products are work of streams, which graphs record."""

    def __init__(self, cuda):
        super().__init__()
        self.cuda = cuda

    def strided(self, handle, *args):
        stream = next(given[1] for name, given in self.calls if name == "cublasSetStream_v2" and given[0] == handle)
        self.cuda.put(stream, lambda: super(Recorded, self).strided(handle, *args))
        return self.status


@pytest.fixture
def cupy(monkeypatch):
    cupy = Cupy()
    monkeypatch.setattr(gpu, "cupy_for", lambda index: cupy)
    monkeypatch.setattr(gpu, "cublas_library", lambda cupy: Recorded(cupy.cuda))
    monkeypatch.setitem(sys.modules, "cupyx", types.SimpleNamespace(empty_pinned=lambda shape, dtype: np.empty(shape, dtype)))
    return cupy


def fill(y, value):
    return KernelLaunch(source("fill", T="float"), "fill", (2, 1, 1), (32, 1, 1), (y, np.float32(value), np.int64(y.size)))


@needs_compiler
def test_launches_copies_and_fills(cupy):
    device = Gpu(1)
    x, y, z, turned = (device.empty(shape, np.float32) for shape in ((3, 4), (3, 4), (3, 4), (4, 3)))
    run = device.prepare([fill(x, 2), ArrayCopy(x, y), ArrayCopy(device.upload(np.arange(12, dtype=np.float32).reshape(3, 4)), z),
                          ArrayCopy(z.T, turned),
                          ZeroFill(x)])
    with device.stream():
        run()
        run()
    assert (device.download(y) == 2).all() and not device.download(x).any()
    np.testing.assert_array_equal(device.download(turned), np.arange(12).reshape(3, 4).T)
    assert len(cupy.texts) == 2 and cupy.cuda.runtime.getDevice() == 0


@needs_compiler
def test_a_graph_is_recorded_and_launched(cupy):
    device = Gpu()
    x, y = device.empty((40,), np.float32), device.empty((40,), np.float32)
    x[...], y[...] = 0, 0
    run = device.prepare([fill(x, 3), ArrayCopy(x, y)])
    with device.stream():
        graph = device.capture(run)
        assert not y.any()
        graph()
        assert (y == 3).all()
        with pytest.raises(ZeroDivisionError):
            device.capture(lambda: 1 // 0)
        assert cupy.cuda.get_current_stream().recorded is None


@needs_compiler
def test_products(cupy):
    device, rng = Gpu(), np.random.default_rng(0)
    a, b = rng.standard_normal((2, 3, 4)).astype(np.float32), rng.standard_normal((2, 5, 8)).astype(np.float32)
    out = device.empty((2, 3, 5), np.float32)
    factors = device.upload(a), device.upload(b)[..., ::2].swapaxes(1, 2)
    run = device.prepare([MatrixProduct(*factors, out)])
    with device.stream():
        run()
    np.testing.assert_allclose(device.download(out), a @ b[..., ::2].swapaxes(1, 2), rtol=1e-5)


def test_tf32(cupy, monkeypatch):
    assert not Gpu().tf32
    monkeypatch.setenv("DL4PY_TF32", "1")
    assert Gpu().tf32
    monkeypatch.setenv("DL4PY_TF32", "0")
    device = Gpu()
    x = device.upload(np.eye(2, dtype=np.float32))
    for allowed, compute in ((False, 68), (True, 77)):
        device.tf32 = allowed
        device.prepare([MatrixProduct(x, x, device.empty((2, 2), np.float32))])()
        assert device._cublas._library.calls[-1][1][1] == compute


@needs_compiler
def test_shared_memory_beyond_what_all_may_have(cupy):
    device = Gpu()
    text = 'extern "C" __global__ void f(int *y) { extern __shared__ int s[]; s[threadIdx.x] = 1; y[0] = s[0]; }'
    y = device.empty((1,), np.int32)
    for size in (1 << 10, (47 << 10) + 16, 100 << 10, 60 << 10):
        device.prepare([KernelLaunch(text, "f", (1, 1, 1), (1, 1, 1), (y,), size)])()
    assert y[0] == 1 and len(cupy.texts) == 1
    assert device._functions[text, "f"].max_dynamic_shared_size_bytes == 100 << 10


def test_staging_has_two_buffers(cupy):
    device = Gpu()
    with device.stream():
        staging = device.staging(16)
        seen = []
        for i in range(4):
            host = staging.host()
            host[...] = i
            seen.append(host.ctypes.data)
            staging.send()
            assert (staging.device == i).all()
        assert seen[0] == seen[2] != seen[1] == seen[3]
        assert [e.log for e in staging._events] == [["synchronize", "record"] * 2] * 2
        empty = device.staging(0)
        empty.host()
        empty.send()


def test_memory(cupy):
    device = Gpu()
    memory = device.upload(np.arange(12, dtype=np.float32))
    part = device.view(memory, 8, (2, 3), np.float32, (20, 4))
    np.testing.assert_array_equal(device.download(part), [[2, 3, 4], [7, 8, 9]])
    assert device.view(memory, 0, (0, 3), np.float64).shape == (0, 3)
    target = np.zeros((3, 2), np.float32).T
    assert device.download(part, target) is target
    np.testing.assert_array_equal(target, [[2, 3, 4], [7, 8, 9]])
    large = np.arange(1 << 16, dtype=np.float64)
    np.testing.assert_array_equal(device.download(device.upload(large)), large)
    assert device.download(device.upload(np.float32(3) * np.ones(()))).shape == ()
    for host, place in ((np.zeros(3), memory), (np.zeros(6, np.float32), part), (np.zeros(12), memory)):
        with pytest.raises(DeviceError):
            device.upload(host, place)


@needs_compiler
def test_what_is_refused(cupy):
    device = Gpu()
    y = device.empty((4, 4), np.float32)
    text = source("fill", T="float")
    for action, message in (
            (KernelLaunch(text, "fill", (0, 1, 1), (1, 1, 1), ()), "at least one block"),
            (KernelLaunch(text, "fill", (1, 1, 1), (1, 1, 1), (1.0,)), "argument 0: .* got float"),
            (KernelLaunch(text, "fill", (1, 1, 1), (1, 1, 1), (np.zeros(3),)), "argument 0: .* got ndarray"),
            (KernelLaunch(text, "fill", (1, 1, 1), (512, 1, 1), (y, np.float32(1), np.int64(16))), "256 threads on this GPU, 512"),
            (KernelLaunch("#error", "f", (1, 1, 1), (1, 1, 1), ()), "does not compile"),
            (ArrayCopy(y, y[:2]), "one type and shape"), (ZeroFill(y.T[1:]), "contiguous")):
        with pytest.raises(DeviceError, match=message):
            device.prepare([action])


@needs_compiler
def test_a_graph_as_on_the_cpu(cupy, monkeypatch):
    monkeypatch.setitem(drivers._drivers, Device("cuda", 0), Gpu())
    sd, rng = SameDiff.create(), np.random.default_rng(3)
    x = sd.placeholder("x", shape=(-1, 5))
    w = sd.var("w", rng.standard_normal((5, 4)).astype(np.float32))
    y = sd.math.tanh("y", x.mmul(w) + 1)
    (y.permute(1, 0) * 2).rename("twice")
    for batch in (3, 7):
        fed = rng.standard_normal((batch, 5)).astype(np.float32)
        want = sd.output({"x": fed}, "y", "twice")
        with device("cuda"):
            for _ in range(4):              # the third time as a recorded graph
                got = sd.output({"x": fed}, "y", "twice")
                np.testing.assert_allclose(got["y"], want["y"], rtol=1e-5)
                np.testing.assert_allclose(got["twice"], want["twice"], rtol=1e-5)
    assert cupy.cuda.graphs == 2


@pytest.mark.sampled(4)
@needs_compiler
@pytest.mark.filterwarnings("ignore:op .* has no CUDA kernel")     # the stand-in knows few functions
@pytest.mark.parametrize("seed", [5, 7, 17, 24])
def test_views_that_computed_arrays_steer(cupy, monkeypatch, seed):
    monkeypatch.setattr(drivers, "_drivers", {})
    devices._backends.clear()
    graph = RandomViews(seed)
    names = graph.names()
    with device("cuda:0"):
        for a, b, values in ((3, 5, 0), (3, 5, 1), (2, 1, 2)):
            agree(graph.sd, graph.feeds(a, b, values), *names)
    devices._backends.clear()


def missing(status, driver, wants=12090, count=None):
    """A CuPy whose runtime finds no GPU."""
    error = RuntimeError(f"status {status}")
    error.status = status

    def getDeviceCount():
        if count is None:
            raise error
        return count
    return types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=types.SimpleNamespace(
        getDeviceCount=getDeviceCount, driverGetVersion=lambda: driver, runtimeGetVersion=lambda: wants)))


@pytest.mark.parametrize("cupy, index, message", [
    (missing(35, 0), 0, "no NVIDIA driver.*status 35"),
    (missing(35, 12080, 13000), 0, r'CuPy is for CUDA 13.0, .* CUDA 12.8 at most: pip uninstall cupy-cuda13x, .*"dl4py\[cuda12\]"'),
    (missing(35, 11040), 0, "CUDA 12.9, .* CUDA 11.4 at most: install a newer NVIDIA driver"),
    (missing(100, 12080), 0, "it knows of none.*CUDA_VISIBLE_DEVICES.*status 100"),
    (missing(999, 12080), 0, "nvidia-smi .*status 999"),
    (missing(0, 12080, count=0), 0, "finds none"),
    (missing(0, 12080, count=1), 1, "no cuda:1: this machine has 1 GPU, cuda:0$"),
    (missing(0, 12080, count=4), 4, "has 4 GPUs, cuda:0 to cuda:3"),
])
def test_why_there_is_no_gpu(monkeypatch, cupy, index, message):
    monkeypatch.setattr(availability, "installed", lambda: cupy)
    with pytest.raises(DeviceError, match=message):
        availability.cupy_for(index)


def test_without_cupy(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DeviceError, match=r'CuPy, which is not installed: pip install "dl4py\[cuda12\]".*"dl4py\[cuda13\]"'):
        Gpu()


def test_a_cupy_that_does_not_load(monkeypatch):
    def broken(name):
        raise ImportError("libcudart.so is missing")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(DeviceError, match="cannot be loaded: libcudart.so is missing"):
        Gpu()


def test_without_cublas():
    with pytest.raises(DeviceError, match=r'cuBLAS of CUDA 99 is not there: pip install "cupy-cuda99x\[ctk\]"'):
        availability.cublas_library(missing(0, 99000, 99000))
