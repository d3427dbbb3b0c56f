"""Protocol of the memory of a device."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..expressions.arrays import ArrayNamespace


class DeviceMemory(Protocol):
    """Arrays of one device.

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

    def upload(self, host: np.ndarray[Any, Any], target: Any = None) -> Any:
        """A host array on the device: in ``target`` (contiguous, of the same size and type), or in a new array."""

    def download(self, array: Any, target: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """A device array on the host, in ``target`` or a new array, once all work before it is done."""
