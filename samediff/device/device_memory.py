"""Arrays whose values live on the host and on devices: which copy is the newest, and bringing it where it is needed.

Values are moved only when somebody on the other side asks. A host array that was given to a caller may be changed by him, so the next
run on a device takes its values from there; arrays that a caller got before a run on a device are not kept up to date by it.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.locks import rlock
from .driver import DeviceMemory

_blocks: dict[int, MirroredArray] = {}
_lock = rlock()


class MirroredArray:
    """A host array that owns its memory, and its copies on devices."""

    def __init__(self, host: Any) -> None:
        key = id(host)
        self._host = weakref.ref(host, lambda _: _blocks.pop(key, None))
        self._copies: dict[str, Any] = {}
        self._newest: DeviceMemory | None = None   # of the device that changed it last; None: the host
        self._current: set[str] = set()      # names of the devices whose copy is as new as the newest

    @staticmethod
    def of(array: Any) -> MirroredArray:
        """The block that an array is, or is a view of."""
        base = _base(array)
        with _lock:
            found = _blocks.get(id(base))
            if found is None:
                found = _blocks[id(base)] = MirroredArray(base)
            return found

    def on_host(self) -> None:
        """Bring the newest values to the host, where they may be changed from now on."""
        with _lock:
            host = self._host()
            if self._newest is not None and host is not None:
                self._newest.download(self._copies[self._newest.name], host)
            self._newest = None
            self._current.clear()

    def on_device(self, driver: DeviceMemory) -> None:
        """Bring the newest values to a device."""
        if driver.name in self._current:
            return
        with _lock:
            if self._newest is not None:
                self.on_host()
            host = self._host()
            assert host is not None
            driver.upload(host, self._copies[driver.name])
            self._current.add(driver.name)

    def kept(self, driver: DeviceMemory) -> Callable[[], None]:
        """What puts the present values of a device's copy back."""
        copy = self._copies[driver.name]
        before = copy.copy()

        def put_back() -> None:
            copy[...] = before
        return put_back

    def changed_on(self, driver: DeviceMemory) -> None:
        """Note that a device has written it."""
        if self._newest is not driver:
            with _lock:
                self._newest = driver
                self._current = {driver.name}

    def view(self, driver: DeviceMemory, array: Any) -> Any:
        """What an array of this block is on a device; its memory stays in place, and its values come by :meth:`on_device`."""
        host = self._host()
        assert host is not None         # the array has its memory
        with _lock:
            copy = self._copies.get(driver.name)
            if copy is None:
                copy = self._copies[driver.name] = driver.empty(host.shape, host.dtype)
        if array is host:
            return copy
        start = array.__array_interface__["data"][0] - host.__array_interface__["data"][0]
        return driver.view(copy, start, array.shape, array.dtype, array.strides)


def on_device(array: Any, driver: DeviceMemory) -> tuple[MirroredArray, Any]:
    """The block of a host array, and what the array is on a device, with its newest values."""
    block = MirroredArray.of(array)
    place = block.view(driver, array)
    block.on_device(driver)
    return block, place


def to_host(array: Any) -> Any:
    """The array, once its values on the host are the newest; it may be changed there."""
    if _blocks and isinstance(array, np.ndarray):
        block = _blocks.get(id(_base(array)))
        if block is not None:
            block.on_host()
    return array


def _base(array: Any) -> Any:
    while isinstance(array.base, np.ndarray) and array.base.flags.c_contiguous:
        array = array.base
    return array
