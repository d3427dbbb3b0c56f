"""Exchange between GPUs, through NCCL."""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...samediff.cuda.drivers.driver import Driver
from ...samediff.cuda.drivers.drivers import driver_of
from ...samediff.device.device_memory import MirroredArray
from ...samediff.device.devices import Device
from .all_reduce import AllReduce, ThreadAllReduce

#: Arrays up to this many elements (counts, scores) are exchanged in the memory of the host.
SMALL = 64
#: NCCL's numbers of element types, and of the sum.
TYPES = {"int64": 4, "float16": 6, "float32": 7, "float64": 8, "bfloat16": 9}
SUM = 0

#: Makes the end of a rank: ``make(size, rank)`` gives what has NCCL's ``allReduce`` and ``broadcast``.
Connect = Callable[[int, int], Any]


class DeviceAllReduce(ThreadAllReduce):
    """Ranks that are threads, each with a device of its own; arrays are exchanged where they are."""

    def __init__(self, rank: int, size: int, barrier: threading.Barrier, lent: list[Any], driver: Driver, connect: Connect) -> None:
        super().__init__(rank, size, barrier, lent)
        self._driver, self._connect = driver, connect
        self._link: Any = None

    @classmethod
    def over(cls, devices: Sequence[Device], connect: Connect | None = None) -> list[AllReduce]:
        """The ends of a group with one rank for each device."""
        barrier, lent, size = threading.Barrier(len(devices)), [None] * len(devices), len(devices)
        connect = connect or _nccl()
        return [cls(rank, size, barrier, lent, driver_of(d), connect) for rank, d in enumerate(devices)]

    def reduce(self, array: Any, divisor: float = 1.0) -> None:
        if array.size <= SMALL:
            super().reduce(array, divisor)
            return

        def work(view: Any, stream: int) -> None:
            place = _pointer(view)
            self._link.allReduce(place, place, view.size, TYPES[view.dtype.name], SUM, stream)
            if divisor != 1.0:
                view /= view.dtype.type(divisor)
        self._on_device(array, work)

    def broadcast(self, array: Any) -> None:
        if array.size <= SMALL:
            super().broadcast(array)
            return

        def work(view: Any, stream: int) -> None:
            place = _pointer(view)
            self._link.broadcast(place, place, view.size, TYPES[view.dtype.name], 0, stream)
        self._on_device(array, work)

    def copied(self, array: Any) -> Any:
        made = np.empty_like(array)
        with self._driver.stream():
            self._assign(made, array)
            self._driver.synchronize()
        return made

    def replace(self, arrays: Sequence[Any], values: Sequence[Any]) -> None:
        with self._driver.stream():
            undo = []
            for block in map(MirroredArray.of, arrays):
                block.on_device(self._driver)
                undo.append(block.kept(self._driver))
            try:
                for array, value in zip(arrays, values):
                    self._assign(array, value)
                self._driver.synchronize()
            except BaseException:
                for put_back in undo:
                    put_back()
                raise

    def _assign(self, target: Any, source: Any) -> None:
        """The values of an array for another one, on this rank's device."""
        given, taken = MirroredArray.of(source), MirroredArray.of(target)
        value, place = given.view(self._driver, source), taken.view(self._driver, target)
        given.on_device(self._driver)
        place[...] = value
        taken.changed_on(self._driver)

    def abort(self) -> None:
        super().abort()
        if self._link is not None:
            self._link.abort()

    def _on_device(self, array: Any, work: Callable[[Any, int], None]) -> None:
        """Do something with the copy that this rank's device has of an array."""
        self._wait()                    # a rank that failed is noticed here, not inside of NCCL
        block, driver = MirroredArray.of(array), self._driver
        with driver.stream() as stream:
            if self._link is None:
                self._link = self._connect(self.size, self.rank)
            view = block.view(driver, array)
            block.on_device(driver)
            work(view, getattr(stream, "ptr", 0))
            driver.synchronize()
        block.changed_on(driver)


def _pointer(view: Any) -> int:
    return int(view.data.ptr if hasattr(view.data, "ptr") else view.ctypes.data)


def _nccl() -> Connect:
    """Ends of one group of NCCL."""
    from cupy.cuda import nccl
    name = nccl.get_unique_id()
    return lambda size, rank: nccl.NcclCommunicator(size, name, rank)
