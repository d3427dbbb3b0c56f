"""Schema of an op in a SameDiff graph file: its identity, and which attribute goes into which argument slot."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..base.datatype import DataType
from ..errors import FileFormatError, GraphError, RegistrationError, did_you_mean
from .arg_slots import Slot, attribute, load_slots, parse_slot, store_slots
from .flatbuffers.array import decode_array, encode_array
from .flatbuffers.graph import FlatNode, FlatProperties
from .flatbuffers.properties import EXACT, exact_properties, exact_values, make_property, property_value
from .flatbuffers.schema import OpType
from .legacy_table import op_identity

ALL_DIMENSIONS = 2**31 - 1
_PROPERTY = re.compile(r"(?P<kind>[ilbds])(?P<array>(?:\[\]){0,3}):(?P<slot>.+)")
_LEGACY_REDUCTIONS = (OpType.INDEX_REDUCE, OpType.REDUCE_FLOAT, OpType.REDUCE_SAME, OpType.REDUCE_BOOL)


class FileStep(NamedTuple):
    """One of several nodes that stand for an op; its inputs are positions among those of the op, or names of steps before."""

    name: str
    op: Any
    inputs: tuple[int | str, ...]


@dataclass(frozen=True)
class FileArgs:
    """The places of the attributes of an op in a graph file, in the language of :mod:`.arg_slots`.

    Without arguments it describes an op that has none. Example: ``FileArgs(ints=("k_h", "k_w"), properties={"kH":
    "l:k_h"})``. Reading takes the argument vectors; a property only tells what they do not.

    Attributes
    ----------
    op_name : str, optional
        Name in the file; the op's registered name when None.
    op_type : str, optional
        ``CUSTOM``, ``LOGIC``, ``UDF``, ``TRANSFORM_SAME`` …; None: as the table of legacy ops says, else CUSTOM.
    op_num : int, optional
        Number in the file; None: hash of the name (CUSTOM) or as in the table of legacy ops.
    ints, floats, bools, dtypes, strings : tuple of str
        Slots of the argument vectors (iArgs, tArgs, bArgs, dArgs, sArgs).
    dimensions : str, optional
        Attribute with the axes of a legacy reduction; no axes means all.
    scalar : str, optional
        Slot of the operand of a legacy scalar op; it is stored in the data type of the input.
    properties : mapping of str to str
        Property name to ``kind:slot``; kinds are i int, l long, d double, b bool, s text, with ``[]`` per dimension of
        a sequence: ``"l:k_h"``, ``"i[]:axes"``, ``"s:data_format"``, ``"b:=true"``.
    all_properties : bool
        Store every attribute as a property by its value (user-defined ops).
    order : tuple of int
        Inputs in the order of the file, as positions among those of the class; empty: the same order.
    added : mapping of str to str
        Inputs that DL4J needs where the op leaves them out, as constants: name of the input to ``type:slot``, without a type that of the
        first input: ``"INT:indices"``, ``":=1"``.
    more_outputs : tuple of str or None
        Types of outputs that DL4J's kernel gives beside those here, None for that of the first input; nobody reads them.
    with_inputs : tuple of int
        Numbers of inputs with which a node named :attr:`op_name` means this class, not the one that is registered under that name.
    aliases : tuple of str
        Further kernels of DL4J with the same inputs and slots, whose nodes are read as this op.
    called : FileArgs, optional
        Where DL4J's kernel expects the arguments when ``DynamicCustomOp`` calls it, if not where Java's class writes them.

    Besides its attributes, slots may name ``given_x``, whether the op has the input ``x``, and ``input_shape``, that of its first input or
    None where it is not known.
    """

    op_name: str | None = None
    op_type: str | None = None
    op_num: int | None = None
    ints: tuple[str, ...] = ()
    floats: tuple[str, ...] = ()
    bools: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()
    dimensions: str | None = None
    scalar: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    all_properties: bool = False
    order: tuple[int, ...] = ()
    added: Mapping[str, str] = field(default_factory=dict)
    more_outputs: tuple[str | None, ...] = ()
    with_inputs: tuple[int, ...] = ()
    aliases: tuple[str, ...] = ()
    called: FileArgs | None = None

    def __post_init__(self) -> None:
        if self.op_type is not None and self.op_type not in OpType.__members__:
            raise RegistrationError(f"unknown op type {self.op_type!r}{did_you_mean(self.op_type, OpType.__members__)}")
        for _ in self.attributes():
            pass  # parses every slot, so that a misspelt one fails where it is declared

    def attributes(self) -> Iterator[str]:
        """Yield the attribute names that are mentioned, so that a registry can compare them with the op's fields."""
        slots = [*self.ints, *self.floats, *self.bools, *self.dtypes, *self.strings, self.dimensions, self.scalar]
        for slot in [parse_slot(s) for s in slots if s] + [slot for _, _, _, slot in self._properties()]:
            if slot.role != "=":
                yield slot.name

    def encode(
        self, op_fields: Mapping[str, Any], op_name: str = "", input_dtype: DataType = DataType.FLOAT
    ) -> dict[str, Any]:
        """Return the parts of a :class:`FlatNode` that say what the op is and what its arguments are.

        Parameters
        ----------
        op_fields : mapping
            Attribute values by name.
        op_name : str
            The op's registered name; used when the declaration has none.
        input_dtype : DataType
            Type of the first input, which the operand of a scalar op takes.

        Raises
        ------
        GraphError
            When an attribute is missing or has a value that the file cannot hold.
        """
        name = self.op_name or op_name
        kind, number = op_identity(name, self.op_type)
        parts: dict[str, Any] = {
            "op_type": int(kind),
            "op_num": number if self.op_num is None else self.op_num,
            "op_name": name,
            "extra_integer": tuple(_whole(v) for v in store_slots(self.ints, op_fields)),
            "extra_params": tuple(float(v) for v in store_slots(self.floats, op_fields)),
            "extra_bools": tuple(bool(v) for v in store_slots(self.bools, op_fields)),
            "extra_types": tuple(store_slots([_as_dtype(s) for s in self.dtypes], op_fields)),
            "extra_strings": tuple(str(v) for v in store_slots(self.strings, op_fields, text=True)),
            "properties": tuple(self._store_properties(op_fields)),
        }
        if self.dimensions:
            axes = attribute(op_fields, self.dimensions)
            axes = (axes,) if isinstance(axes, int) else tuple(axes or ())
            parts["dimensions"] = axes or (ALL_DIMENSIONS,)
        for value in store_slots((self.scalar,), op_fields) if self.scalar else ():
            parts["scalar"] = encode_array(np.asarray(value, input_dtype.numpy))
        return parts

    def decode(self, node: FlatNode) -> dict[str, Any]:
        """Return the attributes that a node holds; those that it does not hold are left to the class's defaults."""
        found: dict[str, Any] = {}
        try:
            if self.all_properties:
                found.update((p.name, property_value(p)) for p in node.properties if not p.name.startswith(EXACT))
            if self.scalar and node.scalar is not None:
                operand = decode_array(node.scalar, "scalar")
                if operand.size != 1:
                    raise FileFormatError(f"the operand has shape {list(operand.shape)}; expected a single value")
                load_slots((self.scalar,), [operand.item()], found=found)
            ints = node.extra_integer
            axes = tuple(axis for axis in node.dimensions if axis != ALL_DIMENSIONS)
            if not ints and axes and not self.dimensions and node.op_type in _LEGACY_REDUCTIONS:
                ints = axes  # an op of today that old files hold as a legacy reduction
            load_slots(self.ints, ints, found=found)
            load_slots(self.floats, node.extra_params, found=found)
            load_slots(self.bools, node.extra_bools, found=found)
            load_slots([_as_dtype(s) for s in self.dtypes], node.extra_types, found=found)
            load_slots(self.strings, node.extra_strings, text=True, found=found)
            if self.dimensions:
                found[self.dimensions] = axes
            self._load_properties(node, found)
            found.update(exact_values(node.properties))
        except FileFormatError as error:
            raise type(error)(f"node {node.name!r} (op {node.op_name!r}): {error}") from None
        return found

    def added_inputs(self, op_fields: Mapping[str, Any], first: DataType) -> dict[str, tuple[str, Any]]:
        """Names and values of constants for the inputs that the op leaves out; ``first`` is the type of its first one."""
        found = {}
        for name, text in self.added.items():
            if not op_fields[f"given_{name}"]:
                kind, _, rest = text.partition(":")
                slot, dtype = parse_slot(rest), DataType[kind] if kind else first
                value = slot.constant if slot.role == "=" else attribute(op_fields, slot.name)
                found[name] = (slot.name or name, np.array(value, dtype.numpy))
        return found

    def further_outputs(self, op_fields: Mapping[str, Any]) -> tuple[str | None, ...]:
        """The types of :attr:`more_outputs` for an op with these attributes."""
        return self.more_outputs

    def in_steps(self, op: Any, shapes: Sequence[Any]) -> Sequence[FileStep] | None:
        """What files hold in place of an op that DL4J's kernel does not do for inputs of these shapes; None: the op itself."""
        return None

    def _properties(self) -> Iterator[tuple[str, str, int, Slot]]:
        """Yield name, kind, number of dimensions and slot of each declared property."""
        for name, text in self.properties.items():
            match = _PROPERTY.fullmatch(text)
            if match is None:
                raise RegistrationError(f"property {name!r}: {text!r} cannot be understood; expected kind:attribute")
            yield name, match["kind"], len(match["array"]) // 2, parse_slot(match["slot"])

    def _store_properties(self, op_fields: Mapping[str, Any]) -> Iterator[FlatProperties]:
        rounded = {parse_slot(s).name for s in self.floats}
        if self.all_properties:
            for name, value in op_fields.items():
                large = isinstance(value, int) and value >= 2**63
                rounded |= {name} if large else set()
                yield make_property(name, float(value) if large else value)
        yield from exact_properties({n: v for n, v in op_fields.items() if n in rounded})
        for name, kind, rank, slot in self._properties():
            value = slot.constant if slot.role == "=" else attribute(op_fields, slot.name)
            if value is None:
                continue
            if rank == 0 and slot.role != "=":
                value = slot.store(value, text=kind == "s")
            yield make_property(name, value, kind)

    def _load_properties(self, node: FlatNode, found: dict[str, Any]) -> None:
        stored = {item.name: item for item in node.properties}
        for name, kind, rank, slot in self._properties():
            if slot.role == "=" or slot.name in found or name not in stored:
                continue
            value = property_value(stored[name])
            if value is None:
                continue
            found[slot.name] = slot.load(value, text=kind == "s") if rank == 0 else value


def _as_dtype(slot: str) -> str:
    return slot if ":" in slot or slot.startswith("=") else f"{slot}:dtype"


def _whole(value: Any) -> int:
    if int(value) != value:
        raise GraphError(f"{value!r} stands in an integer argument slot")
    return int(value)
