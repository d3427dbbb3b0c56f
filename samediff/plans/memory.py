"""Placing buffers in one arena by their lifetimes."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..base.spec import TensorSpec

ALIGNMENT = 64


@dataclass
class Buffer:
    """Bytes needed from step ``first`` to step ``last``, both included."""

    size: int
    first: int
    last: int


def assign(buffers: Mapping[str, Buffer]) -> tuple[dict[str, int], int]:
    """Offsets of the buffers and the size of the arena: greedy by size, best fit among those alive together.

    Examples
    --------
    >>> assign({"a": Buffer(64, 0, 1), "b": Buffer(64, 1, 2), "c": Buffer(64, 2, 3)})
    ({'a': 0, 'b': 64, 'c': 0}, 128)
    """
    placed: list[tuple[int, int, Buffer]] = []
    offsets: dict[str, int] = {}
    for name, buffer in sorted(buffers.items(), key=lambda item: -item[1].size):
        size = -(-buffer.size // ALIGNMENT) * ALIGNMENT
        alive = sorted((o, s) for o, s, b in placed if b.last >= buffer.first and b.first <= buffer.last)
        best, gap, at = -1, 0, 0
        for offset, taken in alive:
            if offset - at >= size and (best < 0 or offset - at < gap):
                best, gap = at, offset - at
            at = max(at, offset + taken)
        offsets[name] = best if best >= 0 else at
        placed.append((offsets[name], size, buffer))
    return offsets, max((o + s for o, s, _ in placed), default=0)


def bytes_of(spec: TensorSpec) -> int:
    """Bytes of an array of that shape and type."""
    return int(np.prod(spec.shape or (), dtype=np.int64)) * spec.dtype.numpy.itemsize
