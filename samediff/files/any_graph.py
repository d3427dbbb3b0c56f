"""Graph files of any form, told by their first bytes: plain FlatBuffers, SDNB, SDZ (a zip archive of SDNB), shards."""
from __future__ import annotations

import mmap
import os
import zipfile
from os import PathLike
from typing import BinaryIO, cast

from ..codecs.flatbuffers.graph import FlatGraph
from ..codecs.flatbuffers.reader import FlatLimits, read_flat_graph
from ..codecs.flatbuffers.sdnb import MAGIC, THRESHOLD, joined, read_sdnb, shard_names, write_sdnb
from ..codecs.regular_files import as_stream, open_regular, path_of, read_stream
from ..codecs.safe_zip import SafeZip
from ..codecs.zip_writer import ZipWriter
from ..errors import FileFormatError, LimitError

_ZIP = b"PK\x03\x04"
_MODEL = "model"
MOST_ENTRIES = 1000             # as DL4J has it
MOST_BYTES = 10 << 30
MOST_RATIO, RATIO_FREE = 100, 16 << 20


def read_any(source: str | PathLike[str] | BinaryIO, limits: FlatLimits) -> FlatGraph:
    """The tables of a file or stream."""
    if not isinstance(source, (str, os.PathLike)):
        return _of_bytes(memoryview(_read(as_stream(source), limits)), limits)
    path = path_of(source)
    shards = _shards(path)
    if shards:
        return joined(_mapped(one, limits) for one in shards)
    with open_regular(path) as stream:
        if stream.read(4) == _ZIP:
            return _of_archive(path, limits)
    return _mapped(path, limits)


def _read(stream: BinaryIO, limits: FlatLimits) -> bytes:
    head = stream.read(4)
    return read_stream(stream, MOST_BYTES if head in (_ZIP, MAGIC) else limits.max_bytes, head)


def write_sdz(stream: BinaryIO, graph: FlatGraph, threshold: int = THRESHOLD) -> None:
    """Write an archive with one entry, stored: DL4J refuses entries that shrink a lot."""
    info = zipfile.ZipInfo(_MODEL, (1980, 1, 1, 0, 0, 0))      # equal graphs give equal bytes
    with ZipWriter(stream, "w", zipfile.ZIP_STORED) as archive, archive.open(info, "w", force_zip64=True) as entry:
        write_sdnb(cast(BinaryIO, entry), graph, threshold)


def _shards(path: str) -> list[str]:
    folder, name = os.path.split(path)
    base = name.partition(".shard")[0] if ".shard" in name else os.path.splitext(name)[0]
    if os.path.exists(path) and ".shard" not in name:
        return []
    names = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    return [os.path.join(folder, n) for n in shard_names(names, base)]


def _mapped(path: str, limits: FlatLimits) -> FlatGraph:
    with open_regular(path) as stream:
        head = stream.read(4)
        if head != MAGIC:
            size = os.fstat(stream.fileno()).st_size        # read(n) takes n bytes of memory, however short the file
            return _of_bytes(memoryview(head + stream.read(min(limits.max_bytes + 1, size))), limits)
        return read_sdnb(memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)), limits)


def _of_bytes(data: memoryview, limits: FlatLimits) -> FlatGraph:
    if data[:4] == _ZIP:
        from io import BytesIO
        return _of_archive(BytesIO(data), limits)
    return read_sdnb(data, limits) if data[:4] == MAGIC else read_flat_graph(data, limits)


def _of_archive(source: str | BinaryIO, limits: FlatLimits) -> FlatGraph:
    with SafeZip(source, MOST_ENTRIES) as archive:
        if sum(i.file_size for i in archive.entries.values()) > MOST_BYTES:
            raise LimitError(f"the archive inflates to more than {MOST_BYTES} bytes")
        for name, info in archive.entries.items():
            if info.file_size > max(RATIO_FREE, MOST_RATIO * info.compress_size):
                raise LimitError(f"entry {name} inflates from {info.compress_size} to {info.file_size} bytes, out of all proportion")
        found = []
        for name in archive.entries:
            with archive.open(name) as entry:
                if entry.read(4) == MAGIC:
                    found.append(name)
        chosen = found if len(found) == 1 else next(([n] for n in ("model.sdnb", _MODEL) if n in found), None)
        names = chosen if chosen is not None else list(shard_names(found, _MODEL))
        if not names:
            raise FileFormatError(f"the archive holds no graph; its entries: {', '.join(archive.entries) or 'none'}")
        return joined([read_sdnb(archive.read(n, MOST_BYTES), limits) for n in names])
