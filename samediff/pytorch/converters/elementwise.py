"""Functions of elements."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from .table import as_result, aten, cast, common, result_type, standard

#: Ops here, and functions of NumPy, of one array.
_OPS = {
    "acos": "math.acos", "acosh": "math.acosh", "asin": "math.asin", "asinh": "math.asinh", "atan": "math.atan", "atanh": "math.atanh",
    "cos": "math.cos", "cosh": "math.cosh", "erf": "math.erf", "erfc": "math.erfc", "exp": "math.exp", "expm1": "math.expm1",
    "log": "math.log", "log1p": "math.log1p", "neg": "math.neg", "reciprocal": "math.reciprocal", "sin": "math.sin", "sinh": "math.sinh",
    "sqrt": "math.sqrt", "square": "math.square", "tan": "math.tan", "tanh": "math.tanh", "sigmoid": "nn.sigmoid", "mish": "nn.mish",
    "selu": "nn.selu", "log_sigmoid": "nn.log_sigmoid", "silu": "nn.swish", "lgamma": "math.lgamma", "digamma": "math.digamma"}
_FUNCTIONS = {"abs": "absolute", "ceil": "ceil", "floor": "floor", "trunc": "trunc", "fix": "trunc", "sign": "sign", "sgn": "sign",
              "exp2": "exp2", "log2": "log2", "log10": "log10", "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite",
              "bitwise_not": "invert", "logical_not": "logical_not", "deg2rad": "deg2rad", "rad2deg": "rad2deg"}
_PAIRS = {"mul": "multiply", "multiply": "multiply", "maximum": "maximum", "minimum": "minimum", "atan2": "arctan2",
          "arctan2": "arctan2", "remainder": "remainder", "fmod": "fmod", "floor_divide": "floor_divide", "hypot": "hypot",
          "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor", "bitwise_and": "bitwise_and",
          "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor", "fmax": "fmax", "fmin": "fmin",
          "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "logaddexp": "logaddexp"}
_COMPARISONS = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
                "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor"}


def _register_op(name: str, place: str) -> None:
    @aten(name)
    def convert(node: OnnxNode, x: Any) -> Any:
        return node.op(place, *as_result(node, x))


def _register_function(name: str, function: str) -> None:
    @aten(name)
    def convert(node: OnnxNode, x: Any) -> Any:
        return node.np(getattr(np, function), x if result_type(node) == np.bool_ else as_result(node, x)[0])


def _register_pair(name: str, function: str) -> None:
    @aten(name)
    def convert(node: OnnxNode, x: Any, y: Any) -> Any:
        return node.np(getattr(np, function), *as_result(node, x, y))


def _register_comparison(name: str, function: str) -> None:
    @aten(name)
    def convert(node: OnnxNode, x: Any, y: Any) -> Any:
        return node.np(getattr(np, function), *common(node, x, y))


for _name, _other in _OPS.items():
    _register_op(_name, _other)
for _name, _other in _FUNCTIONS.items():
    _register_function(_name, _other)
for _name, _other in _PAIRS.items():
    _register_pair(_name, _other)
for _name, _other in _COMPARISONS.items():
    _register_comparison(_name, _other)


@aten("add", "sub", "subtract", "rsub")
def add(node: OnnxNode, x: Any, y: Any, alpha: Any = 1) -> Any:
    """x and y times alpha added, or taken away."""
    x, y = as_result(node, x, y)
    kind = node.op_type.removeprefix("aten.")
    if kind == "rsub":
        x, y = y, x
    y = y if alpha == 1 else y * np.asarray(alpha, result_type(node))
    return x + y if kind == "add" else x - y


@aten("div", "divide", "true_divide")
def div(node: OnnxNode, x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    """x / y, rounded on request."""
    x, y = as_result(node, x, y)
    if rounding_mode == "floor":
        return node.np(np.floor_divide, x, y)
    made = node.np(np.true_divide, x, y)
    return node.np(np.trunc, made) if rounding_mode == "trunc" else made


@aten("pow")
def power(node: OnnxNode, x: Any, y: Any) -> Any:
    """x to the power of y."""
    x, y = as_result(node, x, y)
    return x * x if np.ndim(y) == 0 and isinstance(y, np.ndarray) and y == 2 else node.np(np.power, x, y)


@aten("rsqrt")
def rsqrt(node: OnnxNode, x: Any) -> Any:
    """1 / sqrt(x)."""
    return 1 / node.np(np.sqrt, *as_result(node, x))


@aten("round")
def rounded(node: OnnxNode, x: Any, decimals: int = 0) -> Any:
    """To whole numbers, or decimals."""
    return node.np(np.round, x, decimals)


@aten("frac")
def frac(node: OnnxNode, x: Any) -> Any:
    """What stands behind the point."""
    return x - node.np(np.trunc, x)


@aten("clamp", "clip", "clamp_min", "clamp_max")
def clamp(node: OnnxNode, x: Any, min: Any = None, max: Any = None) -> Any:
    """Between two bounds."""
    if node.op_type == "aten.clamp_max":
        min, max = None, min
    x = as_result(node, x)[0]
    if min is not None:
        x = node.xp.maximum(x, cast(node, min, x.dtype))
    return x if max is None else node.xp.minimum(x, cast(node, max, x.dtype))


@aten("where")
def where(node: OnnxNode, condition: Any, x: Any, y: Any) -> Any:
    """x or y, element by element."""
    return node.xp.where(condition, *as_result(node, x, y))


@aten("masked_fill")
def masked_fill(node: OnnxNode, x: Any, mask: Any, value: Any) -> Any:
    """A value where the mask is true."""
    return node.xp.where(mask, cast(node, value, x.dtype), x)


@aten("lerp")
def lerp(node: OnnxNode, x: Any, y: Any, weight: Any) -> Any:
    """A place between x and y."""
    return x + cast(node, weight, x.dtype) * (y - x)


@aten("addcmul", "addcdiv")
def addcmul(node: OnnxNode, x: Any, y: Any, z: Any, value: Any = 1) -> Any:
    """x, and the product or quotient of y and z times a number."""
    x, y, z = as_result(node, x, y, z)
    made = y * z if node.op_type == "aten.addcmul" else y / z
    return x + made * np.asarray(value, result_type(node))


@aten("nan_to_num")
def nan_to_num(node: OnnxNode, x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in place of NaN and infinities."""
    limits = np.finfo(x.dtype)
    x = node.xp.where(node.xp.isnan(x), x.dtype.type(nan or 0), x)
    x = node.xp.where(x == np.inf, x.dtype.type(limits.max if posinf is None else posinf), x)
    return node.xp.where(x == -np.inf, x.dtype.type(limits.min if neginf is None else neginf), x)


