"""TensorFlow's SavedModels as frozen graphs: functions spread out, variables as constants of their files."""
from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from ..codecs.regular_files import path_of, read_file
from ..errors import FileFormatError, LimitError, MissingOpError
from .bundle import TensorBundle
from .wire import TensorFlowFunction, TensorFlowNode, damage, fields, functions_of, graph_of, text_of

MODEL = "saved_model.pb"
MOST_BYTES = 2 << 30
MOST_NODES, MOST_DEPTH = 200_000, 50
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
#: Results of operators that have several of different names, in their order; others have one, which may be a list.
_RESULTS = {
    "TopKV2": ("values", "indices"), "Unique": ("y", "idx"), "UniqueWithCounts": ("y", "idx", "count"),
    "MaxPoolWithArgmax": ("output", "argmax"), "Svd": ("s", "u", "v"), "Lu": ("lu", "p"),
    "LogMatrixDeterminant": ("sign", "log_abs_determinant"), "SoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "SparseSoftmaxCrossEntropyWithLogits": ("loss", "backprop"), "Merge": ("output", "value_index"),
    "Switch": ("output_false", "output_true"), "Qr": ("q", "r"), "SelfAdjointEigV2": ("e", "v"), "ListDiff": ("out", "idx"),
    "NonMaxSuppressionV4": ("selected_indices", "valid_outputs"),
    "NonMaxSuppressionV5": ("selected_indices", "selected_scores", "valid_outputs"),
    "FusedBatchNormV3": ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"),
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2"), ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"))}


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
        meta = _meta_graph(data, folder)
        inputs, outputs = _signature(meta, signature, folder)
        graph = bytes(next((v for n, v in meta if n == 2), b""))
    nodes = _Spreading(functions_of(graph)).spread(graph_of(graph), outputs)
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


def _meta_graph(data: bytes, folder: str) -> list[tuple[int, Any]]:
    found = [v for n, v in fields(memoryview(data)) if n == 2 and not isinstance(v, int)]
    if not found:
        raise FileFormatError(f"{folder} is no SavedModel: {MODEL} holds no graph")
    return list(fields(found[0]))


def _signature(meta: list[tuple[int, Any]], wanted: str, folder: str) -> tuple[dict[str, str], dict[str, str]]:
    """Names of the inputs and outputs of a signature, and the tensors that they are."""
    known = {}
    for number, value in meta:
        if number == 5:
            entry = dict(fields(value))
            known[text_of(entry.get(1, b""))] = entry.get(2, memoryview(b""))
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
    if node.op_type in ("ReadVariableOp", "VariableV2Read"):
        return replace(node, op_type="Identity")
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


class _Spreading:
    """Puts the nodes of functions in the place of calls of these."""

    def __init__(self, functions: dict[str, TensorFlowFunction]) -> None:
        self.functions = functions
        self.made: dict[str, TensorFlowNode] = {}

    def spread(self, nodes: list[TensorFlowNode], outputs: Mapping[str, str]) -> list[TensorFlowNode]:
        """The nodes that the outputs need."""
        known = {n.name: n for n in nodes}
        self.run(known, [s.partition(":")[0] for s in outputs.values()], "", {}, 0)
        return list(self.made.values())

    def run(self, known: Mapping[str, TensorFlowNode], wanted: list[str], prefix: str, given: Mapping[str, str], depth: int) -> None:
        """Add the nodes of one graph or function that are wanted; ``given`` are its arguments."""
        if depth > MOST_DEPTH:
            raise LimitError(f"functions of the SavedModel call each other more than {MOST_DEPTH} deep")
        done: set[str] = set()
        stack = list(wanted)
        while stack:
            name = stack.pop()
            if name in done or name in given:
                continue
            done.add(name)
            node = known.get(name)
            if node is None:
                raise FileFormatError(f"the SavedModel reads {prefix + name!r}, which nothing gives")
            stack += [i.partition(":")[0] for i in node.input]
            self.add(replace(node, name=prefix + name, control=[], input=[_reference(i, known, prefix, given) for i in node.input]), depth)

    def add(self, node: TensorFlowNode, depth: int) -> None:
        """Add a node, or those of the function that it calls."""
        if len(self.made) > MOST_NODES:
            raise LimitError(f"the SavedModel has more than {MOST_NODES:,} nodes")
        if node.op_type not in _CALLS:
            self.made[node.name] = node
            return
        function = self.functions.get(str(node.attributes.get("f")))
        if function is None or len(function.inputs) != len(node.input):
            raise MissingOpError(f"the SavedModel calls the function {node.attributes.get('f')!r} in node {node.name!r}, which it does "
                                 "not have")
        given = dict(zip(function.inputs, node.input))
        inner, prefix = {n.name: n for n in function.nodes}, f"{node.name}/"
        results = [function.results.get(o, o) for o in function.outputs]
        self.run(inner, [r.partition(":")[0] for r in results], prefix, given, depth + 1)
        sources = [_reference(r, inner, prefix, given) for r in results]
        self.made[node.name] = TensorFlowNode(node.name, "IdentityN", sources) if sources else TensorFlowNode(node.name, "NoOp")


def _reference(name: str, known: Mapping[str, TensorFlowNode], prefix: str, given: Mapping[str, str]) -> str:
    """What a name in a graph or function means outside of it; inside of functions results have names, ``node:values:0``."""
    base, *rest = name.split(":")
    if base in given:
        return given[base]
    place = 0
    if rest:
        place = int(rest[-1]) if rest[-1].isdigit() else 0
        if len(rest) == 2 and base in known:
            names = _RESULTS.get(known[base].op_type, ())
            place += names.index(rest[0]) if rest[0] in names else 0
    return f"{prefix}{base}:{place}" if place else prefix + base
