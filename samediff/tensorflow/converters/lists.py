"""Arrays of arrays, as loops fill and read them: lists of values. Those of TensorFlow 1 are passed on as their ``flow``."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from .table import bounded, numbers, tensorflow

MOST_ARRAYS = 100_000


def _state(node: OnnxNode, i: int) -> list[Any]:
    """The arrays so far."""
    found = node.inputs[i]
    if not isinstance(found, list):
        raise node.refuse(f"input {i} is no array of arrays")
    return found


def _at(node: OnnxNode, state: list[Any], place: int, shape: int | None = None) -> Any:
    """The array at a place; zeros where none was written and input ``shape`` says of which shape."""
    if shape is not None and 0 <= place < len(state) and state[place] is None:
        known = node.known(shape)
        if known is not None and np.ndim(known) and np.min(known, initial=0) >= 0:
            return node.array(np.zeros(bounded(node, known), node.get("element_dtype")))
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


def _rows(x: Any, count: int) -> list[Any]:
    return [x[i] for i in range(count)]


def _parts(x: Any, lengths: list[int]) -> list[Any]:
    ends = np.cumsum(lengths).tolist()
    return [x[a:b] for a, b in zip([0, *ends], ends)]


def _length(node: OnnxNode, i: int) -> int:
    """How many arrays there shall be."""
    count = numbers(node, i, "the number of arrays")[0]
    if not 0 <= count <= MOST_ARRAYS:
        raise node.refuse(f"such an array has 0 to {MOST_ARRAYS:,} arrays; got {count}")
    return count


@tensorflow("TensorArrayV3")
def array_of_arrays(node: OnnxNode, size: Any) -> Any:
    """Places without arrays."""
    count = _length(node, 0)
    return [None] * count, [None] * count


@tensorflow("TensorArrayWriteV3")
def write(node: OnnxNode, handle: Any, place: Any, value: Any, flow: Any) -> Any:
    """One array more."""
    return _changed(node, _state(node, 3), numbers(node, 1, "the place"), [node.inputs[2]])


@tensorflow("TensorArrayScatterV3")
def scatter(node: OnnxNode, handle: Any, places: Any, value: Any, flow: Any) -> Any:
    """The rows of an array, one by one."""
    wanted = numbers(node, 1, "the places")
    return _changed(node, _state(node, 3), wanted, _rows(value, len(wanted)))


@tensorflow("TensorArraySplitV3")
def split(node: OnnxNode, handle: Any, value: Any, lengths: Any, flow: Any) -> Any:
    """Parts of an array."""
    parts = _parts(value, numbers(node, 2, "the lengths"))
    return _changed(node, _state(node, 3), list(range(len(parts))), parts)


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


# Lists of TensorFlow 2, which are values themselves

@tensorflow("TensorListReserve", "EmptyTensorList")
def reserve(node: OnnxNode, shape: Any, count: Any) -> Any:
    """Places without arrays."""
    return [None] * (_length(node, 1) if node.op_type == "TensorListReserve" else 0)


@tensorflow("TensorListFromTensor")
def rows_of(node: OnnxNode, x: Any, shape: Any) -> Any:
    """The rows of an array."""
    count = x.shape[0]
    if not isinstance(count, int):
        raise node.refuse(f"an array becomes a list where its length is known while the graph is built; its shape is {x.shape}")
    return _rows(x, count)


@tensorflow("TensorListSplit")
def list_of_parts(node: OnnxNode, x: Any, shape: Any, lengths: Any) -> Any:
    """Parts of an array."""
    return _parts(x, numbers(node, 2, "the lengths"))


@tensorflow("TensorListScatter", "TensorListScatterV2")
def list_of_rows(node: OnnxNode, x: Any, places: Any, shape: Any, count: Any = None) -> Any:
    """The rows of an array at places of a new list."""
    wanted = numbers(node, 1, "the places")
    length = numbers(node, 3, "the number of arrays")[0] if node.has(3) else -1
    if length > MOST_ARRAYS:
        raise node.refuse(f"such an array has 0 to {MOST_ARRAYS:,} arrays; got {length}")
    return _changed(node, [None] * max(length, 0), wanted, _rows(x, len(wanted)))


@tensorflow("TensorListScatterIntoExistingList")
def list_with_rows(node: OnnxNode, handle: Any, x: Any, places: Any) -> Any:
    """The rows of an array put into a list."""
    wanted = numbers(node, 2, "the places")
    return _changed(node, _state(node, 0), wanted, _rows(x, len(wanted)))


@tensorflow("TensorListSetItem")
def set_item(node: OnnxNode, handle: Any, place: Any, value: Any) -> Any:
    """Another array at a place."""
    return _changed(node, _state(node, 0), numbers(node, 1, "the place"), [node.inputs[2]])


@tensorflow("TensorListPushBack")
def push_back(node: OnnxNode, handle: Any, value: Any) -> Any:
    """One array more."""
    state = _state(node, 0)
    return _changed(node, state, [len(state)], [node.inputs[1]])


@tensorflow("TensorListPopBack")
def pop_back(node: OnnxNode, handle: Any, shape: Any) -> Any:
    """The list without its last array, and that."""
    state = _state(node, 0)
    return state[:-1], _at(node, state, len(state) - 1, 1)


@tensorflow("TensorListResize")
def resize(node: OnnxNode, handle: Any, size: Any) -> Any:
    """Another number of places."""
    state, count = _state(node, 0), _length(node, 1)
    return [*state[:count], *[None] * (count - len(state))]


@tensorflow("TensorListGetItem")
def get_item(node: OnnxNode, handle: Any, place: Any, shape: Any) -> Any:
    """The array at a place."""
    return _at(node, _state(node, 0), numbers(node, 1, "the place")[0], 2)


@tensorflow("TensorListStack", "TensorListGather")
def stack(node: OnnxNode, handle: Any, *others: Any) -> Any:
    """All arrays, or some of them, as one."""
    state, shape = _state(node, 0), len(others)
    places = range(len(state)) if node.op_type == "TensorListStack" else numbers(node, 1, "the places")
    if not places:
        known = [int(n) for n in np.atleast_1d(node.value(shape, "the shape of an array"))]
        return np.zeros((0, *(max(n, 0) for n in known)), node.get("element_dtype"))
    return node.xp.stack([_at(node, state, i, shape) for i in places], 0)


@tensorflow("TensorListConcat", "TensorListConcatV2")
def joined(node: OnnxNode, handle: Any, *others: Any) -> Any:
    """All arrays, one behind the other, and their lengths."""
    state = _state(node, 0)
    arrays = [_at(node, state, i) for i in range(len(state))]
    return node.xp.concatenate(arrays, 0), np.asarray([int(a.shape[0]) for a in arrays], np.int64)


@tensorflow("TensorListLength")
def list_length(node: OnnxNode, handle: Any) -> Any:
    """How many there are."""
    return np.asarray(len(_state(node, 0)), np.int32)
