"""Functions that the standard has an operator of its own for; without it they are scalar functions."""
from __future__ import annotations

from typing import Any

from ..export_graph import OnnxGraph, Value
from ..export_table import onnx_exporter

#: op: operator, and its attributes by those of the op.
OPERATORS: dict[str, tuple[str, dict[str, str]]] = {
    "sigmoid": ("Sigmoid", {}), "softplus": ("Softplus", {}), "softsign": ("Softsign", {}), "mish": ("Mish", {}),
    "elu": ("Elu", {"alpha": "alpha"}), "leakyrelu": ("LeakyRelu", {"alpha": "alpha"}),
    "thresholdedrelu": ("ThresholdedRelu", {"alpha": "cutoff"}),
    "softmax": ("Softmax", {"axis": "dimension"}), "log_softmax": ("LogSoftmax", {"axis": "dimension"})}


def _named(op_id: str) -> None:
    operator, attributes = OPERATORS[op_id]

    @onnx_exporter(op_id)
    def activation(g: OnnxGraph, op: Any, x: Value) -> Any:
        given: dict[str, Any] = {theirs: getattr(op, ours) for theirs, ours in attributes.items()}
        return g.node(operator, x, **given)


for _id in OPERATORS:
    _named(_id)


@onnx_exporter("relu")
def relu(g: OnnxGraph, op: Any, x: Value) -> Any:
    return g.node("Relu", x) if getattr(op, "cutoff", 0) == 0 and x.dtype.is_floating else None


@onnx_exporter("cast")
def cast(g: OnnxGraph, op: Any, x: Value) -> Any:
    return g.cast(x, op.data_type)


@onnx_exporter("identity", "stop_gradient", "loss_centre")
def identity(g: OnnxGraph, op: Any, x: Value, *others: Value) -> Any:
    return x


@onnx_exporter("assign", "old_assign", "copy")
def assign(g: OnnxGraph, op: Any, x: Value, y: Value | None = None) -> Any:
    return x if y is None else g.like(g.cast(y, x.dtype), x)


@onnx_exporter("identity_n")
def identities(g: OnnxGraph, op: Any, *xs: Value) -> Any:
    return xs
