"""Writing the dataclasses of :mod:`.graph` as a plain SameDiff graph file (FlatBuffers)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flatbuffers
import numpy as np

from ...errors import FileFormatError, LimitError
from .graph import FlatGraph
from .schema import BY_NAME, ROOT_2025, SCALARS, TABLES, Field

_PREPEND = {"byte": "Int8", "bool": "Bool", "int": "Int32", "long": "Int64", "double": "Float64"}
_RANGES = {"byte": (-(2**7), 2**7 - 1), "int": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1)}
_LIMIT = 2**31 - 1


def write_flat_graph(graph: FlatGraph) -> bytes:
    """Return the file of a graph (FlatBuffers); default values and empty vectors are left out.

    Raises
    ------
    FileFormatError
        When a number does not fit its field.
    LimitError
        When the file would exceed 2 GiB, the limit of the format.
    """
    size = _content_size(graph)
    if size > _LIMIT:
        raise LimitError(f"the arrays of the graph take {size} bytes; a plain graph file ends at {_LIMIT}: "
                         "save it as .sdnb or .sdz")
    builder = flatbuffers.Builder(size + 4096)
    newer = graph.metadata_keys or graph.metadata_values or graph.sub_instances
    if newer and graph.sequence_items:
        raise FileFormatError("a graph file holds either sequence items or metadata: both use slot 9")
    try:
        root = _table(builder, graph, ROOT_2025 if newer else TABLES[FlatGraph], "graph")
        builder.Finish(root)
    except flatbuffers.builder.BuilderSizeError:
        raise LimitError(f"the graph does not fit into a plain graph file of {_LIMIT} bytes") from None
    return bytes(builder.Output())


def _content_size(graph: FlatGraph) -> int:
    arrays = [v.ndarray.buffer for v in graph.variables if v.ndarray]
    arrays += [a.buffer for state in graph.updater_state for a in state.updater_state_values]
    arrays += [a.buffer for item in graph.sequence_items for a in item.associated_variable]
    return sum(len(a) for a in arrays)


def _table(builder: Any, value: Any, fields: tuple[Field, ...], what: str) -> int:
    """Write children first, as FlatBuffers wants it, then the table itself; return its offset."""
    children = {row.slot: _child(builder, row, getattr(value, row.name), f"{what}.{row.name}") for row in fields
                if row.vector or row.kind not in SCALARS}
    builder.StartObject(len(fields))
    for row in fields:
        if row.slot in children:
            builder.PrependUOffsetTRelativeSlot(row.slot, children[row.slot], 0)
        else:
            number = getattr(value, row.name)
            _check_range((number,), row.kind, f"{what}.{row.name}")
            getattr(builder, f"Prepend{_PREPEND[row.kind]}Slot")(row.slot, number, 0)
    offset: int = builder.EndObject()
    return offset


def _child(builder: Any, row: Field, value: Any, what: str) -> int:
    if value is None or (row.vector and len(value) == 0 and not row.keeps_absent):
        return 0
    if row.kind == "bytes":
        return int(builder.CreateByteVector(bytes(value))) if len(value) else 0
    if not row.vector:
        return _element(builder, row.kind, value, what)
    if row.kind in SCALARS:
        _check_range(value, row.kind, what)
        return int(builder.CreateNumpyVector(np.asarray(value, SCALARS[row.kind])))
    offsets = [_element(builder, row.kind, item, f"{what}[{i}]") for i, item in enumerate(value)]
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _element(builder: Any, kind: str, value: Any, what: str) -> int:
    if kind == "string":
        try:
            return int(builder.CreateString(value))
        except UnicodeEncodeError as error:
            raise FileFormatError(f"{what}: {value!r} cannot be stored as UTF-8 ({error.reason})") from None
    return _table(builder, value, TABLES[BY_NAME[kind]], what)


def _check_range(numbers: Sequence[Any], kind: str, what: str) -> None:
    low, high = _RANGES.get(kind, (0, 0))
    if low < 0 and not all(isinstance(n, (int, np.integer)) and low <= n <= high for n in numbers):
        raise FileFormatError(f"{what}: expected integers of {high.bit_length() + 1} bits; got {list(numbers)}")
