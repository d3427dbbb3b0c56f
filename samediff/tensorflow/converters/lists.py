"""Arrays of arrays, as loops fill and read them: lists of values, whose state is the ``flow``."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from .table import numbers, tensorflow

MOST_ARRAYS = 100_000


def _state(node: OnnxNode, i: int) -> list[Any]:
    """The arrays so far."""
    found = node.inputs[i]
    if not isinstance(found, list):
        raise node.refuse(f"input {i} is no array of arrays")
    return found


def _at(node: OnnxNode, state: list[Any], place: int) -> Any:
    if not 0 <= place < len(state) or state[place] is None:
        raise node.refuse(f"there is no array at {place} among {len(state)}")
    return node.walk.array(node.xp, state[place])


def _changed(node: OnnxNode, state: list[Any], places: list[int], values: list[Any]) -> Any:
    """A list with other values; it becomes longer where it has to."""
    most = max(places, default=-1) + 1
    if min(places, default=0) < 0 or most > MOST_ARRAYS:
        raise node.refuse(f"an array has a place from 0 to {MOST_ARRAYS:,}; got {places[:10]}")
    made = [*state, *[None] * (most - len(state))]
    for place, value in zip(places, values, strict=True):
        made[place] = value
    return made


@tensorflow("TensorArrayV3")
def array_of_arrays(node: OnnxNode, size: Any) -> Any:
    """Places without arrays."""
    count = numbers(node, 0, "the size")[0]
    if not 0 <= count <= MOST_ARRAYS:
        raise node.refuse(f"such an array has 0 to {MOST_ARRAYS:,} arrays; got {count}")
    return [None] * count, [None] * count


@tensorflow("TensorArrayWriteV3")
def write(node: OnnxNode, handle: Any, place: Any, value: Any, flow: Any) -> Any:
    """One array more."""
    return _changed(node, _state(node, 3), numbers(node, 1, "the place"), [node.inputs[2]])


@tensorflow("TensorArrayScatterV3")
def scatter(node: OnnxNode, handle: Any, places: Any, value: Any, flow: Any) -> Any:
    """The rows of an array, one by one."""
    wanted = numbers(node, 1, "the places")
    return _changed(node, _state(node, 3), wanted, [value[i] for i in range(len(wanted))])


@tensorflow("TensorArraySplitV3")
def split(node: OnnxNode, handle: Any, value: Any, lengths: Any, flow: Any) -> Any:
    """Parts of an array."""
    ends = np.cumsum(numbers(node, 2, "the lengths")).tolist()
    return _changed(node, _state(node, 3), list(range(len(ends))), [value[a:b] for a, b in zip([0, *ends], ends)])


@tensorflow("TensorArrayReadV3")
def read(node: OnnxNode, handle: Any, place: Any, flow: Any) -> Any:
    """One of the arrays."""
    return _at(node, _state(node, 2), numbers(node, 1, "the place")[0])


@tensorflow("TensorArrayGatherV3")
def gather(node: OnnxNode, handle: Any, places: Any, flow: Any) -> Any:
    """Several of them as one array."""
    wanted, state = numbers(node, 1, "the places"), _state(node, 2)
    if not wanted:
        return np.zeros((0, *(n for n in node.get("element_shape", None) or () if n >= 0)), node.get("dtype"))
    return node.xp.stack([_at(node, state, i) for i in wanted], 0)


@tensorflow("TensorArrayConcatV3")
def concat(node: OnnxNode, handle: Any, flow: Any) -> Any:
    """All of them, one behind the other, and their lengths."""
    state = _state(node, 1)
    arrays = [_at(node, state, i) for i in range(len(state))]
    return node.xp.concatenate(arrays, 0), np.asarray([int(a.shape[0]) for a in arrays], np.int64)


@tensorflow("TensorArraySizeV3")
def length(node: OnnxNode, handle: Any, flow: Any) -> Any:
    """How many there are."""
    return np.asarray(len(_state(node, 1)), np.int32)
