"""Checkpoints of TensorFlow, written byte by byte."""
from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from tests.samediff.tensorflow.graphs import CODES, part, shape, varint


def block(entries: list[tuple[bytes, bytes]]) -> bytes:
    """A block of a table."""
    made, before = b"", b""
    for key, value in entries:
        shared = len([1 for i in range(min(len(key), len(before))) if key[:i + 1] == before[:i + 1]])
        made += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    return made + struct.pack("<II", 0, 1)


def write_bundle(prefix: Path, arrays: dict[str, Any], texts: dict[str, bytes] | None = None, compressed: bool = False) -> None:
    """An index with two blocks and a shard."""
    data, entries = b"", [(b"", part(1, 1))]
    for name, array in sorted({**arrays, **(texts or {})}.items()):
        held = varint(len(array)) + b"\0\0\0\0" + array if isinstance(array, bytes) else array.tobytes()
        code = 7 if isinstance(array, bytes) else CODES[array.dtype]
        sizes = () if isinstance(array, bytes) else array.shape
        entries.append((name.encode(), part(1, code) + part(2, shape(sizes)) + part(4, len(data)) + part(5, len(held))))
        data += held
    made, index = b"", []
    for some in (entries[:2], entries[2:]):
        if some:
            one = block(some)
            index.append((some[-1][0] + b"~", varint(len(made)) + varint(len(one))))
            made += one + bytes([compressed]) + b"\0\0\0\0"
    where = varint(len(made)) + varint(len(block(index)))
    made += block(index) + b"\0\0\0\0\0"
    footer = (varint(0) + varint(0) + where).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)
    prefix.parent.mkdir(parents=True, exist_ok=True)
    prefix.with_name("variables.index").write_bytes(made + footer)
    prefix.with_name("variables.data-00000-of-00001").write_bytes(data)
