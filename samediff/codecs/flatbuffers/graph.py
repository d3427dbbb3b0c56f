"""The content of a SameDiff graph file as plain values, one frozen dataclass per FlatBuffers table.

Field order follows the slot order of the format. A vector that is absent reads as ``()``; only ``FlatVariable.shape``
tells absent (``None``, unknown rank) from empty (a scalar).
"""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IntPair:
    """Id of a variable: the id of its op (or its own) and the output position."""

    first: int = 0
    second: int = 0


@dataclass(frozen=True, slots=True)
class BufferChunk:
    """One piece of an array buffer that was stored in several vectors."""

    index: int = 0
    data: bytes | memoryview = b""


@dataclass(frozen=True, slots=True)
class FlatArray:
    """An array as stored: ``shape`` is ND4J's shape descriptor, ``buffer`` the elements in memory order.

    ``flat_array.decode_array`` and ``flat_array.encode_array`` convert from and to NumPy.
    """

    shape: tuple[int, ...] = ()
    buffer: bytes | memoryview = b""
    dtype: int = 0
    byte_order: int = 0
    buffer_chunks: tuple[BufferChunk, ...] = ()
    total_buffer_size: int = 0
    external_data_filename: str | None = None
    is_external: bool = False
    appended_data_offset: int = 0
    appended_data_length: int = 0


@dataclass(frozen=True, slots=True)
class FlatVariable:
    """A variable: id, name, type, kind, and its value or declared shape."""

    id: IntPair | None = None
    name: str = ""
    dtype: int = 0
    shape: tuple[int, ...] | None = None
    ndarray: FlatArray | None = None
    device: int = 0
    variabletype: int = 0
    control_deps: tuple[str, ...] = ()
    control_dep_for_op: tuple[str, ...] = ()
    control_deps_for_var: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlatProperties:
    """A named property of a node; the vector in use tells the kind of the value, ``shape`` its dimensions."""

    name: str = ""
    i: tuple[int, ...] = ()
    l: tuple[int, ...] = ()
    d: tuple[float, ...] = ()
    a: tuple[FlatArray, ...] = ()
    b: tuple[bool, ...] = ()
    s: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FlatNode:
    """One op of the graph: its identity, arguments, inputs and outputs."""

    id: int = 0
    name: str = ""
    op_type: int = 0
    op_num: int = 0
    properties: tuple[FlatProperties, ...] = ()
    input: tuple[int, ...] = ()
    input_paired: tuple[IntPair, ...] = ()
    output: tuple[int, ...] = ()
    extra_params: tuple[float, ...] = ()
    extra_integer: tuple[int, ...] = ()
    extra_bools: tuple[bool, ...] = ()
    dimensions: tuple[int, ...] = ()
    device: int = 0
    scope_id: int = 0
    scope_name: str | None = None
    output_names: tuple[str, ...] = ()
    op_name: str | None = None
    output_types: tuple[int, ...] = ()
    scalar: FlatArray | None = None
    control_deps: tuple[str, ...] = ()
    var_control_deps: tuple[str, ...] = ()
    control_dep_for: tuple[str, ...] = ()
    extra_types: tuple[int, ...] = ()
    extra_strings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlatConfiguration:
    """Execution settings stored beside a graph; DL4J ignores them when it loads one."""

    id: int = 0
    execution_mode: int = 0
    profiling_mode: int = 0
    output_mode: int = 0
    timestats: bool = False
    footprint_forward: int = 0
    footprint_backward: int = 0
    direction: int = 0


@dataclass(frozen=True, slots=True)
class UpdaterState:
    """Updater state arrays of one parameter, by the keys that DL4J uses (M, V, …)."""

    param_name: str = ""
    updater_state_keys: tuple[str, ...] = ()
    updater_state_values: tuple[FlatArray, ...] = ()


@dataclass(frozen=True, slots=True)
class SequenceItem:
    """The arrays of one sequence variable."""

    name: str = ""
    associated_variable: tuple[FlatArray, ...] = ()


@dataclass(frozen=True, slots=True)
class SubInstance:
    """A nested graph: its name and the bytes of its FlatGraph."""

    name: str = ""
    serialized_data: bytes | memoryview = b""


@dataclass(frozen=True, slots=True)
class FlatGraph:
    """The root table: a whole saved graph."""

    id: int = 0
    variables: tuple[FlatVariable, ...] = ()
    nodes: tuple[FlatNode, ...] = ()
    outputs: tuple[IntPair, ...] = ()
    configuration: FlatConfiguration | None = None
    placeholders: tuple[str, ...] = ()
    loss_variables: tuple[str, ...] = ()
    training_config: str | None = None
    updater_state: tuple[UpdaterState, ...] = ()
    sequence_items: tuple[SequenceItem, ...] = ()
    metadata_keys: tuple[str, ...] = ()
    metadata_values: tuple[str, ...] = ()
    sub_instances: tuple[SubInstance, ...] = ()
