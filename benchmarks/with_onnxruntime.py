"""Inference of the networks in ONNX Runtime: "ort" with its own number of threads or on a GPU, "ort_1t" with one thread."""
from __future__ import annotations

import contextlib
import sys
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from workloads import CPU, Place, Task, Workload, cross_entropy, looped

SYSTEMS = ("ort", "ort_1t")
CUDA = "CUDAExecutionProvider"


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


def _session(w: Workload, system: str, place: Place) -> Any:
    """The loaded model; RuntimeError where it cannot be on a GPU."""
    x, y = w.batches()[0]
    tensors = [numpy_helper.from_array(a, name) for name, a in w.weights().items()]
    graph = helper.make_graph(_nodes(w), "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, y.shape)], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1 if system == "ort_1t" else 0
    providers: list[Any] = ["CPUExecutionProvider"]
    if place.is_gpu:
        if CUDA not in onnxruntime.get_available_providers():
            raise RuntimeError(f"this build of ONNX Runtime has no {CUDA}, onnxruntime-gpu has")
        with contextlib.redirect_stdout(sys.stderr):            # says there which libraries it does not find
            onnxruntime.preload_dlls()
        providers.insert(0, (CUDA, {"device_id": place.index, "use_tf32": int(place.tf32)}))
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)
    if place.is_gpu and CUDA not in session.get_providers():
        raise RuntimeError(f"{CUDA} cannot be loaded")
    return session


def device_name(place: Place) -> str:
    """Nothing, as ONNX Runtime knows no names; RuntimeError where it cannot run there."""
    _session(Workload("", "", "mlp", "infer", 1, (1, 1)), "ort", place)
    return ""


def make(w: Workload, system: str, place: Place = CPU) -> Task | None:
    """The workload in ONNX Runtime; None where it trains."""
    if w.kind != "infer":
        return None
    data, session = w.batches(), _session(w, system, place)

    def predict(x: np.ndarray) -> np.ndarray:
        return session.run(None, {"x": x})[0]
    def bound(x: np.ndarray) -> Any:
        """Input and output on the device."""
        made = session.io_binding()
        made.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(x, "cuda", place.index))
        made.bind_output("y", "cuda", place.index)
        return made
    stays = place.is_gpu and place.on_device
    run = looped(session.run_with_iobinding, [(bound(x),) for x, _ in data]) if stays else looped(predict, [(x,) for x, _ in data])
    return Task(run, lambda: cross_entropy(predict(data[0][0]), data[0][1]))
