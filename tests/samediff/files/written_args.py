"""The arguments that each op writes into files, as text: where every attribute goes, found by changing one after the other.

``python -m tests.samediff.files.written_args`` writes ``recorded/arguments.txt``; what it says was compared with DL4J (``tests/interop``).
"""
from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.codecs.arg_slots import parse_slot
from dl4py.samediff.codecs.flatbuffers.array import decode_array
from dl4py.samediff.codecs.flatbuffers.properties import property_value
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.files.node_args import file_args, write_op
from tests.samediff.ops.rows.op_table import ROWS

RECORDED = Path(__file__).parent / "recorded" / "arguments.txt"
VECTORS = {"extra_integer": "iArgs", "extra_params": "tArgs", "extra_bools": "bArgs", "extra_types": "dArgs", "extra_strings": "sArgs",
           "dimensions": "dimensions"}


def places(op: Any, without: str = "") -> dict[str, Any]:
    """What stands where in the node of an op: vectors by position, properties by name. It has all its inputs but one."""
    names = tuple(None if n == without else n.strip("*?") for n in op.inputs.split())
    parts = write_op(op, names, DataType.FLOAT)
    found: dict[str, Any] = {f"{text}[{i}]": value for key, text in VECTORS.items() for i, value in enumerate(parts.get(key, ()))}
    found |= {p.name: property_value(p) for p in parts["properties"]}
    if parts.get("scalar") is not None:
        found["scalar"] = decode_array(parts["scalar"], "scalar").item()
    found = {where: "a graph" if isinstance(value, (tuple, str)) and len(str(value)) > 200 else value for where, value in found.items()}
    return {"op": f"{parts['op_type']} {parts['op_num']} {parts['op_name']}"} | found


def attributes(op: Any) -> Iterator[tuple[str, Any]]:
    """Names and values, also of what attributes hold (``window.k_h``)."""
    for name in [f.name for f in dataclasses.fields(op)]:
        value = getattr(op, name)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield from ((f"{name}.{inner}", v) for inner, v in attributes(value))
        else:
            yield name, value


def with_value(op: Any, name: str, value: Any) -> Any:
    """A copy with another value, whether the class would accept it or not."""
    first, _, rest = name.partition(".")
    made = copy.copy(op)
    object.__setattr__(made, first, with_value(getattr(op, first), rest, value) if rest else value)
    return made


def choices(op: Any, name: str) -> list[Any]:
    """The values that slots of an attribute list."""
    args = file_args(type(op))
    slots = [parse_slot(s) for s in (*args.ints, *args.floats, *args.bools, *args.dtypes, *args.strings)]
    slots += [slot for _, _, _, slot in args._properties()]
    return [value for slot in slots if slot.name == name for _, value in slot.pairs]


def others(value: Any, number: int) -> list[Any]:
    """Values to try in place of one; those of numbers are all different."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, DataType):
        return [DataType.SHORT if value is not DataType.SHORT else DataType.LONG]
    if isinstance(value, Enum):
        return [m for m in type(value) if m is not value]
    if isinstance(value, (int, float)):
        return [type(value)(101 + number)]
    if isinstance(value, tuple) and value and all(isinstance(v, int) for v in value):
        return [tuple(101 + 10 * number + i for i in range(len(value)))]
    if value is None:
        return [101 + number, DataType.SHORT, True, "text"]
    if value == ():
        return [(101 + 10 * number, 102 + 10 * number)]
    return ["text"] if isinstance(value, str) else []


def written(op: Any) -> list[str]:
    """The lines of one op: what it writes, then for each attribute what another value of it changes."""
    for number, (name, value) in enumerate(attributes(op)):        # what may be left out stands in the base too
        if value is None:
            op = next((other for _, other in _changed(op, name, value, number)), op)
    base = places(op)
    lines = [f"{op.id}: " + " ".join(f"{where}={value}" for where, value in base.items())]
    for number, (name, value) in enumerate(attributes(op)):
        for other, made in _changed(op, name, value, number):
            lines.append(f"  {name}={getattr(other, 'name', other)}: {_apart(base, places(made))}")
            break
    for name in [n for n in op.inputs.split() if n.endswith("?")]:
        lines.append(f"  without {name[:-1]}: {_apart(base, places(op, name))}")
    return lines


def _apart(base: dict[str, Any], found: dict[str, Any]) -> str:
    return " ".join([*(f"{where}={v}" for where, v in found.items() if base.get(where) != v), *(f"no {w}" for w in base if w not in found)])


def _changed(op: Any, name: str, value: Any, number: int) -> Iterator[tuple[Any, Any]]:
    """Values of an attribute that change what is written, and the op with each."""
    base = places(op)
    for other in (choices(op, name) or others(value, number)):
        made = with_value(op, name, other)
        try:
            found = places(made)
        except (DL4PyError, ValueError, TypeError, AttributeError, KeyError):      # no value of this attribute
            continue
        if found != base:
            yield other, made


def table() -> dict[str, Any]:
    """One op of each kind, with as many attributes set as the rows have."""
    found: dict[str, Any] = {}
    for row in ROWS:
        op = row.op()
        if row.op_id not in found or _filled(op) > _filled(found[row.op_id]):
            found[row.op_id] = op
    return dict(sorted(found.items()))


def _filled(op: Any) -> int:
    return sum(value not in (None, ()) for _, value in attributes(op))


def text() -> str:
    """All ops."""
    return "\n".join(line for op in table().values() for line in written(op)) + "\n"


if __name__ == "__main__":
    RECORDED.write_text(text(), encoding="utf-8")
