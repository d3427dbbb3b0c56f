"""Protocol of a device as the executor uses it; a GPU through CuPy and the emulator follow it."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from ...device.driver import DeviceMemory
from ...plans.actions import Action


class Staging(Protocol):
    """Bytes on the device and their source on the host, in memory from which they are copied without waiting.

    Attributes
    ----------
    device : the bytes on the device
    """

    device: Any

    def host(self) -> np.ndarray[Any, Any]:
        """Bytes to fill for the next run, once they are not read any more."""

    def send(self) -> None:
        """Queue the copy of an array from :meth:`host` to the device."""


class Driver(DeviceMemory, Protocol):
    """Memory, work and time of one device."""

    def staging(self, size: int) -> Staging:
        """Memory of that many bytes for what every run gets from the host."""

    def stream(self) -> AbstractContextManager[Any]:
        """A new queue of work; inside ``with`` it is the one that everything here uses, and may be entered again and again."""

    def prepare(self, actions: Sequence[Action]) -> Callable[[], None]:
        """A call that puts the work of the actions into the queue: all functions are compiled, all arguments laid out."""

    def capture(self, run: Callable[[], None]) -> Callable[[], None]:
        """Record the work that ``run`` queues as one CUDA graph; returns a call that launches the graph."""

    def synchronize(self) -> None:
        """Wait until the work of the present queue is done."""
