"""Frozen TensorFlow graphs for tests, written byte by byte."""
from __future__ import annotations

import struct
from typing import Any

import numpy as np

from dl4py.samediff.tensorflow.wire import TYPES

CODES = {np.dtype(t): code for code, t in TYPES.items()}


def varint(value: int) -> bytes:
    """A whole number."""
    value &= (1 << 64) - 1
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def part(number: int, value: bytes | int) -> bytes:
    """A field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def shape(sizes: Any) -> bytes:
    """A shape; -1 is open."""
    return b"".join(part(2, part(1, n)) for n in sizes)


def tensor(array: Any) -> bytes:
    """An array."""
    array = np.asarray(array)
    return part(1, CODES[array.dtype]) + part(2, shape(array.shape)) + part(4, array.tobytes())


def attribute(value: Any) -> bytes:
    """The value of an attribute."""
    if isinstance(value, bool):
        return part(5, int(value))
    if isinstance(value, int):
        return part(3, value)
    if isinstance(value, float):
        return varint(4 << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        return part(2, value.encode())
    if isinstance(value, (type, np.dtype)):
        return part(6, CODES[np.dtype(value)])
    if isinstance(value, np.ndarray):
        return part(8, tensor(value))
    if isinstance(value, tuple):
        return part(7, shape(value))
    return part(1, part(3, b"".join(map(varint, value))))


def node(name: str, operator: str, *inputs: str, **attributes: Any) -> bytes:
    """A node."""
    made = part(1, name.encode()) + part(2, operator.encode()) + b"".join(part(3, i.encode()) for i in inputs)
    return made + b"".join(part(5, part(1, k.encode()) + part(2, attribute(v))) for k, v in attributes.items())


def const(name: str, value: Any) -> bytes:
    """A constant."""
    return node(name, "Const", value=np.asarray(value))


def placeholder(name: str, sizes: tuple[int, ...] = (-1, 3), dtype: Any = np.float32) -> bytes:
    """A placeholder."""
    return node(name, "Placeholder", dtype=dtype, shape=sizes)


def graph(*nodes: bytes) -> bytes:
    """A graph of nodes."""
    return b"".join(part(1, n) for n in nodes)


def function(name: str, inputs: list[str], outputs: list[str], nodes: list[bytes], results: dict[str, str]) -> bytes:
    """A function: ``results`` says what each output is."""
    signature = part(1, name.encode()) + b"".join(part(2, part(1, n.encode())) for n in inputs)
    signature += b"".join(part(3, part(1, n.encode())) for n in outputs)
    returned = b"".join(part(4, part(1, k.encode()) + part(2, v.encode())) for k, v in results.items())
    return part(1, part(1, signature) + b"".join(part(3, n) for n in nodes) + returned)


def library(*functions: bytes) -> bytes:
    """The functions of a graph."""
    return part(2, b"".join(functions))


def runs(name: str, operator: str, *inputs: str, **functions: str | list[str]) -> bytes:
    """A node that runs functions."""
    made = node(name, operator, *inputs)
    for key, value in functions.items():
        names = [part(1, n.encode()) for n in ([value] if isinstance(value, str) else value)]
        held = part(10, names[0]) if isinstance(value, str) else part(1, b"".join(part(9, n) for n in names))
        made += part(5, part(1, key.encode()) + part(2, held))
    return made


def called(name: str, target: str, *inputs: str) -> bytes:
    """A call of a function."""
    return runs(name, "StatefulPartitionedCall", *inputs, f=target)
