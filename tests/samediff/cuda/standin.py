"""A stand-in for CuPy on NumPy arrays, with streams that record, so that what a GPU is asked for can be tried on any machine."""
from __future__ import annotations

import ctypes
import itertools
import threading
import types

import numpy as np

from dl4py.samediff.cuda.drivers.emulator import _stacks
from dl4py.samediff.cuda.drivers.host_code import library
from dl4py.samediff.cuda.sources import text_of


class Pointer:
    """A place in memory."""

    def __init__(self, memory, ptr):
        self.mem, self.ptr = memory, ptr

    def __add__(self, offset):
        return Pointer(self.mem, self.ptr + offset)


class Array(np.ndarray):
    """An array "of the device"."""

    def __new__(cls, shape, dtype=float, memptr=None, strides=None):
        if memptr is None:
            return super().__new__(cls, shape, dtype)
        start = memptr.ptr - memptr.mem.ctypes.data
        return super().__new__(cls, shape, dtype, np.ndarray.data.__get__(memptr.mem.reshape(-1).view(np.uint8)), start, strides)

    @property
    def data(self):
        memory = self
        while isinstance(memory.base, Array):
            memory = memory.base
        return Pointer(memory, self.ctypes.data)


class CompileException(Exception):
    pass


class Stream:
    """One that does work at once, or records it."""

    numbers = itertools.count(100)

    def __init__(self, cuda, non_blocking=False):
        self.ptr, self.cuda, self.recorded = next(self.numbers), cuda, None
        assert non_blocking
        cuda.streams[self.ptr] = self
        self.device = cuda.runtime.getDevice()

    def __enter__(self):
        assert self.device == self.cuda.runtime.getDevice()
        self.cuda.stack().append(self)

    def __exit__(self, *error):
        assert self.cuda.stack().pop() is self

    def synchronize(self):
        assert self.recorded is None, "no waiting while a graph is recorded"

    def begin_capture(self):
        self.recorded = []

    def end_capture(self):
        recorded, self.recorded = self.recorded, None
        self.cuda.graphs += 1

        def launch():
            for call in recorded:
                call()
        return types.SimpleNamespace(launch=launch)


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.log = []

    def record(self, stream=None):
        self.log.append("record")

    def synchronize(self):
        self.log.append("synchronize")


class Runtime:
    memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice = 1, 2, 3

    def __init__(self, cuda, count):
        self.cuda, self.count, self.local = cuda, count, threading.local()

    def getDeviceCount(self):
        return self.count

    def getDevice(self):
        return getattr(self.local, "device", 0)

    def setDevice(self, device):
        assert 0 <= device < self.count
        self.local.device = device

    def runtimeGetVersion(self):
        return 12090

    def memcpyAsync(self, dst, src, size, kind, stream):
        assert kind in (1, 2, 3)
        self.cuda.put(stream, lambda: ctypes.memmove(dst, src, size))

    def memsetAsync(self, ptr, value, size, stream):
        self.cuda.put(stream, lambda: ctypes.memset(ptr, value, size))


class Driver:
    def __init__(self, cuda):
        self.cuda, self.functions = cuda, []

    def launchKernel(self, f, gx, gy, gz, bx, by, bz, shared_mem_bytes, stream, kernel_params, extra):
        function, kernel = self.functions[f - 1]
        assert shared_mem_bytes <= kernel.max_dynamic_shared_size_bytes and extra == 0
        size, message = (ctypes.c_uint * 6)(gx, gy, gz, bx, by, bz), ctypes.create_string_buffer(512)

        def run():
            function.run(kernel_params, size, shared_mem_bytes, 0, _stacks().ctypes.data, message)
            assert not message.value, message.value
        self.cuda.put(stream, run)


class Kernel:
    max_threads_per_block, shared_size_bytes = 256, 1 << 10

    def __init__(self, cuda, function):
        self.max_dynamic_shared_size_bytes = 47 << 10
        cuda.driver.functions.append((function, self))
        self.kernel = types.SimpleNamespace(ptr=len(cuda.driver.functions))


class Cuda:
    Event, compiler = Event, types.SimpleNamespace(CompileException=CompileException)

    def __init__(self, count):
        self.streams, self.local, self.graphs = {}, threading.local(), 0
        self.runtime, self.driver = Runtime(self, count), Driver(self)
        self.null = types.SimpleNamespace(ptr=0, recorded=None, synchronize=lambda: None)

    def stack(self):
        if not hasattr(self.local, "stack"):
            self.local.stack = []
        return self.local.stack

    def Stream(self, non_blocking=False):
        return Stream(self, non_blocking)

    def get_current_stream(self):
        return self.stack()[-1] if self.stack() else self.null

    def put(self, stream, call):
        found = self.streams.get(stream, self.null)
        if found.recorded is None:
            call()
        else:
            found.recorded.append(call)


class Cupy(types.ModuleType):
    """The module."""

    ndarray = Array

    def __init__(self, count=2):
        super().__init__("cupy")
        self.cuda, self.texts = Cuda(count), []

    def RawModule(self, *, code, options):
        assert options == ("-std=c++17",)
        self.texts.append(code)
        text = code.removeprefix(text_of("prelude.cuh"))
        assert text != code

        def get_function(name):
            if "#error" in text:
                raise CompileException("#error")
            return Kernel(self.cuda, library(text).function(name))
        return types.SimpleNamespace(get_function=get_function)

    @staticmethod
    def empty(shape, dtype):
        return Array(shape, dtype)

    @staticmethod
    def broadcast_to(array, shape):
        return np.broadcast_to(array, shape, subok=True)

    @staticmethod
    def ascontiguousarray(array):
        return np.array(array, order="C", subok=True, copy=None)
