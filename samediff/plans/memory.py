"""Placing buffers in one arena by their lifetimes."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..base.spec import TensorSpec

ALIGNMENT = 64

K = TypeVar("K")


@dataclass
class Buffer:
    """Bytes needed from step ``first`` to step ``last``, both included."""

    size: int
    first: int
    last: int


def assign(buffers: Mapping[K, Buffer]) -> tuple[dict[K, int], int]:
    """Offsets of the buffers and the size of the arena: greedy by size, best fit among those alive together.

    Examples
    --------
    >>> assign({"a": Buffer(64, 0, 1), "b": Buffer(64, 1, 2), "c": Buffer(64, 2, 3)})
    ({'a': 0, 'b': 64, 'c': 0}, 128)
    """
    offsets: dict[K, int] = {}
    placed = np.empty((4, len(buffers)), np.int64)      # offset, end, first, last; in the order of the offsets
    for count, (name, buffer) in enumerate(sorted(buffers.items(), key=lambda item: -item[1].size)):
        size = -(-buffer.size // ALIGNMENT) * ALIGNMENT
        offset, end, first, last = placed[:, :count]
        alive = (last >= buffer.first) & (first <= buffer.last)
        ends = np.concatenate(([0], np.maximum.accumulate(end[alive])))
        gaps = offset[alive] - ends[:-1]
        fitting = np.flatnonzero(gaps >= size)
        at = int(ends[fitting[gaps[fitting].argmin()]] if len(fitting) else ends[-1])
        offsets[name] = at
        place = int(offset.searchsorted(at))
        placed[:, place + 1:count + 1] = placed[:, place:count]
        placed[:, place] = at, at + size, buffer.first, buffer.last
    return offsets, int(placed[1].max(initial=0))


def bytes_of(spec: TensorSpec) -> int:
    """Bytes of an array of that shape and type."""
    return int(np.prod(spec.shape or (), dtype=np.int64)) * spec.dtype.numpy.itemsize
