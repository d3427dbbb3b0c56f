"""TensorFlow's SavedModels as frozen graphs: functions spread out, variables as constants of their files."""
from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from ..codecs.regular_files import path_of, read_file
from ..errors import FileFormatError
from .bundle import TensorBundle
from .functions import spread
from .wire import TensorFlowNode, damage, fields, functions_of, graph_of, text_of

MODEL = "saved_model.pb"
MOST_BYTES = 2 << 30
_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")


def folder_of(source: Any) -> str:
    """The folder of a SavedModel that a path leads to; empty for everything else."""
    if not isinstance(source, (str, os.PathLike)):
        return ""
    path = path_of(source)
    folder = path if os.path.isdir(path) else os.path.dirname(path) if os.path.basename(path) == MODEL else ""
    return folder if folder and os.path.isfile(os.path.join(folder, MODEL)) else ""


def saved_graph(folder: str, signature: str = "serving_default") -> tuple[list[TensorFlowNode], list[str]]:
    """The nodes that a signature of a SavedModel needs, with the values of its variables, and the names of its outputs.

    Raises
    ------
    FileFormatError
        A file is damaged, or there is no such signature.
    """
    data = read_file(os.path.join(folder, MODEL), MOST_BYTES)
    with damage():
        meta = _meta_graph(data, signature, folder)
        inputs, outputs = _signature(meta, signature, folder)
        graph = bytes(next((v for n, v in meta if n == 2), b""))
    nodes = spread(graph_of(graph), functions_of(graph), [s.partition(":")[0] for s in outputs.values()])
    bundle = TensorBundle(os.path.join(folder, "variables", "variables")) if any(n.op_type in _VARIABLES for n in nodes) else None
    return _named([_with_value(n, bundle) for n in nodes], inputs, outputs)


def _named(nodes: list[TensorFlowNode], inputs: Mapping[str, str], outputs: Mapping[str, str]) -> tuple[list[TensorFlowNode], list[str]]:
    """Placeholders under the names of inputs, and the outputs under theirs; nodes of these names get others."""
    names = {source.partition(":")[0]: name for name, source in inputs.items()}
    wanted = {*names.values(), *(name for name, source in outputs.items() if source.removesuffix(":0") != name)}
    taken = {n.name for n in nodes} | wanted
    for node in nodes:
        if node.name in wanted and node.name not in names:
            names[node.name] = next(n for i in count(1) if (n := f"{node.name}_{i}") not in taken)
            taken.add(names[node.name])
    made = [_renamed(n, names) for n in nodes]
    for name, source in outputs.items():
        base, _, place = source.partition(":")
        inner = names.get(base, base) + (f":{place}" if place not in ("", "0") else "")
        if inner != name:
            made.append(TensorFlowNode(name, "Identity", [inner]))
    return made, list(outputs)


def _meta_graph(data: bytes, signature: str, folder: str) -> list[tuple[int, Any]]:
    """What is said of the graph that has a signature; the first one where none has."""
    found = [list(fields(v)) for n, v in fields(memoryview(data)) if n == 2 and not isinstance(v, int)]
    if not found:
        raise FileFormatError(f"{folder} is no SavedModel: {MODEL} holds no graph")
    return next((meta for meta in found if signature in _signatures(meta)), found[0])


def _signatures(meta: list[tuple[int, Any]]) -> dict[str, Any]:
    """The signatures of a graph by name."""
    entries = [dict(fields(value)) for number, value in meta if number == 5]
    return {text_of(entry.get(1, b"")): entry.get(2, memoryview(b"")) for entry in entries}


def _signature(meta: list[tuple[int, Any]], wanted: str, folder: str) -> tuple[dict[str, str], dict[str, str]]:
    """Names of the inputs and outputs of a signature, and the tensors that they are."""
    known = _signatures(meta)
    if wanted not in known:
        raise FileFormatError(f"{folder}: the SavedModel has no signature {wanted!r}; it has {sorted(n for n in known if n[:2] != '__')}")
    sides: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for number, value in fields(known[wanted]):
        if number in (1, 2):
            entry = dict(fields(value))
            tensor = next((text_of(v) for n, v in fields(entry.get(2, memoryview(b""))) if n == 1), "")
            sides[number - 1][text_of(entry.get(1, b""))] = tensor
    return sides


def _renamed(node: TensorFlowNode, names: Mapping[str, str]) -> TensorFlowNode:
    """A node in which placeholders have the names of inputs."""
    def of(name: str) -> str:
        base, mark, place = name.partition(":")
        return names.get(base, base) + mark + place
    return replace(node, name=names.get(node.name, node.name), input=[of(n) for n in node.input])


def _with_value(node: TensorFlowNode, bundle: TensorBundle | None) -> TensorFlowNode:
    if node.op_type in _VARIABLES and bundle is not None:
        name = str(node.attributes.get("shared_name") or node.name)
        return TensorFlowNode(node.name, "Const", attributes={"value": bundle.array(_key(bundle, name))})
    return node


def _key(bundle: TensorBundle, name: str) -> str:
    """What the checkpoint calls a variable: its name, or a path of objects."""
    if name in bundle.entries:
        return name
    text = bundle.text("_CHECKPOINTABLE_OBJECT_GRAPH")
    for number, item in fields(memoryview(text or b"")):
        if number != 1:
            continue
        for n, attribute in fields(item):
            if n == 2:
                entry = {k: text_of(v) for k, v in fields(attribute) if not isinstance(v, int)}
                if entry.get(2) == name and entry.get(3) in bundle.entries:
                    return entry[3]
    raise FileFormatError(f"{bundle.where} has no values of the variable {name!r}")
