"""Functions of one array, element by element."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ..node import OnnxNode
from ..registry import onnx_converter

#: Operators that are ops here.
_OPS = {
    "Abs": "math.abs", "Acos": "math.acos", "Acosh": "math.acosh", "Asin": "math.asin", "Asinh": "math.asinh", "Atan": "math.atan",
    "Atanh": "math.atanh", "Ceil": "math.ceil", "Cos": "math.cos", "Cosh": "math.cosh", "Erf": "math.erf", "Exp": "math.exp",
    "Floor": "math.floor", "Log": "math.log", "Neg": "math.neg", "Reciprocal": "math.reciprocal", "Round": "math.rint",
    "Sign": "math.sign", "Sin": "math.sin", "Sinh": "math.sinh", "Sqrt": "math.sqrt", "Tan": "math.tan", "Tanh": "math.tanh",
    "Sigmoid": "nn.sigmoid", "Softplus": "nn.softplus", "Softsign": "nn.softsign", "Mish": "nn.mish"}


def _register(operator: str, place: str) -> None:
    @onnx_converter(operator)
    def convert(node: OnnxNode, x: Any) -> Any:
        return node.op(place, x)


for _operator, _place in _OPS.items():
    _register(_operator, _place)


@onnx_converter("Relu")
def relu(node: OnnxNode, x: Any) -> Any:
    """max(x, 0)."""
    return node.op("nn.relu", x, 0.0) if np.issubdtype(x.dtype, np.floating) else node.xp.maximum(x, 0)


@onnx_converter("LeakyRelu")
def leaky_relu(node: OnnxNode, x: Any) -> Any:
    """alpha x below 0."""
    return node.op("nn.leaky_relu", x, node.get("alpha", 0.01))


@onnx_converter("PRelu")
def prelu(node: OnnxNode, x: Any, slope: Any) -> Any:
    """The slope times x below 0."""
    return node.xp.where(x < 0, x * slope, x)


@onnx_converter("Elu")
def elu(node: OnnxNode, x: Any) -> Any:
    """alpha (exp(x) - 1) below 0."""
    return node.op("nn.elu", x, node.get("alpha", 1.0))


@onnx_converter("Selu")
def selu(node: OnnxNode, x: Any) -> Any:
    """An ELU times gamma."""
    alpha, gamma = node.get("alpha", 1.67326319217681884765625), node.get("gamma", 1.05070102214813232421875)
    if math.isclose(alpha, 1.6732632) and math.isclose(gamma, 1.050701):
        return node.op("nn.selu", x)
    return gamma * node.op("nn.elu", x, alpha)


@onnx_converter("Celu")
def celu(node: OnnxNode, x: Any) -> Any:
    """alpha (exp(x / alpha) - 1) below 0."""
    alpha = node.get("alpha", 1.0)
    return node.xp.where(x > 0, x, alpha * node.xp.expm1(node.xp.minimum(x, 0) / alpha))


@onnx_converter("Gelu", 20)
def gelu(node: OnnxNode, x: Any) -> Any:
    """x times the share of a normal distribution below x."""
    if node.get("approximate", "none") == "tanh":
        return 0.5 * x * (1 + node.xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + node.op("math.erf", x * math.sqrt(0.5)))


@onnx_converter("HardSigmoid")
def hard_sigmoid(node: OnnxNode, x: Any) -> Any:
    """alpha x + beta, between 0 and 1."""
    return node.xp.clip(x * node.get("alpha", 0.2) + node.get("beta", 0.5), 0, 1)


@onnx_converter("HardSwish")
def hard_swish(node: OnnxNode, x: Any) -> Any:
    """x times a hard sigmoid."""
    return x * node.xp.clip(x * (1 / 6) + 0.5, 0, 1)


@onnx_converter("Swish")
def swish(node: OnnxNode, x: Any) -> Any:
    """x sigmoid(alpha x)."""
    alpha = node.get("alpha", 1.0)
    return node.op("nn.swish", x) if alpha == 1 else x * node.op("nn.sigmoid", x * alpha)


@onnx_converter("ThresholdedRelu")
def thresholded_relu(node: OnnxNode, x: Any) -> Any:
    """x above alpha, else 0."""
    return node.xp.where(x > node.get("alpha", 1.0), x, x.dtype.type(0))


@onnx_converter("Shrink")
def shrink(node: OnnxNode, x: Any) -> Any:
    """x moved toward 0 outside of a band, 0 in it."""
    bias, limit = node.get("bias", 0.0), node.get("lambd", 0.5)
    of = x.dtype.type
    return node.xp.where(x < -limit, x + of(bias), node.xp.where(x > limit, x - of(bias), of(0)))


@onnx_converter("Not")
def logical_not(node: OnnxNode, x: Any) -> Any:
    """True where x is not."""
    return node.op("math.not_", x)


@onnx_converter("BitwiseNot")
def bitwise_not(node: OnnxNode, x: Any) -> Any:
    """All bits turned."""
    return node.xp.invert(x)


@onnx_converter("IsNaN")
def is_nan(node: OnnxNode, x: Any) -> Any:
    """True where x is NaN."""
    return node.xp.isnan(x)


@onnx_converter("IsInf")
def is_inf(node: OnnxNode, x: Any) -> Any:
    """True where x is infinite, of the signs asked for."""
    positive, negative = node.flag("detect_positive", True), node.flag("detect_negative", True)
    if positive and negative:
        return node.xp.isinf(x)
    if not positive and not negative:
        return node.xp.zeros_like(x, dtype=np.bool_)
    return x == (x.dtype.type(np.inf) if positive else x.dtype.type(-np.inf))


@onnx_converter("Identity", notes="sequences too")
def identity(node: OnnxNode, x: Any) -> Any:
    """The same."""
    return x


@onnx_converter("Dropout", notes="active while training; at inference too where training_mode says so")
def dropout(node: OnnxNode, x: Any, ratio: Any = None, training: Any = None) -> Any:
    """Each element kept or 0, while training."""
    if "ratio" in node.attributes:
        share = node.get("ratio")
    else:
        share = float(node.value(1, "ratio")) if node.has(1) else 0.5
    if training is not None and bool(node.value(2, "training_mode")) and share:
        drawn = node.op("random.uniform", 0.0, 1.0, DataType.of(x.dtype), *(int(n) for n in x.shape)) >= share
        return node.xp.where(drawn, x / (1 - share), x.dtype.type(0)), drawn
    kept = node.op("nn.dropout_inverted", x, 1.0 - share) if 0 < share < 1 else x
    return (kept, node.xp.ones_like(x, dtype=np.bool_)) if len(node.proto.output) > 1 else kept
