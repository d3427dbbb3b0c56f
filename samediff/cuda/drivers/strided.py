"""Copies between views of arrays as launches."""
from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...plans.actions import KernelLaunch
from ..sources import source

_ELEMENTS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
_INDICES: dict[np.dtype[Any], str] = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}
_THREADS = 256
_MOST_BLOCKS = 1 << 16


@dataclass(frozen=True)
class CopyAxis:
    """One axis of a copy: its size, and the strides of source and target in elements."""

    size: int
    source: int
    target: int


def joined(source: Any, target: Any) -> list[CopyAxis]:
    """The axes of a copy by decreasing stride of the target; contiguous neighbours are merged."""
    axes = [CopyAxis(n, s // source.itemsize, t // source.itemsize) for n, s, t in zip(source.shape, source.strides, target.strides)
            if n != 1]
    found: list[CopyAxis] = []
    for axis in sorted(axes, key=lambda a: -abs(a.target)):
        last = found[-1] if found else None
        if last and (last.source, last.target) == (axis.source * axis.size, axis.target * axis.size):
            found[-1] = CopyAxis(last.size * axis.size, axis.source, axis.target)
        else:
            found.append(axis)
    return found


def is_plain(source: Any, target: Any) -> bool:
    """Whether source and target have the same contiguous layout."""
    axes = joined(source, target)
    return not axes or axes == [CopyAxis(source.size, 1, 1)]


def launches(source: Any, target: Any) -> list[KernelLaunch]:
    """Launches that copy ``source`` to ``target``, of the same type and shape."""
    if not target.size:
        return []
    axes = joined(source, target)
    reach = max(sum((a.size - 1) * abs(a.source) for a in axes), sum((a.size - 1) * abs(a.target) for a in axes))
    index = np.dtype(np.int32 if max(reach, target.size) < 2**30 else np.int64)
    rows = next((a for a in axes if a.target == 1 and a.source != 1), None)
    columns = next((a for a in axes if a.source == 1 and a.target != 1), None)
    if rows and columns and rows.size >= 8 and columns.size >= 8:
        batch = [a for a in axes if a not in (rows, columns)]
        count = math.prod(a.size for a in batch)
        tiles = count * -(-rows.size // 32) * -(-columns.size // 32)
        numbers = [index.type(n) for n in (count, rows.size, columns.size, rows.source, columns.target)]
        return [KernelLaunch(_text(target.itemsize, index, len(batch)), "turn", (min(tiles, _MOST_BLOCKS), 1, 1), (32, 8, 1),
                       (bits(source), bits(target), _sizes(batch, index), *numbers))]
    blocks = min(-(-target.size // _THREADS), _MOST_BLOCKS)
    return [KernelLaunch(_text(target.itemsize, index, len(axes)), "copy", (blocks, 1, 1), (_THREADS, 1, 1),
                   (bits(source), bits(target), _sizes(axes, index), index.type(target.size)))]


def bits(array: Any) -> Any:
    """The array as unsigned numbers of the same size."""
    return array.view(np.dtype(f"u{array.itemsize}"))


def _text(itemsize: int, index: np.dtype[Any], rank: int) -> str:
    return source("strided", T=_ELEMENTS[itemsize], I=_INDICES[index], RANK=max(rank, 1))


def _sizes(axes: list[CopyAxis], index: np.dtype[Any]) -> Any:
    rank = max(len(axes), 1)
    made = np.zeros((), [("size", index, rank), ("from", index, rank), ("to", index, rank)])
    made["size"] = 1
    for k, axis in enumerate(axes):
        made["size"][k], made["from"][k], made["to"][k] = axis.size, axis.source, axis.target
    return made[()]


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    for itemsize in _ELEMENTS:
        for index in _INDICES:
            yield f"strided copy {itemsize} {index}", _text(itemsize, index, 3)
