"""Attribute values that no argument slot can hold, as JSON text: nested tuples, settings, ops, graphs.

Only data is written. Reading makes tuples, numbers, texts, data types, registered ops and configurations, graphs, and
objects of the dataclass or enum that the attribute is annotated with: a file cannot name a class of its own.
"""
from __future__ import annotations

import base64
import dataclasses
import enum
import json
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..base.datatype import DataType, is_real
from ..codecs.flatbuffers.graph import FlatNode
from ..codecs.flatbuffers.properties import property_value
from ..configuration.classes import is_registered
from ..configuration.configuration import Configuration
from ..errors import DataTypeError, FileFormatError
from ..families.subgraph import SubGraph
from ..ir.graph_class import graph_class
from ..ir.op import OPS, Op
from ..ir.signature import attribute_types

#: Start of a text property that holds a nested value.
MARK = "dl4py-json:"


def is_plain(value: Any) -> bool:
    """Whether a property vector can hold the value."""
    if isinstance(value, (list, tuple)):
        kinds = {bool if isinstance(v, bool) else str if isinstance(v, (str, enum.Enum)) else float for v in value}
        return len(kinds) <= 1 and all(v is not None and not isinstance(v, (list, tuple)) and is_plain(v) for v in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "cSUO"
    return value is None or isinstance(value, (bool, int, float, enum.Enum)) or (isinstance(value, str) and not value.startswith(MARK))


def to_text(value: Any) -> str:
    """The JSON text of a nested value."""
    return MARK + json.dumps(_document(value))


def from_text(text: str, hint: Any, what: str) -> Any:
    """The value of a text made by :func:`to_text` for an attribute annotated with ``hint``."""
    try:
        return _value(json.loads(text.removeprefix(MARK)), hint)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{what}: {text[:80]!r} cannot be understood ({error})") from None


def missing_classes(node: FlatNode) -> tuple[str, ...]:
    """The classes of configurations and ops that nested values of a node name and nobody registers."""
    texts = [v for p in node.properties if isinstance(v := property_value(p), str) and v.startswith(MARK)]
    found: dict[str, None] = {}
    for text in texts:
        try:
            waiting = [json.loads(text.removeprefix(MARK))]
        except (ValueError, RecursionError):
            continue                # from_text says what is wrong
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                found |= dict.fromkeys(_missing(value))
            waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return tuple(sorted(found))


def _missing(document: dict[str, Any]) -> Iterator[str]:
    op, name = document.get("op"), document.get("@class")
    if isinstance(op, str) and "attributes" in document and OPS.find(op) is None:
        yield op
    if isinstance(name, str) and not is_registered(name):
        yield name


def _document(value: Any) -> Any:
    if isinstance(value, np.generic) and is_real(value.dtype):
        return {"number": [DataType.of(value.dtype).name, value.item()]}
    if value is None or (isinstance(value, (bool, int, float, str)) and not isinstance(value, enum.Enum)):
        return value
    if isinstance(value, (list, tuple)):
        return [_document(v) for v in value]
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {"items": [[_document(k), _document(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        return {"complex array": [value.dtype.name, list(value.shape), [[v.real, v.imag] for v in value.reshape(-1).tolist()]]}
    if isinstance(value, np.ndarray):
        return {"array": [DataType.of(value).name, list(value.shape), value.reshape(-1).tolist()]}
    if isinstance(value, DataType):
        return {"data_type": value.name}
    if isinstance(value, enum.Enum):
        return {"enum": value.name}
    if isinstance(value, Op):
        return {"op": value.id, "attributes": {n: _document(getattr(value, n)) for n in value.attribute_names()}}
    if isinstance(value, Configuration) and value.java_name and value.json_tag:
        return {"configuration": value.to_document()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"fields": {f.name: _document(getattr(value, f.name)) for f in dataclasses.fields(value)}}
    if isinstance(value, SubGraph):
        content = base64.b64encode(value.sd.as_flat_buffers()).decode("ascii")
        return {"graph": content, "inputs": list(value.inputs), "outputs": list(value.outputs)}
    raise DataTypeError(f"{value!r:.60} cannot be saved as an attribute of an op")


def _items(hint: Any, origins: tuple[type, ...]) -> tuple[Any, ...]:
    """The annotation of the members of a list or dict, which may be optional."""
    options = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    return next((typing.get_args(o) for o in options if typing.get_origin(o) in origins), ())


def _value(document: Any, hint: Any) -> Any:
    if isinstance(document, list):
        items = _items(hint, (list, tuple))
        several = len(items) == 1 or (len(items) == 2 and items[1] is ...)
        return tuple(_value(v, items[0] if several else items[i] if i < len(items) else Any) for i, v in enumerate(document))
    if not isinstance(document, dict):
        return document
    if "complex" in document:
        return complex(*document["complex"])
    if "bytes" in document:
        return base64.b64decode(document["bytes"], validate=True)
    if "items" in document:
        key, value = _items(hint, (dict,)) or (Any, Any)
        return {_value(k, key): _value(v, value) for k, v in document["items"]}
    if "number" in document:
        name, number = document["number"]
        return DataType[name].numpy.type(number)
    if "array" in document:
        name, shape, values = document["array"]
        return np.array(values, DataType[name].numpy).reshape(shape)
    if "complex array" in document:
        name, shape, values = document["complex array"]
        return np.array([complex(*v) for v in values], {"complex64": np.complex64, "complex128": np.complex128}[name]).reshape(shape)
    if "data_type" in document:
        return DataType[document["data_type"]]
    if "op" in document:
        cls = OPS.find(document["op"]) or OPS[document["op"]]
        hints = attribute_types(cls)
        return cls(**{n: _value(v, hints[n]) for n, v in document["attributes"].items()})
    if "configuration" in document:
        return Configuration.from_document(document["configuration"])
    if "graph" in document:
        sub = graph_class().from_flat_buffers(base64.b64decode(document["graph"], validate=True))
        return SubGraph(sub, *([sub.variable(n).name() for n in document[side]] for side in ("inputs", "outputs")))
    options = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    classes = (o for o in options if isinstance(o, type))
    made: Any = next((o for o in classes if (issubclass(o, enum.Enum) if "enum" in document else dataclasses.is_dataclass(o))), None)
    if made is None:
        raise FileFormatError(f"an attribute annotated {hint} cannot hold {sorted(document)}")
    if "enum" in document:
        return made[document["enum"]]
    hints = attribute_types(made)
    return made(**{n: _value(v, hints[n]) for n, v in document["fields"].items()})
