"""Small ONNX models for tests."""
from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper


def value(name: str, kind: int = TensorProto.FLOAT, shape: Any = None) -> Any:
    """An input or output."""
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes: list[NodeProto], inputs: list[Any], outputs: list[Any], held: dict[str, Any] | None = None, version: int = 20,
          **more: Any) -> ModelProto:
    """A model of nodes; ``held`` are initializers."""
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [numpy_helper.from_array(np.asarray(a), n) for n, a in (held or {}).items()])
    domains = more.pop("domains", {})
    opsets = [helper.make_opsetid("", version), *(helper.make_opsetid(d, v) for d, v in domains.items())]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, **more)


def one_node(operator: str, arrays: dict[str, Any], held: dict[str, Any] | None = None, outputs: int = 1, version: int = 20,
             order: str = "", domain: str = "", open_batch: bool = False, **attributes: Any) -> ModelProto:
    """A model of one node on these arrays, with some of its inputs as initializers."""
    held = held or {}
    names = order.split(",") if order else [*arrays, *held]
    made = [f"out{i}" for i in range(outputs)]
    kinds = {n: helper.np_dtype_to_tensor_dtype(np.asarray(a).dtype) for n, a in arrays.items()}
    inputs = [value(n, kinds[n], ["batch" if open_batch and i == 0 else s for i, s in enumerate(np.shape(a))]) for n, a in arrays.items()]
    node = helper.make_node(operator, names, made, domain=domain, **attributes)
    return model([node], inputs, [helper.make_empty_tensor_value_info(n) for n in made], held, version,
                 domains={domain: 1} if domain else {})
