"""Frozen TensorFlow graphs from their bytes: the encoding of protocol buffers, and the four messages that matter."""
from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from ..errors import DL4PyError, FileFormatError, LimitError

#: Element types by their codes.
TYPES: dict[int, Any] = {
    1: np.float32, 2: np.float64, 3: np.int32, 4: np.uint8, 5: np.int16, 6: np.int8, 7: np.object_, 9: np.int64, 10: np.bool_,
    14: ml_dtypes.bfloat16, 17: np.uint16, 19: np.float16, 22: np.uint32, 23: np.uint64}

MOST_OUTPUTS = 100_000

#: So often as many elements as a file gives are made of those that it repeats.
MOST_REPEATED = 1000

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
        """Names of the outputs, of 64 at least."""
        known = (self.attributes.get(n) for n in ("num", "num_split", "num_partitions"))
        count = max(64, len(self.input), *(n for n in known if isinstance(n, int)))
        return [self.name, *(f"{self.name}:{i}" for i in range(1, min(count, MOST_OUTPUTS)))]


def varint(data: memoryview, at: int) -> tuple[int, int]:
    """A number, and the place behind it."""
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
    if not isinstance(data, (memoryview, bytes)):
        raise FileFormatError("a number stands where a message of TensorFlow should")
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
            yield key >> 3, value
            continue
        if kind not in (1, 2, 5):
            raise FileFormatError(f"this is no frozen TensorFlow graph: byte {at} belongs to no field")
        size, at = (8 if kind == 1 else 4, at) if kind != 2 else varint(data, at)
        if at + size > len(data):
            raise FileFormatError("the frozen TensorFlow graph ends within a field")
        yield key >> 3, data[at:at + size]
        at += size


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def text_of(value: Any) -> str:
    """The text of a field."""
    if isinstance(value, int):
        raise FileFormatError("a number stands where a text of TensorFlow should")
    return bytes(value).decode("utf-8", "replace")


@dataclass
class TensorFlowFunction:
    """A function of a graph.

    Parameters
    ----------
    name : str
        Its name.
    inputs, outputs : list of str
        Names of its arguments and results.
    nodes : list of TensorFlowNode
        What it does.
    results : dict
        What each result is.
    """

    name: str = ""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    nodes: list[TensorFlowNode] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)


@contextmanager
def damage() -> Iterator[None]:
    """Values of another kind than their fields have are an error of the file."""
    try:
        yield
    except (TypeError, ValueError, LookupError, struct.error, RecursionError) as error:
        raise error if isinstance(error, DL4PyError) else FileFormatError(f"this is no graph of TensorFlow: {error}") from error


def functions_of(data: bytes) -> dict[str, TensorFlowFunction]:
    """The functions of a graph by name."""
    with damage():
        found = [_function(value) for number, library in fields(memoryview(data)) if number == 2 for n, value in fields(library) if n == 1]
    return {f.name: f for f in found}


def _function(data: memoryview) -> TensorFlowFunction:
    made = TensorFlowFunction()
    for number, value in fields(data):
        if number == 1:
            for n, part in fields(value):
                if n == 1:
                    made.name = text_of(part)
                elif n in (2, 3):
                    (made.inputs if n == 2 else made.outputs).append(next((text_of(v) for k, v in fields(part) if k == 1), ""))
        elif number == 3:
            made.nodes.append(_node(value))
        elif number == 4:
            entry = dict(fields(value))
            made.results[text_of(entry.get(1, b""))] = text_of(entry.get(2, b""))
    return made


def graph_of(data: bytes) -> list[TensorFlowNode]:
    """The nodes of a graph, in the order of the file."""
    with damage():
        return [_node(value) for number, value in fields(memoryview(data)) if number == 1]


def _node(data: memoryview) -> TensorFlowNode:
    made = TensorFlowNode()
    for number, value in fields(data):
        if number == 1:
            made.name = text_of(value)
        elif number == 2:
            made.op_type = text_of(value)
        elif number == 3:
            name = text_of(value)
            if name.startswith("^"):
                made.control.append(name[1:])
            else:
                made.input.append(name.removesuffix(":0"))
        elif number == 5:
            entry = dict(fields(value))
            made.attributes[text_of(entry.get(1, b""))] = _attribute(entry.get(2, memoryview(b"")))
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
            one, at = varint(value, at)
            yield _value(number, one)
    elif number == 4:
        yield from struct.unpack(f"<{len(value) // 4}f", value)
    else:
        yield _value(10 if number == 9 else number, value)        # functions have another number in lists


def _value(number: int, value: Any) -> Any:
    if number == 2:
        return text_of(value)
    if number == 3:
        return _signed(value)
    if number == 4:
        return struct.unpack("<f", value)[0]
    if number == 5:
        return bool(value)
    if number == 6:
        return np.dtype(TYPES[value % 100]) if value % 100 in TYPES else None        # 100 more: a reference
    if number == 7:
        return shape_of(value)
    if number == 10:                                              # a function, by its name
        return next((text_of(v) for n, v in fields(value) if n == 1), "")
    return _tensor(value) if number == 8 else None


def shape_of(data: memoryview) -> tuple[int, ...] | None:
    """The sizes of a message; None where even their number is open."""
    sizes = []
    for number, value in fields(data):
        if number == 3 and value:
            return None
        if number == 2:
            length = dict(fields(value)).get(1, 0)
            if not isinstance(length, int):
                raise FileFormatError("a message stands where a size of TensorFlow should")
            sizes.append(_signed(length))
    return tuple(sizes)


def _tensor(data: memoryview) -> np.ndarray[Any, Any]:
    shape: tuple[int, ...] = ()
    content: Any = b""
    code = 1
    values: list[Any] = []
    for number, value in fields(data):
        if number == 1:
            code = value
        elif number == 2:
            shape = shape_of(value) or ()
        elif number == 4:
            content = value
        elif number in _VALUES:
            values += _numbers(_VALUES[number], value)
    if code not in TYPES:
        raise FileFormatError(f"a tensor of the frozen TensorFlow graph has elements of type {code}, which arrays here do not have")
    kind: Any = np.dtype(TYPES[code])
    count = int(np.prod(shape, dtype=object)) if shape else 1
    if min(shape, default=0) < 0 or isinstance(content, int):
        raise FileFormatError(f"a tensor of the frozen TensorFlow graph has the shape {list(shape)}")
    if len(content):
        if kind.hasobject or len(content) != count * kind.itemsize:
            raise FileFormatError(f"a tensor of {count} elements of {kind} has {len(content)} bytes")
        return np.frombuffer(content, kind).reshape(shape)        # a view of the file: graphs copy what they keep
    if kind.itemsize == 2 and kind.kind not in "iu":
        found: np.ndarray[Any, Any] = np.asarray(values, np.uint16).view(kind)
    else:
        found = np.asarray([v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values], kind)
    if found.size < min(count, 2):                                # one number everywhere takes no memory yet
        return np.broadcast_to(found[0] if found.size else np.zeros((), kind), shape)
    if found.size < count:                                        # the last one is repeated
        if count > max(1 << 14, MOST_REPEATED * found.size):
            raise LimitError(f"a tensor of the frozen TensorFlow graph has {count:,} elements of which the file gives {found.size:,}: "
                             f"one in {MOST_REPEATED} is the least")
        found = np.concatenate([found, np.repeat(found[-1:], count - found.size)])
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
        one, at = varint(value, at)
        found.append(_signed(one))
    return found
