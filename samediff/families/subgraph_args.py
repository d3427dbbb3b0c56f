"""Sub-graphs of ops in files: each graph as text in a property, read by dl4py alone."""
from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from ..base.datatype import DataType
from ..codecs.file_args import FileArgs
from ..codecs.flatbuffers.graph import FlatNode
from ..codecs.flatbuffers.properties import make_property, property_value
from ..errors import FileFormatError
from ..ir.graph_class import graph_class
from .subgraph import SubGraph

_MARK = "graph"


class SubGraphArgs(FileArgs):
    """Every attribute as a property; a graph as its file in base 64, then the numbers and names of inputs and outputs."""

    def encode(self, op_fields: Mapping[str, Any], op_name: str = "", input_dtype: DataType = DataType.FLOAT) -> dict[str, Any]:
        """The fields of the file's node, with each sub-graph as text."""
        parts = FileArgs(op_type="UDF").encode({}, op_name, input_dtype)
        parts["properties"] = tuple(make_property(n, _text(v) if isinstance(v, SubGraph) else v) for n, v in op_fields.items()
                                    if n != "input_shape")
        return parts

    def decode(self, node: FlatNode) -> dict[str, Any]:
        """The attributes of an op from the file's node, with each sub-graph rebuilt."""
        found = {p.name: property_value(p) for p in node.properties}
        return {n: _graph(n, v) if isinstance(v, tuple) and v[:1] == (_MARK,) else v for n, v in found.items()}


def _text(graph: SubGraph) -> tuple[str, ...]:
    data = base64.b64encode(graph.sd.as_flat_buffers(False)).decode()
    return _MARK, data, str(len(graph.inputs)), *graph.inputs, *graph.outputs


def _graph(name: str, value: tuple[Any, ...]) -> SubGraph:
    try:
        _, data, count, *names = value
        sd, inputs = graph_class().from_flat_buffers(base64.b64decode(data, validate=True), False), names[:int(count)]
    except (ValueError, binascii.Error) as error:
        raise FileFormatError(f"property {name!r} holds no graph: {error}") from None
    for n in names:
        sd.variable(n)
    return SubGraph(sd, inputs, names[int(count):])
