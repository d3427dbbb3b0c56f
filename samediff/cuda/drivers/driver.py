"""What the executor asks of a device; a GPU through CuPy and the emulator give it."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from ...expressions.arrays import ArrayNamespace
from ..actions import Action


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
        """Put the copy of what :meth:`host` gave into the queue."""


class Driver(Protocol):
    """Memory, work and time of one device.

    Attributes
    ----------
    name : of the device, such as ``"cuda:0"``
    xp : the array namespace of its arrays
    """

    name: str
    xp: ArrayNamespace

    def empty(self, shape: Sequence[int], dtype: Any) -> Any:
        """An array on the device whose values are not set."""

    def view(self, memory: Any, start: int, shape: Sequence[int], dtype: Any, strides: Sequence[int] | None = None) -> Any:
        """The array that begins ``start`` bytes into the memory of a contiguous array; C-contiguous without ``strides`` (in bytes)."""

    def staging(self, size: int) -> Staging:
        """Memory of that many bytes for what every run gets from the host."""

    def upload(self, host: np.ndarray[Any, Any], target: Any = None) -> Any:
        """A host array on the device: in ``target`` (contiguous, of the same size and type), or in a new array."""

    def download(self, array: Any, target: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """A device array on the host, in ``target`` or a new array, once all work before it is done."""

    def stream(self) -> AbstractContextManager[Any]:
        """A new queue of work; inside ``with`` it is the one that everything here uses, and may be entered again and again."""

    def prepare(self, actions: Sequence[Action]) -> Callable[[], None]:
        """A call that puts the work of the actions into the queue: all functions are compiled, all arguments laid out."""

    def capture(self, run: Callable[[], None]) -> Callable[[], None]:
        """What ``run`` puts into the queue as one CUDA graph: a call that launches it."""

    def synchronize(self) -> None:
        """Wait until the work of the present queue is done."""
