"""Queues of work on a GPU, and the memory through which runs get what comes from the host."""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np


class Queue(AbstractContextManager["Queue"]):
    """A stream of a GPU; inside ``with`` it and its GPU are the present ones of the thread.

    Parameters
    ----------
    cupy : the library
    index : of the GPU
    forget : called with the pointer of the stream when it is gone
    """

    def __init__(self, cupy: Any, index: int, forget: Callable[[int], None]) -> None:
        self._runtime, self._index, self._local = cupy.cuda.runtime, index, threading.local()
        self._stream = on_device(cupy.cuda.runtime, index, lambda: cupy.cuda.Stream(non_blocking=True))
        weakref.finalize(self, forget, self._stream.ptr).atexit = False

    def __enter__(self) -> Queue:
        before = self._runtime.getDevice()
        self._runtime.setDevice(self._index)            # also makes its context that of this thread
        self._stream.__enter__()
        if not hasattr(self._local, "before"):
            self._local.before = []
        self._local.before.append(before)
        return self

    def __exit__(self, *error: Any) -> None:
        self._stream.__exit__(*error)
        self._runtime.setDevice(self._local.before.pop())


def on_device(runtime: Any, index: int, call: Callable[[], Any]) -> Any:
    """Result of ``call()`` with a GPU as the current device."""
    before = runtime.getDevice()
    runtime.setDevice(index)
    try:
        return call()
    finally:
        if before != index:
            runtime.setDevice(before)


class PinnedBytes:
    """Bytes on the device and two buffers on the host: one is filled while the other is copied.

    Parameters
    ----------
    cupy, size : the library, and the number of bytes
    """

    def __init__(self, cupy: Any, size: int) -> None:
        import importlib
        self.device = cupy.empty((size,), np.uint8)
        self._cuda, self._size, self._turn = cupy.cuda, size, 0
        empty = importlib.import_module("cupyx").empty_pinned if size else np.empty
        self._hosts = [empty((size,), np.uint8) for _ in range(2)]
        self._events = [cupy.cuda.Event(disable_timing=True) for _ in range(2)]

    def host(self) -> np.ndarray[Any, Any]:
        """The buffer whose last copy is done."""
        self._turn ^= 1
        self._events[self._turn].synchronize()          # one that was never recorded is done
        return self._hosts[self._turn]

    def send(self) -> None:
        """Copy the bytes to the device, before any later work of the current stream."""
        if self._size:
            stream = self._cuda.get_current_stream()
            self._cuda.runtime.memcpyAsync(self.device.data.ptr, self._hosts[self._turn].ctypes.data, self._size,
                                           self._cuda.runtime.memcpyHostToDevice, stream.ptr)
            self._events[self._turn].record(stream)
