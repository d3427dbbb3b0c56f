"""Placing buffers in one arena by their lifetimes."""
from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..base.spec import TensorSpec

ALIGNMENT = 64

#: Buffers from which they are placed in the order of time: comparing each with all others takes the square of their number.
MANY = 2000

K = TypeVar("K")


@dataclass
class Buffer:
    """Bytes needed from step ``first`` to step ``last``, both included."""

    size: int
    first: int
    last: int


def assign(buffers: Mapping[K, Buffer]) -> tuple[dict[K, int], int]:
    """Offsets of the buffers and the size of the arena: greedy by size, best fit among those alive together; many in the order of time.

    Examples
    --------
    >>> assign({"a": Buffer(64, 0, 1), "b": Buffer(64, 1, 2), "c": Buffer(64, 2, 3)})
    ({'a': 0, 'b': 64, 'c': 0}, 128)
    """
    if len(buffers) > MANY:
        return _in_order_of_time(buffers)
    offsets: dict[K, int] = {}
    placed = np.empty((4, len(buffers)), np.int64)      # offset, end, first, last; in the order of the offsets
    for count, (name, buffer) in enumerate(sorted(buffers.items(), key=lambda item: -item[1].size)):
        size = _aligned(buffer)
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


def _aligned(buffer: Buffer) -> int:
    return -(-buffer.size // ALIGNMENT) * ALIGNMENT


def _in_order_of_time(buffers: Mapping[K, Buffer]) -> tuple[dict[K, int], int]:
    """Each buffer into the smallest hole that is there when it is first needed."""
    holes, offsets = _Holes(), dict[K, int]()
    ends: dict[int, list[K]] = {}
    now = 0
    for name, buffer in sorted(buffers.items(), key=lambda item: (item[1].first, -item[1].size)):
        for step in range(now, buffer.first):
            for gone in ends.pop(step, ()):
                holes.add(offsets[gone], _aligned(buffers[gone]))
        now = buffer.first
        offsets[name] = holes.take(_aligned(buffer))
        ends.setdefault(buffer.last, []).append(name)
    return offsets, holes.arena


class _Holes:
    """Memory of an arena that is free, neighbours joined."""

    def __init__(self) -> None:
        self.arena = 0
        self._by_size: list[tuple[int, int]] = []       # size and offset
        self._starts: dict[int, int] = {}               # size by offset
        self._ends: dict[int, int] = {}                 # offset by end

    def take(self, size: int) -> int:
        """The offset of so many bytes: in the smallest hole that holds them, or at the end of the arena, which grows."""
        if not size:
            return 0
        place = bisect_left(self._by_size, (size, 0))
        if place < len(self._by_size):
            hole, offset = self._by_size[place]
            self._remove(offset, hole)
            if hole > size:
                self._insert(offset + size, hole - size)
            return offset
        offset = self._ends.get(self.arena, self.arena)
        if offset < self.arena:
            self._remove(offset, self.arena - offset)
        self.arena = offset + size
        return offset

    def add(self, offset: int, size: int) -> None:
        """Bytes that nobody needs any more."""
        if not size:
            return
        if (start := self._ends.get(offset)) is not None:
            self._remove(start, offset - start)
            offset, size = start, size + offset - start
        if (behind := self._starts.get(offset + size)) is not None:
            self._remove(offset + size, behind)
            size += behind
        self._insert(offset, size)

    def _insert(self, offset: int, size: int) -> None:
        insort(self._by_size, (size, offset))
        self._starts[offset], self._ends[offset + size] = size, offset

    def _remove(self, offset: int, size: int) -> None:
        del self._by_size[bisect_left(self._by_size, (size, offset))], self._starts[offset], self._ends[offset + size]


def bytes_of(spec: TensorSpec) -> int:
    """Bytes of an array of that shape and type."""
    return int(np.prod(spec.shape or (), dtype=np.int64)) * spec.dtype.numpy.itemsize
