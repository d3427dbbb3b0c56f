"""Frozen TensorFlow graphs from their bytes: the encoding of protocol buffers, and the four messages that matter."""
from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from ..errors import FileFormatError

#: Element types by their codes.
TYPES: dict[int, Any] = {
    1: np.float32, 2: np.float64, 3: np.int32, 4: np.uint8, 5: np.int16, 6: np.int8, 7: np.object_, 9: np.int64, 10: np.bool_,
    14: ml_dtypes.bfloat16, 17: np.uint16, 19: np.float16, 22: np.uint32, 23: np.uint64}

#: Where a tensor has numbers that are not packed as bytes: field, and what one is.
_VALUES = {5: "f", 6: "d", 7: "i", 8: "s", 10: "i", 11: "i", 13: "i", 16: "i", 17: "i"}


@dataclass
class TensorFlowNode:
    """A node of a graph.

    Parameters
    ----------
    name, op_type : str
        Its name and operator.
    input, control : list of str
        Names of what it reads, and of what must come before it.
    attributes : dict
        Numbers, texts, types of NumPy, shapes (tuples, None for an open rank), arrays and lists of these.
    """

    name: str = ""
    op_type: str = ""
    input: list[str] = field(default_factory=list)
    control: list[str] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    domain: str = "tensorflow"

    @property
    def output(self) -> list[str]:
        """Names of the first outputs."""
        return [self.name, *(f"{self.name}:{i}" for i in range(1, 64))]


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise FileFormatError("this is no frozen TensorFlow graph: a number has no end")
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a message: number, and an int or bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind not in (1, 2, 5):
            raise FileFormatError(f"this is no frozen TensorFlow graph: byte {at} belongs to no field")
        size, at = (8 if kind == 1 else 4, at) if kind != 2 else _varint(data, at)
        if at + size > len(data):
            raise FileFormatError("the frozen TensorFlow graph ends within a field")
        yield key >> 3, data[at:at + size]
        at += size


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _text(value: Any) -> str:
    return bytes(value).decode("utf-8", "replace")


def graph_of(data: bytes) -> list[TensorFlowNode]:
    """The nodes of a graph, in the order of the file."""
    try:
        return [_node(value) for number, value in fields(memoryview(data)) if number == 1]
    except (TypeError, struct.error, RecursionError) as error:
        raise FileFormatError(f"this is no frozen TensorFlow graph: {error}") from error


def _node(data: memoryview) -> TensorFlowNode:
    made = TensorFlowNode()
    for number, value in fields(data):
        if number == 1:
            made.name = _text(value)
        elif number == 2:
            made.op_type = _text(value)
        elif number == 3:
            name = _text(value)
            if name.startswith("^"):
                made.control.append(name[1:])
            else:
                made.input.append(name.removesuffix(":0"))
        elif number == 5:
            entry = dict(fields(value))
            made.attributes[_text(entry[1])] = _attribute(entry.get(2, memoryview(b"")))
    return made


def _attribute(data: memoryview) -> Any:
    for number, value in fields(data):
        if number == 1:
            return [v for n, part in fields(value) for v in _listed(n, part)]
        return _value(number, value)
    return None


def _listed(number: int, value: Any) -> Iterator[Any]:
    if number in (3, 5, 6) and not isinstance(value, int):        # packed
        at = 0
        while at < len(value):
            one, at = _varint(value, at)
            yield _value(number, one)
    elif number == 4:
        yield from struct.unpack(f"<{len(value) // 4}f", value)
    else:
        yield _value(number, value)


def _value(number: int, value: Any) -> Any:
    if number == 2:
        return _text(value)
    if number == 3:
        return _signed(value)
    if number == 4:
        return struct.unpack("<f", value)[0]
    if number == 5:
        return bool(value)
    if number == 6:
        return np.dtype(TYPES[value % 100]) if value % 100 in TYPES else None        # 100 more: a reference
    if number == 7:
        return _shape(value)
    return _tensor(value) if number == 8 else None


def _shape(data: memoryview) -> tuple[int, ...] | None:
    sizes = []
    for number, value in fields(data):
        if number == 3 and value:
            return None
        if number == 2:
            sizes.append(_signed(dict(fields(value)).get(1, 0)))
    return tuple(sizes)


def _tensor(data: memoryview) -> np.ndarray[Any, Any]:
    shape: tuple[int, ...] = ()
    content, code = b"", 1
    values: list[Any] = []
    for number, value in fields(data):
        if number == 1:
            code = value
        elif number == 2:
            shape = _shape(value) or ()
        elif number == 4:
            content = bytes(value)
        elif number in _VALUES:
            values += _numbers(_VALUES[number], value)
    if code not in TYPES:
        raise FileFormatError(f"a tensor of the frozen TensorFlow graph has elements of type {code}, which arrays here do not have")
    kind: Any = np.dtype(TYPES[code])
    count = int(np.prod(shape, dtype=np.int64)) if shape else 1
    if content:
        if len(content) != count * kind.itemsize:
            raise FileFormatError(f"a tensor of {count} elements of {kind} has {len(content)} bytes")
        return np.frombuffer(content, kind).reshape(shape).copy()
    if kind.itemsize == 2 and kind.kind not in "iu":
        found: np.ndarray[Any, Any] = np.asarray(values, np.uint16).view(kind)
    else:
        found = np.asarray([v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values], kind)
    if found.size < count:                                        # the last one is repeated
        found = np.concatenate([found, np.repeat(found[-1:] if found.size else np.zeros(1, kind), count - found.size)])
    return found[:count].reshape(shape)


def _numbers(kind: str, value: Any) -> list[Any]:
    if kind == "s":
        return [bytes(value)]
    if isinstance(value, int):
        return [_signed(value)]
    if kind in "fd":
        return list(struct.unpack(f"<{len(value) // (4 if kind == 'f' else 8)}{kind}", value))
    found, at = [], 0
    while at < len(value):
        one, at = _varint(value, at)
        found.append(_signed(one))
    return found
