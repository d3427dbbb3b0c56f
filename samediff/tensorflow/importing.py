"""A frozen TensorFlow graph as a graph here: the walk of ONNX models, with converters of another domain."""
from __future__ import annotations

import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..codecs.regular_files import path_of, read_file
from ..errors import FileFormatError, GraphError, LimitError, UnknownNameError, did_you_mean
from ..onnx.importing import rename
from ..onnx.values import DEAD
from ..onnx.walk import Walk
from . import converters  # noqa: F401 - fills the table
from .functions import spread, structured
from .placing import place
from .saved_model import folder_of, saved_graph
from .wire import TensorFlowNode, damage, functions_of, graph_of

MOST_BYTES = 2 << 30
MOST_REPEATED_BYTES = 1 << 30


def nodes_of(source: Any) -> list[TensorFlowNode]:
    """The nodes of a frozen graph, in the order of the file, or of the signature ``serving_default`` of a SavedModel."""
    return read(source)[0]


def read(source: Any, signature: str = "serving_default") -> tuple[list[TensorFlowNode], list[str]]:
    """The nodes, and the outputs as far as the file says them."""
    folder = folder_of(source)
    return saved_graph(folder, signature) if folder else (_frozen(source), [])


def _frozen(source: Any) -> list[TensorFlowNode]:
    if isinstance(source, (str, os.PathLike)):
        data = read_file(path_of(source), MOST_BYTES)
    elif isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    elif hasattr(source, "read"):
        data = source.read()
    else:
        raise GraphError(f"a frozen TensorFlow graph is given as a path, bytes or a binary stream; got {type(source).__name__}")
    return spread(graph_of(data), functions_of(data))


def fill(sd: Any, source: Any, dynamic_variables: Mapping[str, Any] | None, signature: str = "serving_default") -> None:
    """Add the graph of a frozen TensorFlow graph to an empty one."""
    found, outputs = read(source, signature)
    with damage():
        nodes = structured(found)
    if not nodes:
        raise FileFormatError("this is no frozen TensorFlow graph: it holds no nodes")
    _check_repeated(nodes)
    model = SimpleNamespace(opset_import=[SimpleNamespace(domain="tensorflow", version=1)], functions=[])
    given = dict(dynamic_variables or {})
    names = [n.name for n in nodes if n.op_type.startswith("Placeholder")]
    for name in given:
        if name not in names:
            raise UnknownNameError(f"dynamic_variables: the TensorFlow graph has no placeholder {name!r}{did_you_mean(name, names)}; "
                                   f"it has {names}")
    walk = Walk(sd, model, "", given, None, "TensorFlow")
    for node in nodes:
        place(walk, node)
    taken = {name.partition(":")[0] for node in nodes for name in node.input}
    outputs = outputs or [n.name for n in nodes if n.name not in taken and n.name in walk.scopes[-1]]
    named = set(walk.names.values())
    for name, value in walk.scopes[-1].items():
        if value is None or value is DEAD or isinstance(value, list) or name in named:
            continue
        variable = walk.variable(value)
        if variable.name() == name:
            continue
        if variable.name() in walk.names or variable.is_place_holder():
            variable = sd.call("base", "identity", variable)
        walk.names[variable.name()] = name
    rename(sd, walk.names)
    sd.set_outputs(*[n for n in outputs if sd.has_variable(n)])


def _check_repeated(nodes: list[TensorFlowNode]) -> None:
    """Constants of one number everywhere take no room in a file, and as much as others in a graph."""
    arrays = [n.attributes.get("value") for n in nodes if n.op_type == "Const"]
    made = sum(a.size * a.itemsize for a in arrays if isinstance(a, np.ndarray) and not any(a.strides))
    if made > MOST_REPEATED_BYTES:
        raise LimitError(f"constants of the TensorFlow graph that are one number everywhere have {made:,} bytes; at most "
                         f"{MOST_REPEATED_BYTES:,} are made")
