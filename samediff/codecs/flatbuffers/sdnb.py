"""Graph files of 2025 (``.sdnb``): header, tables, large arrays behind them by offset, and the list of these arrays.

Numbers of the header are big-endian; arrays are little-endian in their own memory order. Arrays of ``threshold`` bytes and more
stand behind the tables, so that only the rest has to fit into the 2 GiB of FlatBuffers.
"""
from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from ...base.datatype import DataType
from ...errors import DataTypeError, FileFormatError, TruncatedFileError, UnsupportedVersionError
from ..java_map import read_map, write_map
from .array import contiguous_strides
from .graph import FlatArray, FlatGraph, FlatVariable, UpdaterState
from .reader import FlatLimits, read_flat_graph
from .schema import VarType
from .writer import write_flat_graph

MAGIC = b"SDNB"
VERSION = 1
THRESHOLD = 1 << 20
_HEADER = struct.Struct(">4siqqq")
_UTF8 = DataType.UTF8.code
_EMPTY = 8
_LIMITS = FlatLimits()


@dataclass
class _Blobs:
    """Arrays behind the tables."""

    threshold: int
    buffers: dict[str, bytes | memoryview] = field(default_factory=dict)
    size: int = 0

    def stored(self, name: str, array: FlatArray) -> FlatArray:
        """The form of an array in this kind of file: plain sizes, order as byte order, elements here or behind the tables."""
        rank = array.shape[0]
        flat = FlatArray(array.shape[1:1 + rank], array.buffer, array.dtype, int(array.shape[-1] == ord("f")))
        if array.dtype == _UTF8 or len(array.buffer) < max(self.threshold, 1):
            return flat
        self.buffers[name] = array.buffer
        place, self.size = self.size, self.size + len(array.buffer)
        return replace(flat, buffer=b"", appended_data_offset=place, appended_data_length=len(array.buffer))


def write_sdnb(stream: BinaryIO, graph: FlatGraph, threshold: int = THRESHOLD, metadata: Mapping[str, str] | None = None) -> None:
    """Write the tables of a graph, whose arrays are little-endian.

    Parameters
    ----------
    threshold : arrays of so many bytes and more stand behind the tables.
    metadata : texts kept beside the graph.
    """
    if graph.sequence_items:
        raise FileFormatError("sequence variables cannot be stored in .sdnb and .sdz files; save to a plain graph file")
    blobs = _Blobs(threshold)
    variables = tuple(_stored(v, blobs) for v in graph.variables)
    states = tuple(_stored_state(s, blobs) for s in graph.updater_state)
    told = dict(sorted(({"nd4j.format.type": "APPENDED_BLOB", "nd4j.format.version": str(VERSION)} | dict(metadata or {})).items()))
    tables = write_flat_graph(replace(graph, variables=variables, updater_state=states, metadata_keys=tuple(told),
                                      metadata_values=tuple(told.values())))
    start = _HEADER.size + len(tables)
    places: dict[str, tuple[int, int]] = {}
    at = start
    for name, buffer in blobs.buffers.items():
        places[name] = at, len(buffer)
        at += len(buffer)
    listed = write_map(places)
    stream.write(_HEADER.pack(MAGIC, VERSION, at, len(listed), _HEADER.size))
    stream.write(tables)
    for buffer in blobs.buffers.values():
        stream.write(buffer)
    stream.write(listed)


def read_sdnb(data: bytes | memoryview, limits: FlatLimits = _LIMITS) -> FlatGraph:
    """The tables of a file, with every array as in plain files.

    Raises
    ------
    FileFormatError, TruncatedFileError, LimitError, UnsupportedVersionError
        The bytes are no such file, are cut off, exceed the limits, or of a newer version.
    """
    view = memoryview(data).cast("B").toreadonly()
    if view[:4] != MAGIC:
        raise FileFormatError(f"this is no SDNB file; it starts with {bytes(view[:8])!r}")
    if len(view) < _HEADER.size:
        raise TruncatedFileError(f"the header of an SDNB file has {_HEADER.size} bytes; the file ends at {len(view)}")
    _, version, manifest, length, start = _HEADER.unpack_from(view)
    if version != VERSION:
        raise UnsupportedVersionError(f"an SDNB file of version {version}; this library reads version {VERSION}")
    if manifest < 0 or length < 0 or not _HEADER.size <= start <= manifest:
        raise FileFormatError(f"the header states tables at {start} and a list of {length} bytes at {manifest}")
    if manifest + length > len(view):
        raise TruncatedFileError(f"the list of arrays ends at byte {manifest + length}; the file ends at {len(view)}")
    places = read_map(view[manifest:manifest + length])
    for name, (at, size) in places.items():
        if at < start or size < 0 or at + size > manifest:
            raise FileFormatError(f"array {name!r} is said to lie at {at}, {size} bytes long; arrays end at {manifest}")
    first = min((at for at, _ in places.values()), default=manifest)
    graph = read_flat_graph(view[start:first], limits)
    found = {name: view[at:at + size] for name, (at, size) in places.items()}
    return replace(graph, variables=tuple(_loaded(v, found) for v in graph.variables),
                   updater_state=tuple(_loaded_state(s, found) for s in graph.updater_state))


