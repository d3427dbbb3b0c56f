"""Functions of elements."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...expressions.arrays import xp as special_functions
from ...ir.op import OPS
from ...onnx.node import OnnxNode
from .table import tensorflow

_OPS = {
    "Abs": "math.abs", "Acos": "math.acos", "Acosh": "math.acosh", "Asin": "math.asin", "Asinh": "math.asinh", "Atan": "math.atan",
    "Atanh": "math.atanh", "Ceil": "math.ceil", "Cos": "math.cos", "Cosh": "math.cosh", "Digamma": "math.digamma", "Erf": "math.erf",
    "Erfc": "math.erfc", "Exp": "math.exp", "Expm1": "math.expm1", "Floor": "math.floor", "Inv": "math.reciprocal",
    "IsFinite": "math.is_finite", "IsInf": "math.is_infinite", "IsNan": "math.is_nan", "Lgamma": "math.lgamma", "Log": "math.log",
    "Log1p": "math.log1p", "LogicalNot": "math.not_", "Neg": "math.neg", "Reciprocal": "math.reciprocal", "Rint": "math.rint",
    "Round": "math.rint", "Rsqrt": "math.rsqrt", "Sigmoid": "nn.sigmoid", "Sign": "math.sign", "Sin": "math.sin", "Sinh": "math.sinh",
    "Softplus": "nn.softplus", "Softsign": "nn.softsign", "Sqrt": "math.sqrt", "Square": "math.square", "Tan": "math.tan",
    "Tanh": "math.tanh", "Elu": "nn.elu", "Selu": "nn.selu", "Invert": "bitwise.bits_invert",
    "Add": "math.add", "AddV2": "math.add", "Sub": "math.sub", "Mul": "math.mul", "Div": "math.div", "RealDiv": "math.div",
    "Atan2": "math.atan2", "SquaredDifference": "math.squared_difference", "Pow": "math.pow",
    "LeftShift": "bitwise.left_shift", "RightShift": "bitwise.right_shift", "DivNoNan": "math.div_no_nan"}
_NUMPY = {
    "Equal": "equal", "NotEqual": "not_equal", "Less": "less", "LessEqual": "less_equal", "Greater": "greater",
    "GreaterEqual": "greater_equal", "LogicalAnd": "logical_and", "LogicalOr": "logical_or", "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "Maximum": "maximum", "Minimum": "minimum", "FloorMod": "remainder",
    "TruncateMod": "fmod", "Mod": "fmod", "FloorDiv": "floor_divide"}


@tensorflow(*_OPS)
def op(node: OnnxNode, *xs: Any) -> Any:
    """An op here."""
    return node.op(_OPS[node.op_type], *xs)


@tensorflow(*_NUMPY)
def function(node: OnnxNode, x: Any, y: Any) -> Any:
    """A function of NumPy."""
    return getattr(node.xp, _NUMPY[node.op_type])(x, y)


@tensorflow("Polygamma", "Zeta", "Igamma", "Igammac", "Betainc")
def special(node: OnnxNode, *xs: Any) -> Any:
    """Special functions; all but polygamma take values that are known while the graph is built."""
    names = {"Polygamma": "polygamma", "Zeta": "zeta", "Igamma": "gammainc", "Igammac": "gammaincc", "Betainc": "betainc"}
    if node.op_type == "Polygamma" and any(node.known(i) is None for i in range(2)):
        return node.xp.polygamma(*xs)
    given = [np.asarray(node.value(i, "an argument")) for i in range(len(xs))]
    return np.asarray(getattr(special_functions, names[node.op_type])(*given), given[0].dtype)


@tensorflow("Relu", "Relu6")
def relu(node: OnnxNode, x: Any) -> Any:
    """Between 0 and 6 or without an end."""
    return node.op("nn.relu" if node.op_type == "Relu" else "nn.relu6", x, 0.0)


@tensorflow("LeakyRelu")
def leaky_relu(node: OnnxNode, x: Any) -> Any:
    """alpha x below 0."""
    return node.op("nn.leaky_relu", x, node.get("alpha", 0.2))


@tensorflow("Cast")
def cast(node: OnnxNode, x: Any) -> Any:
    """Another type."""
    return x.astype(node.get("DstT"))


@tensorflow("Bitcast")
def bitcast(node: OnnxNode, x: Any) -> Any:
    """The same bits as another type."""
    return node.outer(node.sd.add_op(OPS["bitcast"](data_type=DataType.of(node.get("type"))), [node.inner(x)]))


@tensorflow("CompareAndBitpack")
def bitpack(node: OnnxNode, x: Any, limit: Any) -> Any:
    """Whether elements are above a limit, eight of them in one number."""
    bits = x if x.dtype.kind == "b" else x > limit
    eights = node.xp.reshape(bits.astype(np.int32), (*x.shape[:-1], int(x.shape[-1]) // 8, 8))
    return node.xp.sum(eights * (1 << np.arange(7, -1, -1, dtype=np.int32)), axis=-1).astype(np.uint8)


@tensorflow("Select", "SelectV2")
def select(node: OnnxNode, condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y; conditions of rows choose rows."""
    if node.op_type == "Select" and condition.ndim == 1 < x.ndim:
        condition = node.xp.reshape(condition, (-1, *[1] * (x.ndim - 1)))
    return node.xp.where(condition, x, y)


@tensorflow("AddN", "AccumulateNV2")
def add_n(node: OnnxNode, *xs: Any) -> Any:
    """A sum of arrays."""
    made = xs[0]
    for x in xs[1:]:
        made = node.op("math.add", made, x)
    return made


@tensorflow("BiasAdd")
def bias_add(node: OnnxNode, x: Any, bias: Any) -> Any:
    """A number for each channel added."""
    first = node.get("data_format", "NHWC").startswith("NC")
    return x + (node.xp.reshape(bias, (1, -1, *[1] * (x.ndim - 2))) if first else bias)


@tensorflow("Softmax", "LogSoftmax")
def softmax(node: OnnxNode, x: Any) -> Any:
    """Shares of the last axis, or their logarithms."""
    return node.op("nn.softmax" if node.op_type == "Softmax" else "nn.log_softmax", x, x.ndim - 1)


@tensorflow("SoftmaxCrossEntropyWithLogits")
def cross_entropy(node: OnnxNode, logits: Any, labels: Any) -> Any:
    """Cross entropy of rows, and its gradient."""
    shares = node.op("nn.log_softmax", logits, logits.ndim - 1)
    return -node.xp.sum(labels * shares, axis=-1), node.xp.exp(shares) - labels


@tensorflow("ClipByValue")
def clip(node: OnnxNode, x: Any, low: Any, high: Any) -> Any:
    """Between two bounds."""
    return node.xp.minimum(node.xp.maximum(x, low), high)


@tensorflow("FakeQuantWithMinMaxArgs")
def fake_quant(node: OnnxNode, x: Any) -> Any:
    """Rounded to one of few numbers between two bounds, of which one is 0."""
    steps = 2 ** node.get("num_bits", 8) - 1
    low, high, first = node.get("min", -6.0), node.get("max", 6.0), float(node.get("narrow_range", False))
    scale = (high - low) / (steps - first)
    zero = np.clip(np.round(first - low / scale), first, steps)
    least, most = (first - zero) * scale, (steps - zero) * scale
    return node.xp.floor((node.xp.clip(x, least, most) - least) * (1 / scale) + 0.5) * scale + least
