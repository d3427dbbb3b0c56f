"""Loops besides the graph as a program of a device."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...cpu.code.loops import Loops
from ...device.devices import Device


class DeviceProgram:
    """What a device does in place of native instructions, on the copies that it has of host arrays.

    Parameters
    ----------
    where : the device
    make : gives the parts of the program for loops of that device, by name or number

    Attributes
    ----------
    made : these parts
    """

    def __init__(self, where: Device, make: Callable[[Loops], dict[Any, Any]]) -> None:
        from ...cuda.code.loops import DeviceLoops
        from ...cuda.drivers.drivers import driver_of
        self._driver = driver_of(where)
        self._stream = self._driver.stream()
        loops = DeviceLoops(self._driver)
        self.made = make(loops)
        self._blocks = loops.blocks
        self._written = loops.written
        self._run = self._driver.prepare([action for part in self.made.values() for action in part])

    def __call__(self) -> None:
        """Do the work; it is done on return, so that queues of others need not wait for it."""
        with self._stream:
            for block in self._blocks:
                block.on_device(self._driver)
            self._run()
            self._driver.synchronize()
        for block in self._written:
            block.changed_on(self._driver)