def joined(shards: Iterable[FlatGraph]) -> FlatGraph:
    """One graph of its shards: the first has the nodes, the others the arrays of variables and updater states."""
    whole, *others = shards
    arrays = {v.name: v for shard in others for v in shard.variables if v.ndarray is not None}
    names = {v.name for v in whole.variables}
    more = tuple(v for name, v in arrays.items() if name not in names)
    return replace(whole, variables=(*(arrays.get(v.name, v) if v.ndarray is None else v for v in whole.variables), *more),
                   updater_state=(*whole.updater_state, *(s for shard in others for s in shard.updater_state)))


def _stored(v: FlatVariable, blobs: _Blobs) -> FlatVariable:
    if v.ndarray is None:
        return v
    return replace(v, shape=v.ndarray.shape[1:1 + v.ndarray.shape[0]], ndarray=blobs.stored(v.name, v.ndarray))


def _stored_state(state: UpdaterState, blobs: _Blobs) -> UpdaterState:
    pairs = zip(state.updater_state_keys, state.updater_state_values)
    return replace(state, updater_state_values=tuple(blobs.stored(f"{state.param_name}/{key}", a) for key, a in pairs))


def _loaded(v: FlatVariable, blobs: Mapping[str, memoryview]) -> FlatVariable:
    array = v.ndarray
    if array is None and v.name in blobs:       # older writers
        array = FlatArray(v.shape or (), b"", v.dtype)
    if array is None:
        return v
    given = v.variabletype == VarType.PLACEHOLDER
    return replace(v, ndarray=_plain(v.name, array, blobs), shape=v.shape if given else None)


def _loaded_state(state: UpdaterState, blobs: Mapping[str, memoryview]) -> UpdaterState:
    pairs = zip(state.updater_state_keys, state.updater_state_values)
    return replace(state, updater_state_values=tuple(_plain(f"{state.param_name}/{key}", a, blobs) for key, a in pairs))


def _plain(name: str, array: FlatArray, blobs: Mapping[str, memoryview]) -> FlatArray:
    """The array with ND4J's shape descriptor, its elements little-endian."""
    dims, order = tuple(array.shape), "f" if array.byte_order else "c"
    if any(n < 0 for n in dims) or len(dims) > 32:
        raise FileFormatError(f"array {name!r}: expected at most 32 sizes, none negative; got {list(dims)}")
    try:
        kind = DataType.from_code(array.dtype)
    except DataTypeError as error:
        raise FileFormatError(f"array {name!r}: {error}") from None
    count = 1
    for n in dims:
        count *= n
    buffer = blobs.get(name, array.buffer)
    if kind is not DataType.UTF8 and len(buffer) != count * kind.numpy.itemsize:
        raise FileFormatError(f"array {name!r} of shape {list(dims)} and type {kind.name} has {len(buffer)} bytes")
    empty = _EMPTY if count == 0 else 0
    return FlatArray((len(dims), *dims, *contiguous_strides(dims, order), empty, 1, ord(order)), buffer, array.dtype, 0)


def shard_names(names: Iterable[str], base: str) -> Iterator[str]:
    """Those of the names that are shards of a base name, in order; all of them must be there."""
    head = f"{base}.shard"
    found: dict[int, str] = {}
    total = set()
    for name in names:
        index, _, count = name.removeprefix(head).removesuffix(".sdnb").partition("-of-")
        if name.startswith(head) and index.isdecimal() and count.isdecimal():
            found[int(index)] = name
            total.add(int(count))
    if len(total) > 1 or (total and sorted(found) != list(range(max(total)))):
        raise FileFormatError(f"of the shards of {base!r} there are {sorted(found)}; expected 0 to {max(total) - 1}")
    for _, name in sorted(found.items()):
        yield name
