"""Zones of known bytes around arrays, which tell when a kernel of the emulator writes beside one."""
from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...errors import DeviceError

Array = np.ndarray[Any, Any]

ZONE = 1 << 14
BYTE = 255          # NaN as a floating number: a read beside an array shows in the result


class Guards:
    """Copies of arrays with a zone on either side.

    Parameters
    ----------
    arrays : what a kernel is given; those that share memory share it in the copy too
    """

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._regions: list[tuple[int, int, Array, Array]] = []        # from, to, the memory itself, its copy
        for low, high in _merged(_bounds(a) for a in arrays if a.size):
            copy = np.full(high - low + 2 * ZONE + 256, BYTE, np.uint8)
            start = -copy.ctypes.data % 256 + low % 16          # as the array itself stands
            copy = copy[start:]
            memory = _memory(low, high)
            copy[ZONE:ZONE + high - low] = memory
            self._regions.append((low, high, memory, copy))
        self._nothing = np.full(2 * ZONE, BYTE, np.uint8)       # arrays of no elements

    def address(self, array: Array) -> int:
        """The address of the guarded copy of an array."""
        place = array.ctypes.data
        for low, high, _, copy in self._regions:
            if low <= place < high and array.size:
                return int(copy.ctypes.data) + ZONE + place - low
        return int(self._nothing.ctypes.data) + ZONE

    def check(self, name: str) -> None:
        """Copy back what the kernel wrote; raise when it wrote into a zone."""
        for low, high, memory, copy in self._regions:
            made = copy[ZONE:ZONE + high - low]
            if not np.array_equal(memory, made):        # memory that may only be read is never changed
                memory[...] = made
            _untouched(copy[:ZONE], name, -ZONE, "before")
            _untouched(copy[ZONE + high - low:], name, 0, "behind")
        _untouched(self._nothing, name, -ZONE, "at")


def _bounds(array: Array) -> tuple[int, int]:
    steps = [(n - 1) * s for n, s in zip(array.shape, array.strides)]
    place = array.ctypes.data
    return place + sum(s for s in steps if s < 0), place + sum(s for s in steps if s > 0) + array.itemsize


def _merged(bounds: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(bounds):
        if merged and low < merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged


def _memory(low: int, high: int) -> Array:
    return np.ctypeslib.as_array((ctypes.c_uint8 * (high - low)).from_address(low))


def _untouched(zone: Array, name: str, offset: int, where: str) -> None:
    written = np.flatnonzero(zone != BYTE)
    if written.size:
        raise DeviceError(f"{name} wrote {where} an array: {written.size} bytes, the first at byte {offset + int(written[0])} from its "
                          f"{'end' if offset == 0 else 'start'}")
