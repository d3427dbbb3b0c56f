"""Variables of TensorFlow's checkpoints: an index (a sorted table) and shards with the data, read without TensorFlow."""
from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codecs.regular_files import open_regular, read_file
from ..errors import FileFormatError, LimitError, UnsupportedVersionError
from .wire import TYPES, fields, shape_of, varint

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
MOST_INDEX_BYTES = 1 << 28
MOST_KEY_BYTES = 1 << 16
_TEXT = 7


@dataclass(frozen=True)
class BundleEntry:
    """An array of a checkpoint.

    Parameters
    ----------
    code : int
        Type of the elements.
    shape : tuple of int
        Sizes.
    shard, offset, size : int
        Where its bytes are.
    """

    code: int
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int


class TensorBundle:
    """A checkpoint: ``prefix.index`` and ``prefix.data-00000-of-00001`` ...

    Parameters
    ----------
    prefix : str
        Path without these endings.

    Raises
    ------
    FileFormatError
        The index is damaged.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.where = f"{prefix}.index"
        self.entries: dict[str, BundleEntry] = {}
        self.shards, big_endian = 1, 0
        for key, value in _table(read_file(self.where, MOST_INDEX_BYTES), self.where):
            if key:
                self.entries[key.decode("utf-8", "replace")] = _entry(value, self.where)
            else:
                self.shards, big_endian = _numbers(dict(fields(memoryview(value))), (1, 1), (2, 0), where=self.where)
        if big_endian:
            raise UnsupportedVersionError(f"{self.where}: the data are big-endian")

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """The array of that name.

        Raises
        ------
        FileFormatError
            There is none, or its bytes are not there.
        """
        entry = self.entries.get(name)
        if entry is None:
            raise FileFormatError(f"{self.where} has no array {name!r}")
        kind = TYPES.get(entry.code)
        if kind is None or entry.code == _TEXT:
            raise FileFormatError(f"{self.where}: {name!r} has elements of type {entry.code}, which arrays here do not have")
        count = int(np.prod(entry.shape, dtype=object)) if entry.shape else 1
        if min(entry.shape, default=0) < 0 or count * np.dtype(kind).itemsize != entry.size:
            raise FileFormatError(f"{self.where}: {name!r} of shape {entry.shape} has {entry.size} bytes")
        self._check(entry, name)
        made = np.empty(entry.shape, kind)
        self._read_into(entry, name, made.reshape(-1).view(np.uint8))
        return made if sys.byteorder == "little" else made.byteswap()

    def text(self, name: str) -> bytes | None:
        """The bytes of an array of one text; None where there is none."""
        entry = self.entries.get(name)
        if entry is None or entry.code != _TEXT:
            return None
        self._check(entry, name)
        data = np.empty(entry.size, np.uint8)
        self._read_into(entry, name, data)
        size, at = varint(memoryview(data.tobytes()), 0)          # its length, a check sum of that, then the text
        return data.tobytes()[at + 4:at + 4 + size]

    def _path(self, entry: BundleEntry) -> str:
        return f"{self.prefix}.data-{entry.shard:05d}-of-{self.shards:05d}"

    def _check(self, entry: BundleEntry, name: str) -> None:
        path = self._path(entry)
        if not os.path.isfile(path) or entry.offset < 0 or entry.offset + entry.size > os.path.getsize(path):
            raise FileFormatError(f"{self.where}: {name!r} lies in bytes {entry.offset} to {entry.offset + entry.size} of "
                                  f"{os.path.basename(path)}, which are not there")

    def _read_into(self, entry: BundleEntry, name: str, target: np.ndarray[Any, Any]) -> None:
        with open_regular(self._path(entry)) as stream:
            stream.seek(entry.offset)
            if stream.readinto(target) != entry.size:  # type: ignore[attr-defined]  # of buffered readers
                raise FileFormatError(f"{self.where}: the bytes of {name!r} end early")


def _entry(value: bytes, where: str) -> BundleEntry:
    found = dict(fields(memoryview(value)))
    if 7 in found:
        raise UnsupportedVersionError(f"{where}: arrays in slices are not read")
    code, shard, offset, size = _numbers(found, (1, 0), (3, 0), (4, 0), (5, 0), where=where)
    return BundleEntry(code, shape_of(found.get(2, memoryview(b""))) or (), shard, offset, size)


def _numbers(found: dict[int, Any], *wanted: tuple[int, int], where: str) -> list[int]:
    """The numbers of some fields, which have values where they are left out."""
    made = [found.get(number, otherwise) for number, otherwise in wanted]
    if not all(isinstance(n, int) for n in made):
        raise FileFormatError(f"{where}: an entry is damaged")
    return made


# The sorted table

def _table(data: bytes, where: str) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of a table in the form of LevelDB."""
    if len(data) < _FOOTER or struct.unpack("<Q", data[-8:])[0] != _MAGIC:
        raise FileFormatError(f"{where} is no index of a checkpoint")
    footer = memoryview(data)[-_FOOTER:]
    try:
        _, at = _handle(footer, 0)
        index, _ = _handle(footer, at)
        left = 4 * len(data)                            # blocks may be named twice by a damaged file
        for _, handle in _block(data, index, where):
            place, _ = _handle(memoryview(handle), 0)
            left -= place[1]
            if left < 0:
                raise LimitError(f"{where}: its blocks are longer than the file")
            yield from _block(data, place, where)
    except (struct.error, IndexError, TypeError) as error:
        raise FileFormatError(f"{where} is damaged ({error})") from None


def _handle(data: memoryview, at: int) -> tuple[tuple[int, int], int]:
    start, at = varint(data, at)
    size, at = varint(data, at)
    return (start, size), at


def _block(data: bytes, place: tuple[int, int], where: str) -> Iterator[tuple[bytes, bytes]]:
    start, size = place
    if start + size + 5 > len(data) or size < 4:
        raise FileFormatError(f"{where}: a block lies outside of the file")
    if data[start + size]:
        raise UnsupportedVersionError(f"{where}: its blocks are compressed, which checkpoints of TensorFlow are not")
    block = memoryview(data)[start:start + size]
    restarts = struct.unpack("<I", block[-4:])[0]
    end = size - 4 - 4 * restarts
    if end < 0:
        raise FileFormatError(f"{where}: a block is damaged")
    at, key = 0, b""
    while at < end:
        shared, at = varint(block, at)
        own, at = varint(block, at)
        length, at = varint(block, at)
        if shared > len(key) or at + own + length > end or shared + own > MOST_KEY_BYTES:
            raise FileFormatError(f"{where}: an entry ends outside of its block, or has no name")
        key = key[:shared] + bytes(block[at:at + own])
        yield key, bytes(block[at + own:at + own + length])
        at += own + length
