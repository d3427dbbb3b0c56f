"""The arguments of a launch in memory, as CUDA and the emulator want them: a list of where each one is."""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np


class Arguments:
    """Arguments that stay in one place.

    Parameters
    ----------
    args : arrays and NumPy scalars
    address : of an array's first element
    """

    def __init__(self, args: tuple[Any, ...], address: Callable[[Any], int]) -> None:
        self._addresses = (ctypes.c_void_p * max(len(args), 1))()
        self._scalars = [np.array(a) if isinstance(a, np.generic) else None for a in args]
        self._places = (ctypes.c_void_p * max(len(args), 1))()
        self.arrays = [(i, a) for i, (a, scalar) in enumerate(zip(args, self._scalars)) if scalar is None]
        for i, scalar in enumerate(self._scalars):
            self._places[i] = ctypes.addressof(self._addresses) + i * ctypes.sizeof(ctypes.c_void_p) if scalar is None \
                else scalar.ctypes.data
        self.point(address)

    def point(self, address: Callable[[Any], int]) -> None:
        """Replace the addresses of the arrays."""
        for i, array in self.arrays:
            self._addresses[i] = address(array)

    @property
    def pointer(self) -> int:
        """The address of the argument list."""
        return ctypes.addressof(self._places)
