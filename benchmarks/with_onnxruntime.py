"""Inference of the networks in ONNX Runtime: "ort" with its own number of threads, "ort_1t" with one."""
from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from workloads import Task, Workload, cross_entropy, looped

SYSTEMS = ("ort", "ort_1t")


def _nodes(w: Workload) -> list[Any]:
    """Operators from "x" to "y"; weights by their names."""
    made: list[Any] = []

    def add(op: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        name = out or f"n{len(made)}"
        made.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name
    at = "x"
    if w.task == "lenet":
        for k in ("K1", "K2"):
            at = add("Relu", add("Conv", at, k, "b" + k))
            at = add("MaxPool", at, kernel_shape=[2, 2], strides=[2, 2])
        at = add("Flatten", at)
    last = sum(name.startswith("W") for name in w.weights())
    for i in range(1, last + 1):
        at = add("Gemm", at, f"W{i}", f"bW{i}")
        at = add("Relu", at) if i < last else add("Softmax", at, out="y")
    return made


def make(w: Workload, system: str) -> Task | None:
    """The workload in ONNX Runtime; None where it trains."""
    if w.kind != "infer":
        return None
    data = w.batches()
    tensors = [numpy_helper.from_array(a, name) for name, a in w.weights().items()]
    graph = helper.make_graph(_nodes(w), "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, data[0][0].shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, data[0][1].shape)], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1 if system == "ort_1t" else 0
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def predict(x: np.ndarray) -> np.ndarray:
        return session.run(None, {"x": x})[0]
    return Task(looped(predict, [(x,) for x, _ in data]), lambda: cross_entropy(predict(data[0][0]), data[0][1]))
