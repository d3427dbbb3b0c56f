"""Ops to and from the nodes of graph files, by the :class:`~.file_args.FileArgs` of their class."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ..base.datatype import DataType
from ..base.javanames import squash
from ..base.registry import distribution_of, further
from ..base.user_code.user_methods import upgraded
from ..codecs.file_args import FileArgs
from ..codecs.flatbuffers.graph import FlatNode, FlatProperties
from ..codecs.flatbuffers.properties import OWN, make_property, property_value
from ..codecs.flatbuffers.schema import OpType
from ..codecs.legacy_table import LEGACY_ATTRIBUTES, resolve_op_name
from ..codecs.op_hash import kernel_name
from ..errors import DL4PyError, FileFormatError, UnsupportedVersionError, did_you_mean
from ..ir.op import OPS, Op
from ..ir.signature import Mismatch, attribute_types, coerce
from .nested_values import MARK, from_text, is_plain, to_text

#: Property with the version of a user op.
VERSION = "dl4py.version"
#: Property with name and version of the distribution that a user op comes from.
DISTRIBUTION = "dl4py.distribution"
#: Property that says which optional inputs are there, where one before the last is left out.
PRESENT = "dl4py.inputs"
#: Properties that are no attributes.
INTERNAL = (VERSION, DISTRIBUTION, PRESENT)

_BY_FIELD = FileArgs(all_properties=True)


class OpNames:
    """Finds the registered op of a node; looks each kind up once."""

    def __init__(self) -> None:
        self._read_names()
        self._found: dict[tuple[int, int, str | None, int], str | None] = {}

    def _read_names(self) -> None:
        OPS.discover()
        # What a class inherits names nodes of its parent.
        forms = [(name, args) for name in OPS if (args := vars(OPS[name]).get("file")) is not None]
        self._aliases = {alias: name for name, args in forms for alias in args.aliases}
        self._with_inputs = {(args.op_name, count): name for name, args in forms for count in args.with_inputs}
        self._known = [*OPS, *(n for n in self._aliases if n not in OPS)]

    def __getitem__(self, node: FlatNode) -> type[Op] | None:
        own = next((property_value(p) for p in node.properties if p.name == OWN), None) if node.op_type == OpType.LOGIC else None
        if isinstance(own, str) and (cls := OPS.find(own)) is not None and file_args(cls).op_type == "LOGIC":
            return cls
        key = (node.op_type, node.op_num, node.op_name, len(node.input_paired) or len(node.input))
        if key not in self._found:
            name = self._named(node)
            for _ in further() if name is None else ():
                self._read_names()
                name = self._named(node)
                if name is not None:
                    break
            self._found[key] = name
        name = self._found[key]
        name = self._with_inputs.get((name, key[3]), name)
        return None if name is None else OPS[name]

    def _named(self, node: FlatNode) -> str | None:
        name = resolve_op_name(node, self._known)
        name = self._aliases.get(name or "", name)
        if name is None and node.op_name:
            by_name = node.op_name if node.op_type == OpType.UDF else kernel_name(node.op_name) if node.op_type == OpType.CUSTOM else None
            return by_name if by_name in OPS else None
        return name


def file_args(cls: type[Op]) -> FileArgs:
    """The places of the attributes of an op class in files; by field name where the class does not say."""
    return _BY_FIELD if cls.file is None else cls.file  # type: ignore[no-any-return]


def read_op(cls: type[Op], node: FlatNode, form: FileArgs | None = None) -> Op:
    """The op of a node, whose arguments stand as ``form`` says, by default as the class does.

    Raises
    ------
    FileFormatError
        An attribute is missing or has a value that the op cannot take.
    UnsupportedVersionError
        A user op saved by a newer version of its class.
    """
    args = file_args(cls) if form is None else form
    decoded = {name: value for name, value in args.decode(node).items() if name not in INTERNAL}
    found = LEGACY_ATTRIBUTES.get((node.op_type, node.op_num), {}) | decoded
    if args is _BY_FIELD:
        found = _by_spelling(cls, found)
    found = _upgraded(cls, node, found)
    names = cls.attribute_names()
    _refuse_unknown(cls, node, found)
    values = {}
    for name in names:
        if name in found:
            values[name] = _typed(cls, node, name, found[name])
    for name, hint in attribute_types(cls).items():  # what the outputs of the node tell
        if name in names and name not in values and hint is DataType and node.output_types:
            values[name] = DataType.from_code(node.output_types[0])
        elif name == "num" and name not in values:
            values[name] = len(node.output_names)
    missing = [f.name for f in dataclasses.fields(cls) if f.name not in values  # type: ignore[arg-type]  # ops are dataclasses
               and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
    if missing:
        raise FileFormatError(f"node {node.name!r} (op {cls.id!r}) does not hold the attributes {missing}")
    try:
        return cls(**values)
    except DL4PyError as error:
        raise FileFormatError(f"node {node.name!r} (op {cls.id!r}): {error}") from error


def _by_spelling(cls: type[Op], found: Mapping[str, Any]) -> dict[str, Any]:
    """Properties under any spelling of an attribute's name."""
    fields = {squash(n): n for n in cls.attribute_names()}
    return {fields[squash(n)]: v for n, v in found.items() if squash(n) in fields and (v is not None or n in fields.values())}


def _upgraded(cls: type[Op], node: FlatNode, found: dict[str, Any]) -> dict[str, Any]:
    mine = getattr(cls, "version", None)
    stored = next((property_value(p) for p in node.properties if p.name == VERSION), None)
    if mine is None or stored is None or stored == mine:
        return found
    if stored > mine:
        raise UnsupportedVersionError(f"node {node.name!r}: op {cls.id!r} was saved by version {stored} of its class; "
                                      f"registered is version {mine}. Update the package that defines it")
    upgrade = getattr(cls, "upgrade", None)
    if upgrade is None:
        return found
    made = upgraded(f"op {cls.id!r}", upgrade, {n: v for n, v in found.items() if n not in (VERSION, PRESENT)}, stored)
    return dict(made)


