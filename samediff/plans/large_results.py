"""Memory of large results, which is used again: the system gives pages of zeros for new memory, which takes as long as computing."""
from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.spec import TensorSpec

#: Bytes from which on the C library gives memory back to the system at once.
LARGE = 1 << 25


def bytes_of(spec: TensorSpec) -> int:
    """Bytes of an array; 0 where its sizes are open."""
    return math.prod(spec.shape or ()) * int(np.dtype(spec.dtype.numpy).itemsize) if spec.is_static else 0


class LargeResult:
    """Makes the array for a result of a frame: in the memory of the last one, once nobody holds that or looks at it any more.

    Examples
    --------
    >>> result = LargeResult((2,), np.float32)
    >>> first = result()
    >>> np.shares_memory(first, result())
    False
    >>> last = result().ctypes.data
    >>> result().ctypes.data == last
    True
    """

    def __init__(self, shape: Sequence[int], dtype: Any) -> None:
        self._shape, self._dtype = tuple(shape), np.dtype(dtype)
        self._renew()

    def _renew(self) -> None:
        self._memory = np.empty(math.prod(self._shape) * self._dtype.itemsize, np.uint8)
        self._alone = sys.getrefcount(self._memory)

    def __call__(self) -> Any:
        """An array that nobody else has."""
        if sys.getrefcount(self._memory) != self._alone:
            self._renew()
        return self._memory.view(self._dtype).reshape(self._shape)
