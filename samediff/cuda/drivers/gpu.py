"""A GPU through CuPy: its memory, streams, compiler and graphs; kernels are launched by the driver's own call, products by cuBLAS.

NVRTC may join a product and a sum into one rounding, as the compiled code of the CPU does. Factors of float32 products are not rounded:
``DL4PY_TF32=1``, or :attr:`Gpu.tf32`, lets the tensor cores have them with 10 bits behind the point, several times as fast.
"""
from __future__ import annotations

import contextlib
import math
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from ...base.locks import rlock
from ...errors import DeviceError
from ...expressions.arrays import ArrayNamespace
from ...plans.actions import Action, ArrayCopy, KernelLaunch, MatrixProduct, ZeroFill
from ..arguments import Arguments
from ..availability import cublas_library, cupy_for
from ..sources import text_of
from . import cublas, strided
from .queues import PinnedBytes, Queue, on_device

Array = np.ndarray[Any, Any]
Call = Callable[[int], None]            # puts work into the stream of that pointer

OPTIONS = ("-std=c++17",)

#: Bytes of shared memory that every function may use; more has to be requested.
_SHARED = 48 << 10

#: Downloads of so many bytes go by way of memory that the device can write to directly.
_SMALL = 1 << 16


class Gpu:
    """The driver of one GPU.

    Parameters
    ----------
    index : number of the GPU

    Raises
    ------
    DeviceError
        What is missing: CuPy, a driver, a GPU, or a CuPy that is for this driver.
    """

    def __init__(self, index: int = 0) -> None:
        self._cupy = cupy_for(index)
        self._cuda = self._cupy.cuda
        self._runtime, self._driver = self._cuda.runtime, self._cuda.driver
        self.index, self.name = index, f"cuda:{index}"
        self.xp = ArrayNamespace(self._cupy, "cupyx.scipy.special")
        self._modules: dict[str, Any] = {}
        self._functions: dict[tuple[str, str], Any] = {}
        self._shared: dict[tuple[str, str], int] = {}           # bytes of shared memory that each may use
        self._lock, self._local = rlock(), threading.local()
        self._cublas: cublas.Cublas | None = None
        self._tf32 = os.environ.get("DL4PY_TF32", "0") not in ("", "0")

    @property
    def tf32(self) -> bool:
        """Whether factors of float32 products may be rounded to TF32; applies to what is prepared later."""
        return self._tf32

    @tf32.setter
    def tf32(self, allowed: bool) -> None:
        self._tf32 = allowed
        if self._cublas is not None:
            self._cublas.tf32 = allowed

    # Memory

    def empty(self, shape: Sequence[int], dtype: Any) -> Any:
        """An array on the device whose values are not set."""
        return self._here(lambda: self._cupy.empty(tuple(shape), dtype))

    def view(self, memory: Any, start: int, shape: Sequence[int], dtype: Any, strides: Sequence[int] | None = None) -> Any:
        """The array that begins ``start`` bytes into the memory of a contiguous array."""
        if not math.prod(shape):
            return self.empty(shape, dtype)
        return self._cupy.ndarray(tuple(shape), dtype, memory.data + start, None if strides is None else tuple(strides))

    def staging(self, size: int) -> PinnedBytes:
        """Memory for what every run gets from the host."""
        made: PinnedBytes = self._here(lambda: PinnedBytes(self._cupy, size))
        return made

    def upload(self, host: Array, target: Any = None) -> Any:
        """A copy on the device, which every queue sees."""
        if target is None:
            target = self.empty(host.shape, host.dtype)
        if not target.flags.c_contiguous:
            raise DeviceError(f"a contiguous array was expected, got one of shape {target.shape} and strides {target.strides}")
        _check_transfer(host, target)
        host = np.ascontiguousarray(host)

        def copy() -> None:
            stream = self._cuda.get_current_stream()
            self._runtime.memcpyAsync(target.data.ptr, host.ctypes.data, host.nbytes, self._runtime.memcpyHostToDevice, stream.ptr)
            stream.synchronize()
        if host.size:
            self._here(copy)
        return target

    def download(self, array: Any, target: Array | None = None) -> Array:
        """A copy on the host, once the present queue has come to it."""
        if target is None:
            target = np.empty(array.shape, array.dtype)
        _check_transfer(target, array)
        if target.size:
            self._here(lambda: self._download(array, target))
        return target

    def _download(self, array: Any, target: Array) -> None:
        array = self._cupy.ascontiguousarray(array)
        place = target if target.flags.c_contiguous else np.empty(target.shape, target.dtype)
        size, stream = place.nbytes, self._cuda.get_current_stream()
        small = self._pinned()[:size] if size <= _SMALL else None
        pointer = place.ctypes.data if small is None else small.ctypes.data
        self._runtime.memcpyAsync(pointer, array.data.ptr, size, self._runtime.memcpyDeviceToHost, stream.ptr)
        stream.synchronize()
        if small is not None:
            place.reshape(-1).view(np.uint8)[...] = small
        if place is not target:
            target[...] = place.reshape(target.shape)

    def _pinned(self) -> Array:
        """Page-locked memory of this thread."""
        if not hasattr(self._local, "pinned"):
            import importlib
            self._local.pinned = importlib.import_module("cupyx").empty_pinned((_SMALL,), np.uint8)
        pinned: Array = self._local.pinned
        return pinned

    # Time

    def stream(self) -> AbstractContextManager[Any]:
        """A new stream, as a context manager."""
        return Queue(self._cupy, self.index, self._forget)

    def _forget(self, stream: int) -> None:
        if self._cublas is not None:
            self._cublas.forget(stream)

    def synchronize(self) -> None:
        """Wait until the work of the present queue is done."""
        self._here(lambda: self._cuda.get_current_stream().synchronize())

    def capture(self, run: Callable[[], None]) -> Callable[[], None]:
        """Record the work of ``run`` as one CUDA graph; to be called within :meth:`stream`, after ``run`` itself ran there once."""
        def record() -> Callable[[], None]:
            stream = self._cuda.get_current_stream()
            if self._cublas is not None:
                self._cublas.handle(stream.ptr)
            stream.begin_capture()
            try:
                run()
            except BaseException:
                with contextlib.suppress(RuntimeError):         # the first error says it
                    stream.end_capture()
                raise
            launch: Callable[[], None] = stream.end_capture().launch
            return launch
        made: Callable[[], None] = self._here(record)
        return made

    def _here(self, call: Callable[[], Any]) -> Any:
        return on_device(self._runtime, self.index, call)

    # Work

    def prepare(self, actions: Sequence[Action]) -> Callable[[], None]:
        """A call that puts the work of the actions into the present queue."""
        calls: list[Call] = self._here(lambda: [call for action in actions for call in self._prepared(action)])
        runtime, index, current = self._runtime, self.index, self._cuda.get_current_stream

        def run() -> None:
            before = runtime.getDevice()
            runtime.setDevice(index)
            try:
                stream = current().ptr
                for call in calls:
                    call(stream)
            finally:
                if before != index:
                    runtime.setDevice(before)
        return run

    def _prepared(self, action: Action) -> list[Call]:
        match action:
            case KernelLaunch():
                return [self._launch(action)]
            case MatrixProduct():
                return self._product(action)
            case ArrayCopy():
                return self._copy(action.source, action.target)
            case ZeroFill():
                return self._fill(action.target)

    def _launch(self, launch: KernelLaunch) -> Call:
        if min(*launch.grid, *launch.block) < 1:
            raise DeviceError(f"{launch.name}: at least one block and one thread were expected, got {launch.grid} {launch.block}")
        for i, arg in enumerate(launch.args):
            if not isinstance(arg, (np.generic, self._cupy.ndarray)):
                raise DeviceError(f"{launch.name}, argument {i}: an array of the device or a NumPy scalar was expected, "
                                  f"got {type(arg).__name__}")
        kernel = self._function(launch)
        arguments = Arguments(launch.args, _address)
        start, function, pointer = self._driver.launchKernel, kernel.kernel.ptr, arguments.pointer
        size, shared = (*launch.grid, *launch.block), launch.shared

        def run(stream: int) -> None:
            start(function, *size, shared, stream, pointer, 0)
        run.__dict__["kept"] = kernel, arguments
        return run

    def _function(self, launch: KernelLaunch) -> Any:
        """The compiled function, loaded and allowed as much shared memory as it asks for."""
        key = launch.source, launch.name
        with self._lock:
            if launch.source not in self._modules:
                self._modules[launch.source] = self._cupy.RawModule(code=text_of("prelude.cuh") + launch.source, options=OPTIONS)
            if key not in self._functions:
                try:
                    self._functions[key] = self._modules[launch.source].get_function(launch.name)
                except self._cuda.compiler.CompileException as error:
                    raise DeviceError(f"the CUDA text of {launch.name} does not compile:\n{error}") from error
            kernel, threads = self._functions[key], math.prod(launch.block)
            most = kernel.max_threads_per_block         # asking for it loads the function
            if threads > most:
                raise DeviceError(f"{launch.name}: a block of it can have {most} threads on this GPU, {threads} were asked for")
            if launch.shared > self._shared.get(key, _SHARED - kernel.shared_size_bytes):
                self._shared[key] = kernel.max_dynamic_shared_size_bytes = launch.shared
        return kernel

    def _product(self, product: MatrixProduct) -> list[Call]:
        before: list[Call] = []

        def taken(factor: Any) -> Any:
            if cublas.fits(factor):
                return factor
            made = self._cupy.empty(factor.shape, factor.dtype)
            before.extend(self._copy(factor, made))
            return made
        product = replace(product, a=taken(product.a), b=taken(product.b))
        call = self._blas().prepare(product, lambda numbers: self.upload(np.array(numbers, np.int64)))
        call.__dict__["arrays"] = product
        return [*before, call]

    def _blas(self) -> cublas.Cublas:
        with self._lock:
            if self._cublas is None:
                self._cublas = cublas.Cublas(cublas_library(self._cupy), lambda size: self._cupy.empty((size,), np.uint8), _address,
                                             self._tf32)
            return self._cublas

    def _copy(self, source: Any, target: Any) -> list[Call]:
        if source.dtype != target.dtype or source.shape != target.shape:
            raise DeviceError(f"Copy: arrays of one type and shape were expected, got {source.dtype} {source.shape} for "
                              f"{target.dtype} {target.shape}")
        if not target.size:
            return []
        if not strided.is_plain(source, target):
            return [self._launch(launch) for launch in strided.launches(source, target)]
        copy, size, kind = self._runtime.memcpyAsync, source.nbytes, self._runtime.memcpyDeviceToDevice
        return [lambda stream: copy(target.data.ptr, source.data.ptr, size, kind, stream)]

    def _fill(self, target: Any) -> list[Call]:
        if not target.flags.c_contiguous:
            raise DeviceError(f"Fill: a contiguous array was expected, got one of shape {target.shape} and strides {target.strides}")
        fill, size = self._runtime.memsetAsync, target.nbytes
        return [lambda stream: fill(target.data.ptr, 0, size, stream)] if size else []


def _address(array: Any) -> int:
    return int(array.data.ptr)


def _check_transfer(host: Array, array: Any) -> None:
    if host.dtype != array.dtype or host.size != array.size:
        raise DeviceError(f"arrays of one type and size were expected, got {host.dtype} {host.shape} and {array.dtype} {array.shape}")
