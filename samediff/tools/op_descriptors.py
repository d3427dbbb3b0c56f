"""Descriptions of all ops for other programs: as JSON, or in the text form of DL4J's ``op-ir.proto``."""
from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Iterator
from typing import Any

from ..codecs.arg_slots import parse_slot
from ..codecs.legacy_table import LEGACY_NUMBERS
from ..files.foreign_names import onnx_names, tensorflow_names
from ..files.node_args import file_args
from ..ir.op import METHODS, OPS, Op
from ..ir.signature import describe, formals

FORMS = ("json", "pbtxt")

#: Argument vectors of a node, and what DL4J calls their types.
_VECTORS = {"ints": "INT64", "floats": "DOUBLE", "bools": "BOOL", "dtypes": "DATA_TYPE", "strings": "STRING"}


def descriptors() -> list[dict[str, Any]]:
    """One dictionary for each registered op, those of plug-ins included, by name."""
    OPS.discover()
    return [_descriptor(name, OPS[name]) for name in sorted(OPS)]


def generate(form: str = "json") -> str:
    """The descriptions as text: ``json``, or ``pbtxt`` as DL4J's own generator of op definitions writes them."""
    return json.dumps(descriptors(), indent=1) if form == "json" else "".join(map(_message, descriptors()))


def _descriptor(name: str, cls: type[Op]) -> dict[str, Any]:
    args = file_args(cls)
    stored = args.op_name or name
    calls = [(place, method) for (place, method), classes in METHODS.items() if cls in classes]
    return {
        "name": name, "file_name": stored, "legacy": stored in LEGACY_NUMBERS,
        "documentation": inspect.cleandoc(cls.__doc__ or ""),
        "inputs": [{"name": t.strip("*?"), "optional": t.endswith("?"), "variadic": t.startswith("*")} for t in cls.inputs.split()],
        "attributes": list(_attributes(cls)),
        "arguments": {vector: [_slot(s) for s in getattr(args, vector)] for vector in _VECTORS},
        "properties": dict(args.properties), "gradient": cls.gradient,
        "calls": [f"{place}.{line}" for place, method in calls for line in describe(cls, method)],
        "tensorflow": tensorflow_names(stored), "onnx": onnx_names(stored),
    }


def _attributes(cls: type[Op]) -> Iterator[dict[str, Any]]:
    hints = {f.name: f.type for signature in formals(cls) for f in signature}
    for f in dataclasses.fields(cls):  # type: ignore[arg-type]  # ops are dataclasses
        make: Any = f.default_factory
        required = f.default is dataclasses.MISSING and make is dataclasses.MISSING
        default = None if required else f.default if make is dataclasses.MISSING else make()
        hint = hints.get(f.name, f.type)
        yield {"name": f.name, "type": getattr(hint, "__name__", str(hint)), "required": required,
               "default": default if isinstance(default, (bool, int, float, str, type(None))) else str(default)}


def _slot(text: str) -> str:
    slot = parse_slot(text)
    return text if slot.role == "=" else slot.name


def _message(found: dict[str, Any]) -> str:
    """One ``opList`` message."""
    lines = ["opList {", f'  name: "{found["file_name"]}"']
    for i, given in enumerate(found["inputs"]):
        lines += _argument(given["name"], "INPUT_TENSOR", i, array=given["variadic"])
    for vector, kind in _VECTORS.items():
        for i, name in enumerate(found["arguments"][vector]):
            lines += _argument(name.lstrip("="), kind, i)
    lines += _argument("outputs", "OUTPUT_TENSOR", 0)
    return "\n".join([*lines, f"  opDeclarationType: {'LEGACY_XYZ' if found['legacy'] else 'OP_IMPL'}", "}"]) + "\n"


def _argument(name: str, kind: str, index: int, array: bool = False) -> list[str]:
    more = [f"    argIndex: {index}"] * (index > 0) + ["    isArray: true"] * array
    return ["  argDescriptor {", f'    name: "{name}"', f"    argType: {kind}", *more, "  }"]


