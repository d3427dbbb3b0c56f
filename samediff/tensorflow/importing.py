"""A frozen TensorFlow graph as a graph here: the walk of ONNX models, with converters of another domain."""
from __future__ import annotations

import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..codecs.regular_files import path_of, read_file
from ..errors import FileFormatError, GraphError, LimitError, UnknownNameError, did_you_mean
from ..onnx.importing import rename
from ..onnx.values import DEAD, Held
from ..onnx.walk import Walk
from . import converters  # noqa: F401 - fills the table
from .loops import TensorFlowLoop, run, with_loops
from .saved_model import folder_of, saved_graph
from .wire import TensorFlowNode, graph_of

MOST_BYTES = 2 << 30
MOST_REPEATED_BYTES = 1 << 30
#: Operators that give what they are given.
PASSING = frozenset(("Identity", "Enter", "RefEnter", "Exit", "RefExit", "Snapshot", "DeepCopy"))


def nodes_of(source: Any) -> list[TensorFlowNode]:
    """The nodes of a frozen graph, in the order of the file, or of the signature ``serving_default`` of a SavedModel."""
    return read(source)[0]


def read(source: Any) -> tuple[list[TensorFlowNode], list[str]]:
    """The nodes, and the outputs as far as the file says them."""
    folder = folder_of(source)
    return saved_graph(folder) if folder else (_frozen(source), [])


def _frozen(source: Any) -> list[TensorFlowNode]:
    if isinstance(source, (str, os.PathLike)):
        return graph_of(read_file(path_of(source), MOST_BYTES))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return graph_of(bytes(source))
    if hasattr(source, "read"):
        return graph_of(source.read())
    raise GraphError(f"a frozen TensorFlow graph is given as a path, bytes or a binary stream; got {type(source).__name__}")


def fill(sd: Any, source: Any, dynamic_variables: Mapping[str, Any] | None) -> None:
    """Add the graph of a frozen TensorFlow graph to an empty one."""
    found, outputs = read(source)
    nodes = in_order(with_loops(found, in_order))
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
        _place(walk, node)
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


def _place(walk: Walk, node: TensorFlowNode) -> None:
    """Add what a node becomes."""
    if node.name in walk.given:
        walk.scopes[-1][node.name] = Held(np.asarray(walk.given[node.name]), node.name)
    elif node.op_type in ("Placeholder", "PlaceholderWithDefault"):
        dtype = DataType.of(node.attributes.get("dtype", "float32"))
        walk.scopes[-1][node.name] = walk.sd.placeholder(node.name, dtype, shape=_sizes(node))
    elif node.op_type in ("NoOp", "Assert", "TensorArrayCloseV3"):
        return
    elif node.op_type != "Merge" and any(s.get(n) is DEAD for s in walk.scopes for n in (*node.input, *node.control)):
        walk.scopes[-1].update((name, DEAD) for name in node.output)
    elif node.op_type in PASSING and node.input and isinstance(walk.look_up(node.input[0]), Held):
        walk.scopes[-1][node.name] = walk.look_up(node.input[0])    # the constant itself, which may be trained later
    elif isinstance(node, TensorFlowLoop):
        run(walk, node, lambda inner: _place(walk, inner))
    else:
        walk.node(node)


def _sizes(node: TensorFlowNode) -> tuple[int, ...] | None:
    """The sizes of a placeholder, -1 for unknown ones; None for an unknown rank."""
    shape = node.attributes.get("shape")
    if shape is None:
        return None
    if not isinstance(shape, (list, tuple)) or not all(isinstance(n, int) for n in shape):
        raise FileFormatError(f"node {node.name!r} of the frozen TensorFlow graph: attribute 'shape' is no shape, but {shape!r:.60}")
    return tuple(n if n > 0 else -1 for n in shape)


def _check_repeated(nodes: list[TensorFlowNode]) -> None:
    """Constants of one number everywhere take no room in a file, and as much as others in a graph."""
    arrays = [n.attributes.get("value") for n in nodes if n.op_type == "Const"]
    made = sum(a.size * a.itemsize for a in arrays if isinstance(a, np.ndarray) and not any(a.strides))
    if made > MOST_REPEATED_BYTES:
        raise LimitError(f"constants of the TensorFlow graph that are one number everywhere have {made:,} bytes; at most "
                         f"{MOST_REPEATED_BYTES:,} are made")


def in_order(nodes: list[TensorFlowNode]) -> list[TensorFlowNode]:
    """The nodes, each behind those that it reads."""
    known, done, made = {n.name: n for n in nodes}, set(), []
    for first in nodes:
        stack = [(first, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                made.append(node)
                continue
            if node.name in done:
                continue
            done.add(node.name)
            stack.append((node, True))
            for name in reversed([*node.input, *node.control]):
                other = known.get(name.partition(":")[0])
                if other is None and name in node.control:
                    continue
                if other is None:
                    raise FileFormatError(f"node {node.name!r} of the frozen TensorFlow graph reads {name!r}, which nothing gives")
                if other.name not in done:
                    stack.append((other, False))
    return made