def _refuse_unknown(cls: type[Op], node: FlatNode, found: Mapping[str, Any]) -> None:
    """FileFormatError for saved attributes that the class of a user op lacks: without them it would compute something else."""
    if getattr(cls, "version", None) is None:
        return
    names = cls.attribute_names()
    for name in found:
        if name not in names:
            raise FileFormatError(f"node {node.name!r}: the file holds property {name!r} of op {cls.id!r}, which the registered class "
                                  f"lacks{did_you_mean(name, names)}; its properties: {', '.join(names) or 'none'}. Register the op as it "
                                  "was when saved, or raise its version and write upgrade(cls, attributes, version)")


def _typed(cls: type[Op], node: FlatNode, name: str, value: Any) -> Any:
    hint = attribute_types(cls)[name]
    if isinstance(value, str) and value.startswith(MARK):
        return from_text(value, hint, f"node {node.name!r} (op {cls.id!r}), attribute {name!r}")
    attempts = [value]
    if isinstance(value, float) and value.is_integer():
        attempts.append(int(value))
    if isinstance(value, int):
        attempts.append(bool(value))
    for attempt in attempts:
        try:
            return coerce(hint, attempt, name)
        except Mismatch as error:
            problem = error
    raise FileFormatError(f"node {node.name!r} (op {cls.id!r}): {problem}")


def input_names(op: Op) -> list[str]:
    """The inputs of an op, by name."""
    return [n.strip("*?") for n in op.inputs.split()]


def file_fields(op: Op, inputs: Sequence[str | None], shape: Sequence[int] | None = None) -> dict[str, Any]:
    """The values that slots of :class:`FileArgs` may name: attributes, which inputs there are, the shape of the first one."""
    given = {n for n, name in zip(input_names(op), inputs) if name is not None}
    told = {f"given_{n}": n in given for n in input_names(op)} | {"input_shape": shape}
    return told | {name: getattr(op, name) for name in op.attribute_names()}


def write_op(op: Op, inputs: tuple[str | None, ...], dtype: DataType, added: bool = False,
             shape: Sequence[int] | None = None) -> dict[str, Any]:
    """The parts of a :class:`FlatNode` that an op determines; ``added``: the file has inputs that the op leaves out.

    ``shape`` is that of the first input, where it is known.
    """
    args = file_args(type(op))
    fields = file_fields(op, inputs, shape)
    names = input_names(op)
    given = {n for n in names if fields[f"given_{n}"]}
    if args.all_properties:
        own = ((n, fields[n]) for n in op.attribute_names())
        fields = {n: v if is_plain(v) else to_text(v) for n, v in own if v is not None}
    parts = args.encode(fields, op.id, dtype)
    extra: list[FlatProperties] = []
    if getattr(op, "version", None) is not None:
        extra.append(make_property(VERSION, int(op.version)))  # type: ignore[attr-defined]  # user ops have one
        distribution = distribution_of(type(op).__module__.partition(".")[0])
        if distribution is not None and not type(op).__module__.startswith("dl4py."):
            extra.append(make_property(DISTRIBUTION, distribution))
    if None in inputs or added:
        extra.append(make_property(PRESENT, [n in given for n in names] if added else [n is not None for n in inputs], "b"))
    return parts | {"properties": (*parts["properties"], *extra)}


def file_inputs(op: Op, names: tuple[str | None, ...]) -> list[str]:
    """The input names in the order of the file, without those left out."""
    order = file_args(type(op)).order or range(len(names))
    return [n for i in order if (n := names[i]) is not None]


def takes_inputs(op: Op | type[Op], count: int) -> bool:
    """Whether an op can take so many inputs."""
    names = op.inputs.split()
    least = sum(not n.startswith("*") and not n.endswith("?") for n in names)
    return count >= least and (count <= len(names) or any(n.startswith("*") for n in names))


def check_inputs(op: Op, node: FlatNode, count: int) -> None:
    """FileFormatError when a node has fewer or more inputs than its op can take."""
    if not takes_inputs(op, count):
        raise FileFormatError(f"node {node.name!r} has {count} inputs; op {op.id!r} takes {op.inputs or 'none'}")


def _told_present(op: Op, node: FlatNode) -> list[bool] | None:
    """The inputs that are there, where arguments of the op say so (``given_gamma``)."""
    if not any(slot.partition(":")[0].startswith("given_") for slot in file_args(type(op)).ints):
        return None
    found = file_args(type(op)).decode(node)
    return [bool(found.get(f"given_{n}", True)) for n in input_names(op)]


def spread_inputs(op: Op, node: FlatNode, names: list[str]) -> tuple[str | None, ...]:
    """Input names in the order of the class, with None where an optional one is left out."""
    order = file_args(type(op)).order
    if order and len(order) == len(names):
        return tuple(names[order.index(i)] for i in range(len(names)))
    present = next((property_value(p) for p in node.properties if p.name == PRESENT), None) or _told_present(op, node)
    if present is not None and len(present) == len(names):      # some are there for DL4J alone
        kept = [n if there else None for n, there in zip(names, present)]
        return tuple(kept[:1 + max((i for i, n in enumerate(kept) if n is not None), default=-1)])
    if present is None or sum(present) != len(names):
        return tuple(names)
    given = iter(names)
    return tuple(next(given) if there else None for there in present)
