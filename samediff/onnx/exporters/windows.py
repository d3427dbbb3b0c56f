"""Windows that slide over images: layouts and paddings, pooling."""
from __future__ import annotations

import functools
import math
from typing import Any

from ...base.datatype import DataType
from ..export_graph import OnnxGraph, Value
from ..export_table import NotSayableError, onnx_exporter
from .parts import LAST


def first(g: OnnxGraph, x: Value, channels_last: bool) -> Value:
    """Images with channels first, as the standard has them."""
    return g.transpose(x, 0, x.rank - 1, *range(1, x.rank - 1)) if channels_last else x


def last(g: OnnxGraph, x: Value, rank: int, channels_last: bool) -> Value:
    """Images with channels first in the layout of the op."""
    return g.transpose(x, 0, *range(2, rank), 1) if channels_last else x


def paddings(g: OnnxGraph, window: Any, x: Value, channels_last: bool) -> tuple[Value, dict[str, Any]]:
    """Images with channels first, and the paddings in front of and behind each axis as attributes."""
    sizes = x.shape[1:-1] if channels_last else x.shape[2:]
    images = first(g, x, channels_last)
    if window.mode == "SAME" and any(n == -1 and s > 1 for n, s in zip(sizes, window.stride)):
        if any(window.extent(i) < s for i, s in enumerate(window.stride)):
            raise NotSayableError("windows that leave out cells between them need images of a known size")
        return images, {"auto_pad": "SAME_UPPER"}
    front, behind = [], []
    for i, n in enumerate(sizes):
        if window.mode == "VALID":
            pair = window.padding[i], window.padding[i]
        elif window.mode == "CAUSAL":
            pair = window.extent(i) - 1, 0
        elif n != -1:
            before = window.before(i, n)
            if before < 0:                  # windows leave out the first cells
                images = g.part(images, i + 2, -before, n)
            pair = max(before, 0), max((window.count(i, n) - 1) * window.stride[i] + window.extent(i) - n - before, 0)
        else:
            pair = (window.extent(i) - 1) // 2, window.extent(i) // 2
        front.append(pair[0])
        behind.append(pair[1])
    return images, {"pads": front + behind}


def pooled(g: OnnxGraph, operator: str, pool: Any, x: Value, outputs: int = 1, **attributes: Any) -> Any:
    """One of the standard's poolings."""
    images, pads = paddings(g, pool.window, x, pool.channels_last)
    made = g.node(operator, images, outputs=outputs, kernel_shape=list(pool.window.kernel), strides=list(pool.window.stride),
                  dilations=list(pool.window.dilation), **pads, **attributes)
    return last(g, made, x.rank, pool.channels_last) if outputs == 1 else made


@onnx_exporter("maxpool2d", "maxpool3dnew")
def largest(g: OnnxGraph, op: Any, x: Value) -> Any:
    return pooled(g, "MaxPool", op.pool(), x)


@onnx_exporter("max_pool_with_argmax")
def largest_with_places(g: OnnxGraph, op: Any, x: Value) -> Any:
    if op.channels_last:
        raise NotSayableError("places are counted in images with channels first")
    values, places = pooled(g, "MaxPool", op.pool(), x, 2)
    places.spec = places.spec.with_dtype(DataType.LONG)
    return values, g.cast(places, op.output_type)


def summed(g: OnnxGraph, pool: Any, x: Value) -> Value:
    """Sums over windows times their share."""
    made = pooled(g, "AveragePool", pool, x, count_include_pad=int(pool.divisor != "inside"))
    if pool.divisor != "none":
        return made  # type: ignore[no-any-return]
    return g.node("Mul", made, g.constant(math.prod(pool.window.kernel), x.dtype))  # type: ignore[no-any-return]


@onnx_exporter("avgpool2d", "avgpool3dnew")
def average(g: OnnxGraph, op: Any, x: Value) -> Any:
    return summed(g, op.pool(), x)


@onnx_exporter("window_sum")
def window_sum(g: OnnxGraph, op: Any, x: Value) -> Any:
    return summed(g, op.pool, x)


@onnx_exporter("pnormpool2d")
def norm(g: OnnxGraph, op: Any, x: Value) -> Any:
    if op.extra == int(op.extra):
        return pooled(g, "LpPool", op.pool(), x, p=int(op.extra))
    power = g.constant(op.extra, x.dtype)
    total = summed(g, op.pool(), Value(g.node("Pow", g.node("Abs", x), power).name, x.spec))
    return g.node("Pow", total, g.constant(1 / op.extra, x.dtype))


@onnx_exporter("lrn", "neighbour_sum")
def neighbours(g: OnnxGraph, op: Any, x: Value) -> Any:
    depth, axis = int(op.depth), getattr(op, "axis", -1)
    axis %= x.rank
    squares = x if op.id == "neighbour_sum" else g.node("Mul", x, x)
    before, behind = ([depth if i == axis else 0 for i in range(x.rank)] for _ in range(2))
    padded = g.node("Pad", squares, g.ints(*before, *behind))
    parts = [g.part(padded, axis, k, k - 2 * depth or LAST) for k in range(2 * depth + 1)]
    total = functools.reduce(lambda a, b: g.node("Add", a, b), parts)
    if op.id == "neighbour_sum":
        return total
    base = g.node("Add", g.node("Mul", total, g.constant(op.alpha, x.dtype)), g.constant(op.bias, x.dtype))
    return g.node("Div", x, g.node("Pow", base, g.constant(op.beta, x.dtype)))
