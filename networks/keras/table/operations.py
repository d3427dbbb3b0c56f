"""Functions of ``keras.ops``, which functional models call as if they were layers."""
from __future__ import annotations

import json
from typing import Any

from ....layers.standard.feed_forward import ActivationLayer
from .. import options
from ..layer_reading import KerasLayer, LayerPart, Made, Tensor
from ..model import is_reference
from ..own.operations import KNOWN, OperationVertex, result_shapes
from ..registry import keras_layer

#: Activation functions by the class that calls them.
ACTIVATIONS = {"Relu": "relu", "Relu6": "relu6", "Sigmoid": "sigmoid", "Silu": "silu", "Softplus": "softplus", "Softsign": "softsign",
               "Selu": "selu", "Mish": "mish", "HardSigmoid": "hard_sigmoid", "LogSigmoid": "log_sigmoid", "Gelu": "gelu",
               "LeakyRelu": "leaky_relu", "HardSilu": "hard_silu", "Celu": "celu", "HardTanh": "hard_tanh"}


@keras_layer(*(f"ops.{name}" for name in ACTIVATIONS), becomes="`ActivationLayer`")
def activation(k: KerasLayer) -> Made:
    given = {name: value for name, value in k.config.items() if name != "name"}
    named = {"class_name": ACTIVATIONS[k.class_name.removeprefix("ops.")], "config": {**given, **k.arguments.get("kwargs", {})}}
    return k.made(ActivationLayer(activation=options.activation(named, k.label, k.version)), masked=False)


@keras_layer(*(f"ops.{name}" for name in KNOWN), becomes="a vertex of this function; truth values and whole numbers are floating numbers")
def operation(k: KerasLayer) -> Made:
    left, count = ("name", "dtype", "sparse"), 0

    def encoded(part: Any) -> Any:
        """An argument, with inputs and slices as :class:`.OperationVertex` has them."""
        nonlocal count
        if is_reference(part):
            count += 1
            return {"input": count - 1}
        if isinstance(part, list):
            return [encoded(one) for one in part]
        if isinstance(part, dict):
            kind, config = part.get("class_name"), part.get("config", {})
            if kind == "__slice__":
                return {"slice": [config.get(n) for n in ("start", "stop", "step")]}
            if kind == "__ellipsis__":
                return {"ellipsis": True}
            if kind in ("__numpy__", "__tensor__"):
                return config.get("value")
            raise k.unsupported(f"an argument {str(part)[:60]}")
        return part

    args = [encoded(one) for one in k.arguments.get("args", [])]
    kwargs = {n: encoded(v) for n, v in k.arguments.get("kwargs", {}).items() if n not in left}
    kwargs = {n: v for n, v in k.config.items() if n not in left} | kwargs
    if isinstance(sections := kwargs.get("indices_or_sections"), int):
        size = k.size(k.axis(kwargs.get("axis", 0)) - 1)
        kwargs["indices_or_sections"] = [size * i // sections for i in range(1, sections)]
    name, arguments = k.class_name.removeprefix("ops."), json.dumps({"args": args, "kwargs": kwargs})
    shapes = result_shapes(name, [t.shape for t in k.inputs], arguments)
    inputs, last = tuple(-1 - i for i in range(len(k.inputs))), len(shapes) - 1
    parts = [LayerPart(OperationVertex(name, arguments, i), sources=inputs) for i in (*range(1, last + 1), 0)]
    return Made(tuple(parts), Tensor(shapes[0]), (), tuple((i - 1, Tensor(shapes[i])) for i in range(1, last + 1)))
