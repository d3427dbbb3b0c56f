"""Looking into models of ONNX, TensorFlow and PyTorch without running them."""
from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ...samediff.onnx import known_converters
from ...samediff.onnx.functions import is_known
from ...samediff.onnx.model_files import model_of
from ...samediff.onnx.values import data_type
from ...samediff.tensorflow.functions import with_inner
from ...samediff.tensorflow.importing import nodes_of
from ...samediff.tensorflow.placing import WITHOUT_CONVERTER
from ..pytorch.state import arrays_of
from .report import FileReport, Part


def inspect_onnx(where: str) -> FileReport:
    """Operators, initializers, inputs, and operators without a converter."""
    model, _ = model_of(where)
    sets = ", ".join(f"{o.domain or 'operator set'} {o.version}" for o in model.opset_import)
    made_by = f"{model.producer_name} {model.producer_version}".strip()
    report = FileReport(where, "ONNX model", written_by=f"{made_by}; {sets}" if made_by else sets)
    names: Counter[str] = Counter()
    missing: dict[str, None] = {}
    for graph in _graphs(model.graph):
        for node in graph.node:
            name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
            names[name] += 1
            if not is_known(model, node):
                missing[name] = None
        for tensor in graph.initializer:
            kind = data_type(tensor.data_type, f"initializer {tensor.name!r}").name
            report.parts.append(Part(tensor.name, kind, {"array": list(tensor.dims)}))
    report.ops, report.missing = dict(names), list(missing)
    report.parameters = sum(p.size for p in report.parts)
    report.notes += [f"{what}: {v.name} {_sizes(v)}" for what, values in (("input", model.graph.input), ("output", model.graph.output))
                     for v in values if what == "output" or v.name not in {t.name for t in model.graph.initializer}]
    beside = sorted({e.value for t in model.graph.initializer for e in t.external_data if e.key == "location"})
    report.notes += [f"arrays lie beside it in {', '.join(beside)}"] if beside else []
    return report


def _graphs(graph: Any, depth: int = 0) -> list[Any]:
    """A graph and those inside of its nodes."""
    found = [graph]
    for node in graph.node if depth < 50 else ():
        for a in node.attribute:
            for inner in [*([a.g] if a.HasField("g") else []), *a.graphs]:
                found += _graphs(inner, depth + 1)
    return found


def _sizes(value: Any) -> str:
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return ""
    return str([d.dim_value if d.HasField("dim_value") else d.dim_param or "?" for d in tensor.shape.dim])


def inspect_tensorflow(where: str) -> FileReport:
    """Operators, constants and variables, placeholders, and operators without a converter."""
    nodes = with_inner(nodes_of(where))
    known = {c.operator for c in known_converters() if c.domain == "tensorflow"} | WITHOUT_CONVERTER
    report = FileReport(where, "TensorFlow graph", ops=dict(Counter(n.op_type for n in nodes)))
    report.missing = sorted({n.op_type for n in nodes} - known)
    for node in nodes:
        array = node.attributes.get("value")
        if node.op_type == "Const" and isinstance(array, np.ndarray) and array.ndim:
            report.parts.append(Part(node.name, array.dtype.name, {"array": list(array.shape)}))
    report.parameters = sum(p.size for p in report.parts)
    report.notes = [f"input: {n.name} {list(n.attributes.get('shape') or ())}" for n in nodes if n.op_type.startswith("Placeholder")]
    return report


def inspect_state(where: str) -> FileReport:
    """The arrays of a state of PyTorch."""
    parts = [Part(name, a.dtype.name, {"array": list(a.shape)}) for name, a in arrays_of(where).items()]
    return FileReport(where, "PyTorch state", parts=parts, parameters=sum(p.size for p in parts))
