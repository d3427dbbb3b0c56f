"""Shapes, sizes and orders of axes."""
from __future__ import annotations

import functools
from typing import Any

from ...base.datatype import DataType
from ..export_graph import OnnxGraph, Value, result_of
from ..export_table import NotSayableError, onnx_exporter

#: Arithmetic of sizes; they are never negative, so that quotients are whole ones.
WHOLE = {"add": "Add", "sub": "Sub", "mul": "Mul", "floordiv": "Div", "mod": "Mod"}


@onnx_exporter("reshape", "set_shape")
def reshape(g: OnnxGraph, op: Any, x: Value, target: Value | None = None) -> Any:
    if target is not None and target.known is None:
        flat = g.node("Reshape", target, g.ints(-1))
        return g.node("Reshape", x, g.cast(flat, DataType.LONG))
    sizes = list(op.shape) if target is None else g.numbers(target, "sizes")
    spec = result_of(op, x, *([] if target is None else [target]))
    return g.reshape(x, *(spec.shape or () if spec.is_static and -1 not in sizes else sizes))


@onnx_exporter("expand_dims", "squeeze", "flatten_2d", "align_axes")
def to_result(g: OnnxGraph, op: Any, x: Value, *others: Value) -> Any:
    spec = result_of(op, x, *others)
    if spec.shape is not None and spec.shape.count(-1) > 1:
        return _renamed(g, x, spec.shape)
    return g.shaped(x, spec)


def _renamed(g: OnnxGraph, x: Value, shape: tuple[int, ...]) -> Value:
    """Axes of size 1 added or taken away: the others keep their sizes and order."""
    own, wanted = [i for i, n in enumerate(x.shape) if n != 1], [i for i, n in enumerate(shape) if n != 1]
    if [x.shape[i] for i in own] != [shape[i] for i in wanted]:
        raise NotSayableError(f"several open sizes, from {x.shape} to {shape}")
    gone, new = [i for i in range(x.rank) if i not in own], [i for i in range(len(shape)) if i not in wanted]
    x = g.squeeze(x, *gone) if gone else x
    return g.unsqueeze(x, *new) if new else x


@onnx_exporter("reshape_like")
def reshape_like(g: OnnxGraph, op: Any, x: Value, like: Value) -> Any:
    return g.node("Reshape", x, g.shape(like))


@onnx_exporter("permute", "transpose", "matrix_transposed")
def permute(g: OnnxGraph, op: Any, x: Value, order: Value | None = None) -> Any:
    if op.id == "matrix_transposed":
        return g.transpose(x, *range(x.rank - 2), x.rank - 1, x.rank - 2)
    given = g.numbers(order, "the order of axes") if order is not None else list(getattr(op, "dimensions", ()))
    return g.transpose(x, *([int(i) % x.rank for i in given] if given else range(x.rank)[::-1]))


@onnx_exporter("broadcast_like")
def broadcast_like(g: OnnxGraph, op: Any, x: Value, like: Value) -> Any:
    return g.like(x, like)


@onnx_exporter("broadcast_to")
def broadcast_to(g: OnnxGraph, op: Any, x: Value, shape: Value) -> Any:
    return g.node("Expand", x, g.cast(g.node("Reshape", shape, g.ints(-1)), DataType.LONG))


@onnx_exporter("reshape_to", "broadcast_to_sizes")
def sized(g: OnnxGraph, op: Any, x: Value, *others: Value) -> Any:
    operator = "Reshape" if op.id == "reshape_to" else "Expand"
    return g.node(operator, x, joined(g, [_size(g, n, others) for n in op.sizes]))


def _size(g: OnnxGraph, formula: Any, arrays: Any) -> Value:
    if isinstance(formula, int):
        return g.ints(formula)
    kind, left, right = formula
    if kind == "axis":
        return g.size(arrays[left], right)
    return g.node(WHOLE[kind], _size(g, left, arrays), _size(g, right, arrays))  # type: ignore[no-any-return]


def joined(g: OnnxGraph, sizes: list[Value]) -> Value:
    """Vectors of sizes, one after the other."""
    if all(n.known is not None for n in sizes):
        return g.ints(*(i for n in sizes for i in g.numbers(n, "sizes")))
    return g.node("Concat", *sizes, axis=0)  # type: ignore[no-any-return]


@onnx_exporter("shape_of")
def shape_of(g: OnnxGraph, op: Any, x: Value) -> Any:
    return g.node("Shape", x, dtype=DataType.LONG)


@onnx_exporter("shapes_of")
def shapes_of(g: OnnxGraph, op: Any, *xs: Value) -> Any:
    return tuple(g.cast(g.node("Shape", x, dtype=DataType.LONG), op.data_type) for x in xs)


