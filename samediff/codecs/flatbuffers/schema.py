"""Slots and field types of the FlatBuffers tables of a SameDiff graph file, and the format's enumerations.

One line per table; the position of a field is its slot number. ``[x]`` is a vector of ``x``, a leading ``?`` keeps
"absent" apart from "empty". Slot 9 of FlatGraph holds sequence items in plain files and metadata keys in files of
2025 and later (those fill slot 10 as well), hence the two layouts of the root.
"""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from . import graph as fg


class OpType(IntEnum):
    """Kind of an op; together with the op number it names a legacy op."""

    TRANSFORM_FLOAT = 0
    TRANSFORM_SAME = 1
    TRANSFORM_BOOL = 2
    TRANSFORM_STRICT = 3
    TRANSFORM_ANY = 4
    REDUCE_FLOAT = 5
    REDUCE_SAME = 6
    REDUCE_LONG = 7
    REDUCE_BOOL = 8
    INDEX_REDUCE = 9
    SCALAR = 10
    SCALAR_BOOL = 11
    BROADCAST = 12
    BROADCAST_BOOL = 13
    PAIRWISE = 14
    PAIRWISE_BOOL = 15
    REDUCE_3 = 16
    SUMMARYSTATS = 17
    SHAPE = 18
    AGGREGATION = 19
    RANDOM = 20
    CUSTOM = 21
    GRAPH = 22
    VARIABLE = 40
    BOOLEAN = 60
    LOGIC = 119
    UDF = 120


class VarType(IntEnum):
    """Kind of a variable."""

    VARIABLE = 0
    CONSTANT = 1
    ARRAY = 2
    PLACEHOLDER = 3
    SEQUENCE = 4


class ByteOrder(IntEnum):
    """Byte order of an array buffer."""

    LITTLE = 0
    BIG = 1


@dataclass(frozen=True, slots=True)
class Field:
    """One slot of a table: attribute of the dataclass, slot number, element type and whether it is a vector."""

    name: str
    slot: int
    kind: str
    vector: bool
    keeps_absent: bool


SCALARS: dict[str, np.dtype[Any]] = {
    kind: np.dtype(code)
    for kind, code in {"byte": "<i1", "bool": "<u1", "int": "<i4", "long": "<i8", "double": "<f8"}.items()
}

_TABLES: dict[type, str] = {
    fg.IntPair: "first:int second:int",
    fg.BufferChunk: "index:long data:bytes",
    fg.FlatArray: "shape:[long] buffer:bytes dtype:byte byte_order:byte buffer_chunks:[BufferChunk]"
    " total_buffer_size:long external_data_filename:string is_external:bool appended_data_offset:long"
    " appended_data_length:long",
    fg.FlatVariable: "id:IntPair name:string dtype:byte shape:?[long] ndarray:FlatArray device:int variabletype:byte"
    " control_deps:[string] control_dep_for_op:[string] control_deps_for_var:[string]",
    fg.FlatProperties: "name:string i:[int] l:[long] d:[double] a:[FlatArray] b:[bool] s:[string] shape:[int]",
    fg.FlatNode: "id:int name:string op_type:byte op_num:long properties:[FlatProperties] input:[int]"
    " input_paired:[IntPair] output:[int] extra_params:[double] extra_integer:[long] extra_bools:[bool]"
    " dimensions:[int] device:int scope_id:int scope_name:string output_names:[string] op_name:string"
    " output_types:[byte] scalar:FlatArray control_deps:[string] var_control_deps:[string]"
    " control_dep_for:[string] extra_types:[byte] extra_strings:[string]",
    fg.FlatConfiguration: "id:long execution_mode:byte profiling_mode:byte output_mode:byte timestats:bool"
    " footprint_forward:long footprint_backward:long direction:byte",
    fg.UpdaterState: "param_name:string updater_state_keys:[string] updater_state_values:[FlatArray]",
    fg.SequenceItem: "name:string associated_variable:[FlatArray]",
    fg.SubInstance: "name:string serialized_data:bytes",
    fg.FlatGraph: "id:long variables:[FlatVariable] nodes:[FlatNode] outputs:[IntPair]"
    " configuration:FlatConfiguration placeholders:[string] loss_variables:[string] training_config:string"
    " updater_state:[UpdaterState] sequence_items:[SequenceItem]",
}
_ROOT_2025 = _TABLES[fg.FlatGraph].replace(
    "sequence_items:[SequenceItem]", "metadata_keys:[string] metadata_values:[string] sub_instances:[SubInstance]"
)


def _fields(line: str) -> tuple[Field, ...]:
    rows = []
    for slot, item in enumerate(line.split()):
        name, _, kind = item.partition(":")
        keeps_absent, kind = kind.startswith("?"), kind.removeprefix("?")
        rows.append(Field(name, slot, kind.strip("[]"), kind.startswith("["), keeps_absent))
    return tuple(rows)


TABLES: dict[type, tuple[Field, ...]] = {table: _fields(line) for table, line in _TABLES.items()}
ROOT_2025: tuple[Field, ...] = _fields(_ROOT_2025)
BY_NAME: dict[str, type] = {table.__name__: table for table in TABLES}
