"""Contents of the objects of an ONNX model: attributes, declarations of inputs, names."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..errors import MissingOpError, ValueNeededError
from .registry import near_names
from .values import NARROW, Held, data_type


def names_used(graph: Any) -> list[str]:
    """Names that the nodes of a graph use, those in graphs inside of them too."""
    found = [v.name for v in graph.output]
    for proto in graph.node:
        found += proto.input
        for a in proto.attribute:
            for inner in ([a.g] if a.HasField("g") else []) + list(a.graphs):
                found += names_used(inner)
    return found


def given(value: Any, name: str, code: int) -> Any:
    """A value of an input: an array, a list of arrays, or None."""
    if value is None:
        return None
    if isinstance(value, list) and not (value and np.isscalar(value[0])):
        return [given(v, "", 0) for v in value]
    array = np.asarray(value)
    return Held(array.astype(NARROW[code].numpy) if code else array, name, code=code)


def declared(kind: Any, what: str, name: str) -> tuple[DataType, tuple[int, ...] | None]:
    """Type and shape of an input, -1 where a size is open.

    Raises
    ------
    ValueNeededError
        It is no array.
    """
    if not kind.HasField("tensor_type"):
        found = {"sequence_type": "a sequence: give a list of arrays", "optional_type": "an optional value: give it, or None"}.get(
            kind.WhichOneof("value") or "", f"a {kind.WhichOneof('value') or 'value without a type'}")
        raise ValueNeededError(f"{what} of the ONNX graph is {found}, dynamic_variables={{{name!r}: ...}}; placeholders are arrays",
                               (name,))
    tensor = kind.tensor_type
    shape = tuple(d.dim_value if d.HasField("dim_value") and d.dim_value > 0 else -1 for d in tensor.shape.dim)
    return data_type(tensor.elem_type, what), shape if tensor.HasField("shape") else None


def attributes_of(proto: Any) -> dict[str, Any]:
    """The attributes of a node by name."""
    given = getattr(proto, "attributes", None)
    return {a.name: attribute_value(a) for a in proto.attribute} if given is None else dict(given)


def attribute_value(attribute: Any) -> Any:
    """The value of an attribute, texts decoded."""
    from onnx import helper
    value = helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)) or type(value).__name__.startswith("Repeated"):
        return [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in value]
    return value


def unknown_operator(proto: Any, version: int, library: str) -> MissingOpError:
    """The error for an operator without a converter."""
    where = f"node {proto.name!r}" if proto.name else f"the node that gives {', '.join(map(repr, proto.output))}"
    domain = f"{proto.domain!r}" if proto.domain else "the standard's own"
    example = f'@onnx_converter("{proto.op_type}"' + (f', domain="{proto.domain}")' if proto.domain else ")")
    return MissingOpError(f"no converter for {library} operator {proto.op_type} (domain {domain}, version {version} of its operator set), "
                          f"which {where} needs{near_names(proto.op_type, proto.domain)}. Register one: {example} above a function of the "
                          "node and its inputs, from dl4py.samediff.onnx")
