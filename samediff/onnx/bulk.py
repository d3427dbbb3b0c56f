"""Models without the bytes of their large tensors, which are read from the file when they are needed.

Protocol buffers keep everything that was read until the whole model is dropped; this way a model is in memory once, not three times.
"""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from ..errors import FileFormatError, LimitError

#: Tensors of fewer bytes stay in the model.
LARGE = 1 << 16
#: The key that marks a tensor whose data lies in the file of the model itself.
OWN = "dl4py.own_file"
#: Fields of the messages: the graph, its initializers; bytes, external data and place of a tensor.
_GRAPH, _INITIALIZER, _RAW, _EXTERNAL, _LOCATION = 7, 5, 9, 13, 14
_BYTES = 2


class _Field(NamedTuple):
    number: int
    kind: int
    head: bytes         # key and length, as they stand in the file
    start: int
    end: int


def without_bulk(stream: BinaryIO, most: int) -> bytes:
    """The model of a file whose large initializers say where in the file their bytes are; at most so many bytes are kept.

    Raises
    ------
    FileFormatError
        The file is no message.
    LimitError
        What is left is larger than such a model may be.
    """
    return _Stripping(stream, most).model()


class _Stripping:
    """The work of :func:`without_bulk`."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self.stream, self.left = stream, most
        self.size = stream.seek(0, os.SEEK_END)

    def model(self) -> bytes:
        return b"".join(self.graph(f) if (f.number, f.kind) == (_GRAPH, _BYTES) else self.raw(f) for f in self.fields(0, self.size))

    def graph(self, graph: _Field) -> bytes:
        parts = [self.tensor(f) if (f.number, f.kind) == (_INITIALIZER, _BYTES) and f.end - f.start >= LARGE else self.raw(f)
                 for f in self.fields(graph.start, graph.end)]
        return _message(_GRAPH, b"".join(parts))

    def tensor(self, tensor: _Field) -> bytes:
        fields = list(self.fields(tensor.start, tensor.end))
        large = [f for f in fields if (f.number, f.kind) == (_RAW, _BYTES) and f.end - f.start >= LARGE]
        if len(large) != 1 or any(f.number in (_EXTERNAL, _LOCATION) for f in fields):
            return self.raw(tensor)
        place = {OWN: "1", "offset": str(large[0].start), "length": str(large[0].end - large[0].start)}
        entries = [_message(_EXTERNAL, _message(1, k.encode()) + _message(2, v.encode())) for k, v in place.items()]
        rest = [self.raw(f) for f in fields if f is not large[0]]
        return _message(_INITIALIZER, b"".join([*rest, *entries, bytes([_LOCATION << 3, 1])]))

    def raw(self, field: _Field) -> bytes:
        """A field as it stands in the file."""
        self.left -= field.end - field.start
        if self.left < 0:
            raise LimitError(f"{getattr(self.stream, 'name', 'the model')} has more bytes beside its large tensors than a model may have")
        self.stream.seek(field.start)
        return field.head + self.stream.read(field.end - field.start)

    def fields(self, at: int, end: int) -> Iterator[_Field]:
        """The fields of a message that stands between two places of the file."""
        while at < end:
            self.stream.seek(at)
            head = bytearray()
            key = self.varint(head)
            kind = key & 7
            size = {1: 8, 5: 4}.get(kind, 0)
            if kind == 0:
                self.varint(head)
            elif kind == _BYTES:
                size = self.varint(head)
            elif kind not in (1, 5):
                raise FileFormatError(f"this is no ONNX model: byte {at} belongs to no field")
            start = at + len(head)
            if start + size > end:
                raise FileFormatError("the ONNX model ends within a field")
            yield _Field(key >> 3, kind, bytes(head), start, start + size)
            at = start + size

    def varint(self, head: bytearray) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.stream.read(1)
            if not byte:
                raise FileFormatError("the ONNX model ends within a field")
            head += byte
            value |= (byte[0] & 127) << shift
            if byte[0] < 128:
                return value
        raise FileFormatError("this is no ONNX model: a number has no end")


def _message(number: int, data: bytes) -> bytes:
    """A field of bytes."""
    return _varint(number << 3 | _BYTES) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)
