"""Operators that the standard defines by others: their bodies."""
from __future__ import annotations

from typing import Any

from ..base.datatype import DataType
from ..ir.variable import SDVariable
from .registry import converter_of, plain_domain
from .values import CODES, Held


def body_of(proto: Any, version: int, inputs: list[Any]) -> Any:
    """The function that an operator of the standard is, None where it is none."""
    from onnx import defs
    domain = plain_domain(proto.domain)
    try:
        schema: Any = defs.get_schema(proto.op_type, version, domain)
    except defs.SchemaError:
        return None
    if schema.has_function:
        versions = [v for v in schema.function_opset_versions if v <= version] or list(schema.function_opset_versions)
        return _parsed(schema.get_function_with_opset_version(max(versions)))
    if not schema.has_context_dependent_function:
        return None
    types = [_type_of(v).SerializeToString() for v in inputs]
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= version]
    return _parsed(schema.get_context_dependent_function_with_opset_version(
        max(versions or schema.context_dependent_function_opset_versions), proto.SerializeToString(), types))


def is_known(model: Any, proto: Any) -> bool:
    """Whether a node of a model can be converted: by a converter, or by the nodes of a function."""
    from onnx import defs
    domain = plain_domain(proto.domain)
    if any((plain_domain(f.domain), f.name) == (domain, proto.op_type) for f in model.functions):
        return True
    version = next((o.version for o in model.opset_import if plain_domain(o.domain) == domain), 0 if domain else 1)
    if converter_of(proto.op_type, domain, version) is not None:
        return True
    try:
        schema: Any = defs.get_schema(proto.op_type, max(version, 1), domain)
    except defs.SchemaError:
        return False
    return bool(schema.has_function or schema.has_context_dependent_function)


def _parsed(data: bytes) -> Any:
    from onnx import FunctionProto
    body = FunctionProto()
    body.ParseFromString(data)
    return body


def with_attributes(proto: Any, given: dict[str, Any]) -> Any:
    """A node of a function with the attributes of the call in place of references to them."""
    if not any(a.ref_attr_name for a in proto.attribute):
        return proto
    made = type(proto)()
    made.CopyFrom(proto)
    del made.attribute[:]
    for a in proto.attribute:
        if not a.ref_attr_name:
            made.attribute.append(a)
        elif a.ref_attr_name in given:
            made.attribute.append(given[a.ref_attr_name])
            made.attribute[-1].name = a.name
    return made


def _type_of(value: Any) -> Any:
    from onnx import TypeProto, helper
    if value is None:
        return TypeProto()
    if isinstance(value, Held):
        return helper.make_tensor_type_proto(CODES[DataType.of(value.array.dtype)], value.array.shape)
    assert isinstance(value, SDVariable)
    shape = value.spec.shape
    return helper.make_tensor_type_proto(CODES[value.dtype], None if shape is None else [None if n == -1 else n for n in shape])
