"""Layout of arrays on the device over the index space of a loop: few dimensions, strides in elements."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.spec import Shape, may_spread
from ...errors import ShapeError

#: Indices below this are 32 bits wide, with room for one step beyond the end.
NARROW = 2**31 - 2**24


@dataclass(frozen=True)
class Space:
    """An index space after neighbouring dimensions became one wherever all operands allow it.

    Attributes
    ----------
    sizes : of the dimensions, all above 1 (none: one element)
    strides : for each operand one for each dimension, 0 where it is repeated
    """

    sizes: Shape
    strides: tuple[Shape, ...]

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.sizes)

    def is_dense(self, k: int) -> bool:
        """Whether an operand lies in memory like the space itself."""
        return self.strides[k] == contiguous(self.sizes)

    def varies(self, k: int) -> tuple[bool, ...]:
        """For each dimension, whether an operand varies along it."""
        return tuple(s != 0 for s in self.strides[k])

    @property
    def is_wide(self) -> bool:
        """Whether indices need 64 bits."""
        reach = [sum(abs(s) * (n - 1) for s, n in zip(strides, self.sizes)) for strides in self.strides]
        return max(self.size, *reach) >= NARROW


def contiguous(sizes: Sequence[int]) -> Shape:
    """Strides of a C-contiguous array."""
    return tuple(math.prod(sizes[i + 1:]) for i in range(len(sizes)))


def strides_of(array: Any, space: Sequence[int]) -> Shape:
    """Strides in elements of an array broadcast to ``space``; ShapeError where it cannot be."""
    if not may_spread(array.shape, space):
        raise ShapeError(f"an array of shape {tuple(array.shape)} does not broadcast to {tuple(space)}")
    size = array.dtype.itemsize
    missing = len(space) - len(array.shape)
    if any(s % size for s in array.strides):
        raise ValueError(f"elements of {size} bytes lie {array.strides} bytes apart")
    return (0,) * missing + tuple(0 if n == 1 else s // size for n, s in zip(array.shape, array.strides))


def space_of(shape: Sequence[int], arrays: Sequence[Any]) -> Space:
    """The space of ``shape``, which all arrays are broadcast to; dimensions stand in the order of the last array's memory."""
    strides = [strides_of(a, shape) for a in arrays]
    order = sorted((i for i, n in enumerate(shape) if n != 1), key=lambda i: -abs(strides[-1][i]))
    sizes: list[int] = []
    found: list[list[int]] = [[] for _ in arrays]
    for i in order:
        if sizes and all(f[-1] == s[i] * shape[i] for f, s in zip(found, strides)):
            sizes[-1] *= shape[i]
            for f, s in zip(found, strides):
                f[-1] = s[i]
        else:
            sizes.append(shape[i])
            for f, s in zip(found, strides):
                f.append(s[i])
    return Space(tuple(sizes), tuple(map(tuple, found)))


def divisor(n: int) -> tuple[Any, Any]:
    """Factor and shift that divide a 32-bit index by ``n``: ``(high half of i * factor + i) >> shift``."""
    shift = max(n - 1, 0).bit_length()
    return np.uint32((2**32 * (2**shift - n)) // n + 1 & 0xffffffff), np.int32(shift)
