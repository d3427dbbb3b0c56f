"""Functions of elements."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...expressions.arrays import xp as special_functions
from ...ir.op import OPS
from ...onnx.node import OnnxNode
from .table import added, tensorflow

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


@tensorflow("Xdivy", "Xlogy", "Xlog1py", "MulNoNan")
def zero_wins(node: OnnxNode, x: Any, y: Any) -> Any:
    """0 where the first factor is 0 (of MulNoNan: the second one), whatever the other one is."""
    if node.op_type == "MulNoNan":
        x, y = y, x
    function = {"Xdivy": node.xp.reciprocal, "Xlogy": node.xp.log, "Xlog1py": node.xp.log1p, "MulNoNan": lambda v: v}[node.op_type]
    return node.xp.where(x == 0, x.dtype.type(0), x * function(node.xp.where(x == 0, y.dtype.type(1), y)))


@tensorflow("TruncateDiv")
def truncated_quotient(node: OnnxNode, x: Any, y: Any) -> Any:
    """The quotient without its fraction."""
    return added(node, OPS["truncatediv"](), x, y)


@tensorflow("ApproximateEqual")
def about_equal(node: OnnxNode, x: Any, y: Any) -> Any:
    """Whether numbers are closer than a tolerance."""
    return node.xp.abs(x - y) < node.get("tolerance", 1e-5)


@tensorflow("L2Loss")
def half_square(node: OnnxNode, x: Any) -> Any:
    """Half the sum of squares."""
    return added(node, OPS["l2_loss"](), x)


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


@tensorflow("BiasAdd", "BiasAddV1")
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


@tensorflow("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(node: OnnxNode, logits: Any, labels: Any) -> Any:
    """The same for numbers of classes."""
    shares = node.op("nn.softmax", logits, logits.ndim - 1)
    classes = np.arange(int(logits.shape[-1]), dtype=labels.dtype)
    right = (node.xp.expand_dims(labels, -1) == classes).astype(logits.dtype)
    return added(node, OPS["sparse_softmax_cross_entropy_loss_with_logits"](), labels, logits), shares - right


@tensorflow("ClipByValue")
def clip(node: OnnxNode, x: Any, low: Any, high: Any) -> Any:
    """Between two bounds."""
    return node.xp.minimum(node.xp.maximum(x, low), high)


@tensorflow("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant(node: OnnxNode, x: Any, low: Any = None, high: Any = None) -> Any:
    """Rounded to one of few numbers between two bounds, of which one is 0."""
    kind = "_per_channel" if node.op_type.endswith("Channel") else ""
    op = OPS[f"fake_quant_with_min_max_vars{kind}"](num_bits=node.get("num_bits", 8), narrow=bool(node.get("narrow_range", False)))
    if low is None:
        low, high = (node.array(node.get(n, otherwise), x.dtype) for n, otherwise in (("min", -6.0), ("max", 6.0)))
    return added(node, op, x, low, high)


@tensorflow("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4")
def quantized_and_back(node: OnnxNode, x: Any, low: Any, high: Any, bits: Any = None) -> Any:
    """Rounded to what whole numbers of few bits times a scale can be, with bounds that are inputs or those of the values."""
    xp, axis = node.xp, node.get("axis", -1)
    n = int(np.asarray(node.value(3, "the number of bits"))) if node.has(3) else node.get("num_bits", 8)
    signed = node.get("signed_input", True)
    least = -(1 << n - 1) + bool(node.get("narrow_range", False)) if signed else 0
    most = (1 << n - 1) - 1 if signed else (1 << n) - 1
    if node.get("range_given", False):
        bounds = [xp.reshape(v, [-1 if i == axis else 1 for i in range(x.ndim)]) if axis >= 0 else v for v in (low, high)]
    else:
        others = None if axis < 0 else tuple(i for i in range(x.ndim) if i != axis)
        bounds = [f(x, axis=others, keepdims=True) for f in (xp.min, xp.max)]
    far = np.float32(np.finfo(np.float32).max).astype(x.dtype)
    scales = [xp.where(b * q > 0, q / xp.where(b == 0, x.dtype.type(1), b), far) for b, q in zip(bounds, (least, most))]
    scale = xp.minimum(*scales)
    inside = xp.clip(x, xp.maximum(least / scale, -far), xp.minimum(most / scale, far)) * scale
    rounded = xp.floor(inside + 0.5) if node.get("round_mode", "HALF_TO_EVEN") == "HALF_UP" else xp.rint(inside)
    return rounded / scale