@onnx_exporter("size")
def size(g: OnnxGraph, op: Any, x: Value) -> Any:
    return g.node("Size", x, dtype=DataType.LONG)


@onnx_exporter("rank")
def rank(g: OnnxGraph, op: Any, x: Value) -> Any:
    return g.cast(g.node("Size", g.node("Shape", x, dtype=DataType.LONG)), DataType.INT)


@onnx_exporter("size_at", "axis_size")
def size_at(g: OnnxGraph, op: Any, x: Value) -> Any:
    axis = op.dimension if op.id == "size_at" else op.axis
    one = g.node("Gather", g.node("Shape", x, dtype=DataType.LONG), g.constant(axis, DataType.LONG))
    return g.cast(one, result_of(op, x).dtype)


@onnx_exporter("zeros_as", "ones_as", "set_scalar")
def filled_like(g: OnnxGraph, op: Any, x: Value) -> Any:
    return g.filled(op.scalar if op.id == "set_scalar" else op.value, result_of(op, x).dtype, g.shape(x))


@onnx_exporter("zero_state")
def zero_state(g: OnnxGraph, op: Any, x: Value) -> Any:
    spec = result_of(op, x)
    return g.filled(0, spec.dtype, joined(g, [g.size(x, 0), g.ints(*(spec.shape or ())[1:])]))


@onnx_exporter("fill", "create")
def fill(g: OnnxGraph, op: Any, shape: Value) -> Any:
    return g.filled(getattr(op, "value", 0), op.data_type, g.cast(g.node("Reshape", shape, g.ints(-1)), DataType.LONG))


@onnx_exporter("flatten")
def flatten(g: OnnxGraph, op: Any, *xs: Value) -> Any:
    rows = [g.reshape(x if op.order == "c" else g.transpose(x, *range(x.rank)[::-1]), -1) for x in xs]
    return rows[0] if len(rows) == 1 else g.node("Concat", *rows, axis=0)


@onnx_exporter("concat")
def concat(g: OnnxGraph, op: Any, *xs: Value) -> Any:
    parts = [g.reshape(x, 1) if x.rank == 0 else x for x in xs]
    parts = [x for x in parts if x.spec.shape != (0,)] or parts[:1]
    return parts[0] if len(parts) == 1 else g.node("Concat", *parts, axis=op.dimension)


@onnx_exporter("stack")
def stack(g: OnnxGraph, op: Any, *xs: Value) -> Any:
    axis = op.axis % (xs[0].rank + 1)
    return g.node("Concat", *(g.unsqueeze(x, axis) for x in xs), axis=axis)


@onnx_exporter("unstack")
def unstack(g: OnnxGraph, op: Any, x: Value) -> Any:
    count = x.shape[op.axis] if op.num is None else op.num
    return tuple(g.node("Gather", x, g.constant(i, DataType.LONG), axis=op.axis) for i in range(count))


@onnx_exporter("split")
def split(g: OnnxGraph, op: Any, x: Value) -> Any:
    return x if op.num_split == 1 else g.node("Split", x, outputs=op.num_split, axis=op.split_dim, num_outputs=op.num_split)


@onnx_exporter("split_v")
def split_v(g: OnnxGraph, op: Any, x: Value, sizes: Value) -> Any:
    parts = g.cast(g.node("Reshape", sizes, g.ints(-1)), DataType.LONG) if sizes.known is None else g.ints(*g.numbers(sizes, "sizes"))
    return g.node("Split", x, parts, outputs=op.num_split, axis=op.split_dim)


@onnx_exporter("tile")
def tile(g: OnnxGraph, op: Any, x: Value, counts: Value | None = None) -> Any:
    return g.node("Tile", x, g.ints(*op.repeat) if counts is None else g.cast(g.node("Reshape", counts, g.ints(-1)), DataType.LONG))


@onnx_exporter("mergeadd", "mergeavg", "mergemax")
def merged(g: OnnxGraph, op: Any, *xs: Value) -> Any:
    spec = result_of(op, *xs)
    xs = tuple(g.cast(x, spec.dtype) for x in xs)
    total = functools.reduce(lambda a, b: g.node("Max" if op.id == "mergemax" else "Add", a, b), xs)
    return g.node("Div", total, g.constant(len(xs), spec.dtype)) if op.id == "mergeavg" else total


@onnx_exporter("mergemaxindex")
def merged_place(g: OnnxGraph, op: Any, *xs: Value) -> Any:
    rows = g.node("Concat", *(g.unsqueeze(x, 0) for x in xs), axis=0)
    return g.cast(g.node("ArgMax", rows, axis=0, keepdims=0, dtype=DataType.LONG), op.data_type)
