"""Addresses of arrays in memory, as programs are given them in each run.

NumPy's documented ways take half a microsecond for each array, as long as ten instructions. So programs are given the array object, and
read the address of its memory from it: from a place that is looked for, in arrays of several kinds, when the first program is made.
Where there is no such place, and on a Python other than CPython, they are given the address.
"""
from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

_WORD = ctypes.sizeof(ctypes.c_void_p)


def address_of(array: Any) -> int:
    """The address of the first element."""
    return int(array.__array_interface__["data"][0])


@functools.cache
def data_offset() -> int:
    """Offset of the data address in NumPy's array objects; -1 where it cannot be determined."""
    if sys.implementation.name != "cpython" or _WORD != 8:
        return -1
    base = np.arange(24.0).reshape(4, 6)
    probes = (base, base[1:, 2:], base[::-1].T, base.astype(np.float32), np.zeros((3, 0)), np.array(5), np.frombuffer(b"12345678", np.int8))
    for offset in range(_WORD, np.ndarray.__basicsize__, _WORD):
        if all(ctypes.c_void_p.from_address(id(a) + offset).value == address_of(a) for a in probes):
            return offset
    return -1


def locator() -> Callable[[Any], int]:
    """The function that turns an array into the word by which programs find its data."""
    return id if data_offset() >= 0 else address_of
