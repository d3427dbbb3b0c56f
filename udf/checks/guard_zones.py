"""Arrays between zones of known bytes, which show whether a kernel reads or writes beside them."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...samediff.base.user_code.check_report import CheckFailure

_ZONE = 1 << 14
_ALIGNMENT = 64


class GuardedArray:
    """A copy of an array with a zone before and behind.

    Parameters
    ----------
    source : array, or its shape and type by :meth:`unset`
    byte : of the zones; 255 is NaN as a floating number, so that what is read there shows in the result
    """

    def __init__(self, source: Any, byte: int = 255) -> None:
        source = np.asarray(source)
        self.byte = byte
        memory = np.full(source.nbytes + 2 * _ZONE + _ALIGNMENT, byte, np.uint8)
        start = _ZONE + -(memory.ctypes.data + _ZONE) % _ALIGNMENT
        self.array = memory[start:start + source.nbytes].view(source.dtype).reshape(source.shape)
        self._before, self._behind = memory[:start], memory[start + source.nbytes:]
        self.array[...] = source

    @classmethod
    def unset(cls, shape: tuple[int, ...], dtype: np.dtype[Any], byte: int) -> GuardedArray:
        """An array whose own bytes are those of the zones too: memory that nobody has written."""
        made = cls(np.zeros(shape, dtype), byte)
        made.array.reshape(-1).view(np.uint8)[...] = byte
        return made

    def check(self, who: str, name: str) -> None:
        """CheckFailure when a zone was written."""
        for zone, where in ((self._before, "before"), (self._behind, "behind")):
            written = np.flatnonzero(zone != self.byte)
            if written.size:
                raise CheckFailure(f"{who} {where} {name}: {written.size} bytes that belong to other arrays")
