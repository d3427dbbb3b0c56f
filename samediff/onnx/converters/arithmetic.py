"""Functions of several arrays, element by element, in one shape."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..node import OnnxNode
from ..registry import onnx_converter, same_for

_OPS = {"Add": "math.add", "Sub": "math.sub", "Mul": "math.mul", "Div": "math.div"}
_NUMPY = {
    "Less": "less", "LessOrEqual": "less_equal", "Greater": "greater", "GreaterOrEqual": "greater_equal", "Equal": "equal",
    "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor"}


def _register(operator: str, place: str) -> None:
    @onnx_converter(operator)
    def convert(node: OnnxNode, x: Any, y: Any) -> Any:
        y = _spread(node, x, y)
        return node.op(place, x, y) if "." in place else getattr(node.xp, place)(x, y)


def _spread(node: OnnxNode, x: Any, y: Any) -> Any:
    """y with new axes behind its own, as the attribute ``axis`` of versions below 7 has it."""
    if node.version >= 7 or not node.get("broadcast", 0) or "axis" not in node.attributes:
        return y
    after = x.ndim - node.get("axis") % x.ndim - y.ndim
    return node.xp.expand_dims(y, tuple(range(y.ndim, y.ndim + after))) if after > 0 else y


for _operator, _place in (_OPS | _NUMPY).items():
    _register(_operator, _place)


@onnx_converter("Pow")
def power(node: OnnxNode, x: Any, y: Any) -> Any:
    """x to the power of y, in the type of x."""
    y = _spread(node, x, y)
    if x.dtype == y.dtype or x.dtype.kind != "i" or y.dtype.kind in "iu":
        return node.op("math.pow", x, y.astype(x.dtype))
    return node.op("math.pow", x.astype(y.dtype), y).astype(x.dtype)


@onnx_converter("Mod")
def mod(node: OnnxNode, x: Any, y: Any) -> Any:
    """The remainder, with the sign of y, or with that of x for ``fmod``."""
    return node.xp.fmod(x, y) if node.flag("fmod") else node.xp.remainder(x, y)


@onnx_converter("BitShift")
def bit_shift(node: OnnxNode, x: Any, y: Any) -> Any:
    """Bits shifted; nothing is left of them where y is as large as their number."""
    return node.op("math.bit_shift" if node.get("direction") == "LEFT" else "math.bit_shift_right", x, y)


@same_for("Max", "Min", "Sum", "Mean")
def of_several(node: OnnxNode, *xs: Any) -> Any:
    """The largest, smallest, sum or mean of several arrays."""
    join = {"Max": node.xp.maximum, "Min": node.xp.minimum}.get(node.op_type, lambda a, b: node.op("math.add", a, b))
    made = xs[0]
    for x in xs[1:]:
        made = join(made, x)
    return made / len(xs) if node.op_type == "Mean" and len(xs) > 1 else made


@onnx_converter("Clip")
def clip(node: OnnxNode, x: Any, low: Any = None, high: Any = None) -> Any:
    """Between two bounds, either of which may be left out."""
    bounds: list[Any] = []
    for i, (name, given) in enumerate((("min", low), ("max", high)), 1):
        known = node.attributes.get(name) if given is None else node.known(i)
        bounds.append(given if known is None else x.dtype.type(np.asarray(known).reshape(-1)[0]))
    low, high = bounds
    known = isinstance(low, np.generic) and isinstance(high, np.generic)
    if known and x.dtype.kind == "f" and float(low) <= float(high):
        return node.op("math.clip_by_value", x, float(low), float(high))
    if low is not None:
        x = node.xp.maximum(x, low)
    return x if high is None else node.xp.minimum(x, high)


@onnx_converter("Where")
def where(node: OnnxNode, condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y."""
    return node.xp.where(condition, x, y)
