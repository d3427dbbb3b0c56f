"""Bounds-checked reading of a SameDiff graph file (plain FlatBuffers) into the dataclasses of :mod:`.graph`.

No size or offset of the file is used before it has been checked against the bytes that are there. Offsets may be
crafted so that many of them meet in the same bytes; the work is therefore limited to a small multiple of the file.
"""
from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import FileFormatError, LimitError, TruncatedFileError
from .graph import FlatGraph
from .schema import BY_NAME, ROOT_2025, SCALARS, TABLES, Field

_MAGIC = {b"PK\x03\x04": "a ZIP archive (a network model, or a .sdz file)", b"SDNB": "an SDNB file"}
_METADATA_VALUES_SLOT = 10
_FARTHEST_ROOT = 1 << 20   # the root table stands near the start of the file


@dataclass(frozen=True)
class FlatLimits:
    """Limits of what a reader accepts.

    Attributes
    ----------
    max_bytes : int
        Longest file; the format itself ends at 2 GiB.
    max_tables : int
        Most tables (variables, nodes, properties, ids, …) in one file.
    """

    max_bytes: int = 2**31 - 1
    max_tables: int = 20_000_000


def read_flat_graph(data: bytes | bytearray | memoryview, limits: FlatLimits = FlatLimits()) -> FlatGraph:
    """Read a plain SameDiff graph file.

    Array buffers of the result are views into `data`: do not change it while the result is in use.

    Raises
    ------
    TruncatedFileError
        When the file ends before its content does.
    FileFormatError
        When the bytes are not a graph file; the text names the place.
    LimitError
        When the file is larger than `limits` allow, or refers to the same bytes again and again.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise FileFormatError(f"expected the bytes of a graph file, got {data!r:.100}; a path or a stream is for SameDiff.load")
    view = memoryview(data).cast("B").toreadonly()
    if len(view) > limits.max_bytes:
        raise LimitError(f"graph file of {len(view)} bytes; at most {limits.max_bytes} are allowed")
    for magic, what in _MAGIC.items():
        if view[:4] == magic:
            raise FileFormatError(f"expected a plain SameDiff graph file (FlatBuffers); this is {what}")
    reader = _TableReader(view, limits)
    if len(view) >= 4 and reader.number("<I", 0, "graph") > max(len(view), _FARTHEST_ROOT):
        raise FileFormatError(f"this is no SameDiff graph file; it starts with {bytes(view[:8])!r}")
    root = reader.indirect(0, "graph")
    fields = TABLES[FlatGraph]
    if reader.slot_position(reader.table(root, "graph"), _METADATA_VALUES_SLOT, 4, "graph"):
        fields = ROOT_2025
    graph: FlatGraph = reader.read_table(FlatGraph, fields, root, "graph")
    return graph


@dataclass
class _TableReader:
    data: memoryview
    limits: FlatLimits
    budget: int = field(init=False)  # bytes that may still be visited
    tables: int = 0

    def __post_init__(self) -> None:
        self.budget = 4 * len(self.data) + 4096

    def check(self, position: int, size: int, what: str) -> None:
        if position < 0:
            raise FileFormatError(f"{what}: offset {position} lies before the start of the file")
        if position + size > len(self.data):
            raise TruncatedFileError(
                f"{what}: {size} bytes expected at offset {position}, but the file ends at {len(self.data)}"
            )

    def number(self, code: str, position: int, what: str) -> Any:
        self.check(position, struct.calcsize(code), what)
        return struct.unpack_from(code, self.data, position)[0]

    def spend(self, size: int, position: int, what: str) -> None:
        self.budget -= size
        if self.budget < 0:
            raise LimitError(f"{what}: content at offset {position} is referred to again and again")

    def indirect(self, position: int, what: str) -> int:
        """Follow the unsigned offset stored at `position`."""
        offset: int = self.number("<I", position, what)
        if offset == 0:
            raise FileFormatError(f"{what}: null offset at {position}")
        self.check(position + offset, 4, what)
        return position + offset

    def table(self, position: int, what: str) -> tuple[int, int, int, int]:
        """Check a table head; return its position and size and those of its slot list."""
        vtable = position - self.number("<i", position, what)
        slots, size = self.number("<H", vtable, what), self.number("<H", vtable + 2, what)
        self.check(vtable, slots, what)
        self.check(position, size, what)
        if slots < 4 or slots % 2 or size < 4:
            raise FileFormatError(f"{what}: broken table at offset {position} (slot list {slots}, size {size} bytes)")
        return position, size, vtable, slots

    def slot_position(self, head: tuple[int, int, int, int], slot: int, width: int, what: str) -> int:
        """Return where the value of `slot` lies, 0 when it is absent."""
        position, size, vtable, slots = head
        entry = 4 + 2 * slot
        if entry + 2 > slots:
            return 0
        inside: int = self.number("<H", vtable + entry, what)
        if inside == 0:
            return 0
        if inside < 4 or inside + width > size:
            raise FileFormatError(f"{what}: slot {slot} at offset {position + inside} lies outside its table")
        return position + inside

    def read_table(self, kind: type, fields: tuple[Field, ...], position: int, what: str) -> Any:
        head = self.table(position, what)
        self.tables += 1
        if self.tables > self.limits.max_tables:
            raise LimitError(f"{what}: more than {self.limits.max_tables} tables")
        self.spend(head[1], position, what)
        values = {}
        for row in fields:
            scalar = SCALARS.get(row.kind) if not row.vector else None
            place = self.slot_position(head, row.slot, scalar.itemsize if scalar else 4, f"{what}.{row.name}")
            if place:
                values[row.name] = self.read_value(row, scalar, place, f"{what}.{row.name}")
        return kind(**values)

    def read_value(self, row: Field, scalar: np.dtype[Any] | None, place: int, what: str) -> Any:
        if scalar is not None:
            value = np.frombuffer(self.data, scalar, 1, place)[0].item()
            return bool(value) if row.kind == "bool" else value
        target = self.indirect(place, what)
        if row.kind == "bytes":
            return self.byte_vector(target, what)
        if not row.vector:
            return self.element(row.kind, target, what)
        dtype = SCALARS.get(row.kind)
        if dtype is not None:
            start, count = self.vector(target, dtype.itemsize, what)
            values = np.frombuffer(self.data, dtype, count, start) if count else np.empty(0, dtype)
            return tuple((values != 0).tolist() if row.kind == "bool" else values.tolist())
        start, count = self.vector(target, 4, what)
        return tuple(
            self.element(row.kind, self.indirect(start + 4 * i, f"{what}[{i}]"), f"{what}[{i}]") for i in range(count)
        )

    def element(self, kind: str, target: int, what: str) -> Any:
        if kind == "string":
            raw = self.byte_vector(target, what)
            try:
                return str(raw, "utf-8")
            except UnicodeDecodeError as error:
                raise FileFormatError(f"{what}: text at offset {target} is not UTF-8 ({error.reason})") from None
        table = BY_NAME[kind]
        return self.read_table(table, TABLES[table], target, what)

    def vector(self, target: int, width: int, what: str) -> tuple[int, int]:
        """Check a vector of elements of `width` bytes; return its first element's position and its length."""
        count: int = self.number("<I", target, what)
        self.check(target + 4, count * width, what)
        self.spend(4 + count * width, target, what)
        return target + 4, count

    def byte_vector(self, target: int, what: str) -> memoryview:
        start, count = self.vector(target, 1, what)
        return self.data[start : start + count]