# Activations

@aten("relu")
def relu(node: OnnxNode, x: Any) -> Any:
    """max(x, 0)."""
    return standard(node, "Relu", x)


@aten("relu6", "hardtanh")
def hardtanh(node: OnnxNode, x: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Between two numbers."""
    if node.op_type == "aten.relu6":
        min_val, max_val = 0, 6
    return node.xp.clip(x, x.dtype.type(min_val), x.dtype.type(max_val))


@aten("gelu")
def gelu(node: OnnxNode, x: Any, approximate: str = "none") -> Any:
    """x times the share of a normal distribution below x."""
    return standard(node, "Gelu", x, approximate=approximate)


@aten("elu")
def elu(node: OnnxNode, x: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    """alpha (exp(x) - 1) below 0."""
    low = alpha * node.xp.expm1(node.xp.minimum(x, 0) * input_scale)
    made = node.op("nn.elu", x, alpha) if input_scale == 1 else node.xp.where(x > 0, x, low)
    return made if scale == 1 else made * scale


@aten("celu")
def celu(node: OnnxNode, x: Any, alpha: float = 1.0) -> Any:
    """alpha (exp(x / alpha) - 1) below 0."""
    return standard(node, "Celu", x, alpha=alpha)


@aten("leaky_relu")
def leaky_relu(node: OnnxNode, x: Any, negative_slope: float = 0.01) -> Any:
    """A slope below 0."""
    return node.op("nn.leaky_relu", x, negative_slope)


@aten("rrelu")
def rrelu(node: OnnxNode, x: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    """The mean slope below 0."""
    return node.op("nn.leaky_relu", x, (lower + upper) / 2)


@aten("prelu", "_prelu_kernel")
def prelu(node: OnnxNode, x: Any, weight: Any) -> Any:
    """A slope that is learned, for each channel or for all."""
    if weight.ndim == 1 and x.ndim > 1:
        weight = node.xp.reshape(weight, (-1, *[1] * (x.ndim - 2)))
    return node.xp.where(x < 0, x * weight, x)


@aten("hardswish")
def hardswish(node: OnnxNode, x: Any) -> Any:
    """x times a hard sigmoid."""
    return standard(node, "HardSwish", x)


@aten("hardsigmoid")
def hardsigmoid(node: OnnxNode, x: Any) -> Any:
    """x / 6 + 1/2, between 0 and 1."""
    return node.xp.clip(x * (1 / 6) + 0.5, 0, 1)


@aten("softplus")
def softplus(node: OnnxNode, x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta x)) / beta, x itself where that is large."""
    if beta == 1 and threshold >= 20:
        return node.op("nn.softplus", x)
    return node.xp.where(x * beta > threshold, x, node.op("nn.softplus", x * beta) / beta)


@aten("hardshrink", "softshrink")
def shrink(node: OnnxNode, x: Any, lambd: float = 0.5) -> Any:
    """0 in a band; outside x, moved toward 0 or not."""
    return standard(node, "Shrink", x, lambd=lambd, bias=lambd if node.op_type == "aten.softshrink" else 0.0)


@aten("threshold")
def threshold(node: OnnxNode, x: Any, threshold: float, value: float) -> Any:
    """x above a threshold, else a value."""
    return node.xp.where(x > threshold, x, x.dtype.type(value))


@aten("glu")
def glu(node: OnnxNode, x: Any, dim: int = -1) -> Any:
    """One half times the sigmoid of the other."""
    lead, half = (slice(None),) * (dim % x.ndim), x.shape[dim] // 2
    return x[(*lead, slice(0, half))] * node.op("nn.sigmoid", x[(*lead, slice(half, None))])


@aten("softmax", "_softmax", "log_softmax", "_log_softmax")
def softmax(node: OnnxNode, x: Any, dim: int, dtype: Any = None) -> Any:
    """Shares by exponentials along an axis, or their logarithms."""
    x = as_result(node, x)[0]
    return node.op("nn.log_softmax" if "log" in node.op_type else "nn.softmax", x, dim % max(x.ndim, 1)) if x.ndim else x * 0 + (
        0.0 if "log" in node.op_type else 1.0)


@aten("dropout", "native_dropout", "alpha_dropout", "feature_alpha_dropout")
def dropout(node: OnnxNode, x: Any, p: float = 0.5, train: bool = False) -> Any:
    """Each element kept or 0, while training."""
    if "alpha" in node.op_type or not 0 < p < 1:
        return x
    return node.op("nn.dropout_inverted", x, 1.0 - p)


@aten("feature_dropout")
def feature_dropout(node: OnnxNode, x: Any, p: float = 0.5, train: bool = False) -> Any:
    """Each channel kept or 0, while training."""
    if not 0 < p < 1:
        return x
    kept = node.op("nn.dropout_inverted", node.xp.ones_like(x[(slice(None), slice(None), *[slice(0, 1)] * (x.ndim - 2))]), 1.0 - p)
    return x * kept


@aten("clone", "contiguous", "alias", "lift_fresh_copy", "detach", "_to_copy", "to", "type_as", "positive", "lift_fresh")
def same(node: OnnxNode, x: Any, *rest: Any, **options: Any) -> Any:
    """The same, in another type on request."""
    return node.op("base.stop_gradient", x) if node.op_type == "aten.detach" and x.dtype.kind == "f" else x.astype(result_type(node))


@aten("special_expit")
def expit(node: OnnxNode, x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return node.op("nn.sigmoid", x)


@aten("xlogy")
def xlogy(node: OnnxNode, x: Any, y: Any) -> Any:
    """x log(y), 0 where x is."""
    x, y = as_result(node, x, y)
    return node.xp.where(x == 0, x * 0, x * node.xp.log(y))
