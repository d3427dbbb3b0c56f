"""Ops that layers of networks are made of."""
from __future__ import annotations

import math
from typing import Any

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...ops.nn.attention import far
from ...ops.recurrent.recurrence import function
from ..export_graph import OnnxGraph, Value, result_of
from ..export_table import NotSayableError, onnx_exporter
from .shapes import joined


@onnx_exporter("row_indices", notes="an index out of range is an error of the runtime")
def row_indices(g: OnnxGraph, op: Any, x: Value) -> Any:
    return g.cast(x, DataType.INT)


@onnx_exporter("rows_series")
def rows_series(g: OnnxGraph, op: Any, x: Value, batch: Value) -> Any:
    steps = g.node("Reshape", x, joined(g, [g.ints(-1), g.size(batch, 0), g.size(x, 1)]))
    return g.transpose(steps, *((1, 0, 2) if op.channels_last else (1, 2, 0)))


@onnx_exporter("mask_like")
def mask_like(g: OnnxGraph, op: Any, mask: Value, x: Value) -> Any:
    if mask.rank != 2 or x.rank != 3:
        return g.unsqueeze(mask, *range(mask.rank, x.rank)) if x.rank > mask.rank else mask
    wanted = result_of(op, mask, x).shape or ()
    last = op.channels_last if wanted[1:] == (-1, -1) else wanted[2] == 1
    return g.unsqueeze(mask, 2 if last else 1)


@onnx_exporter("l2_distance")
def l2_distance(g: OnnxGraph, op: Any, x: Value, y: Value) -> Any:
    rows = g.node("Flatten", g.node("Sub", x, y), axis=1)
    return g.node("ReduceL2", rows, g.ints(1), keepdims=1)


@onnx_exporter("repeat_steps")
def repeat_steps(g: OnnxGraph, op: Any, rows: Value, like: Value) -> Any:
    return g.node("Expand", g.unsqueeze(rows, 2), joined(g, [g.ints(1), g.ints(1), g.size(like, 2)]))


@onnx_exporter("yolo_activations")
def yolo_activations(g: OnnxGraph, op: Any, x: Value) -> Any:
    count = len(op.priors)
    if x.shape[1] == -1:
        raise NotSayableError("the number of channels must be known")
    size = x.shape[1] // count
    boxes = g.node("Reshape", x, joined(g, [g.size(x, 0), g.ints(count, size), g.size(x, 2), g.size(x, 3)]))
    sizes = g.constant([[[[[w]], [[h]]] for w, h in op.priors]], x.dtype)
    parts = [g.node("Sigmoid", g.part(boxes, 2, 0, 2)), g.node("Mul", g.node("Exp", g.part(boxes, 2, 2, 4)), sizes),
             g.node("Sigmoid", g.part(boxes, 2, 4, 5))]
    if size > 5:
        parts.append(g.node("Softmax", g.part(boxes, 2, 5, size), axis=2))
    return g.node("Reshape", g.node("Concat", *parts, axis=2), g.shape(x))


@onnx_exporter("repeat_cells")
def repeat_cells(g: OnnxGraph, op: Any, x: Value) -> Any:
    axes = [i for i, n in enumerate(op.factors) if n != 1]
    if not axes:
        return x
    counts = [n for i, f in enumerate(op.factors) for n in ((1, f) if i in axes else (1,))]
    apart = g.node("Tile", g.unsqueeze(x, *(i + 1 + k for k, i in enumerate(axes))), g.ints(*counts))
    return g.node("Reshape", apart, g.node("Mul", g.shape(x), g.ints(*op.factors)))


@onnx_exporter("space_to_batch")
def space_to_batch(g: OnnxGraph, op: Any, x: Value, edges: Value) -> Any:
    (a, b), (t, d, left, r) = op.sides(), g.numbers(edges, "paddings")
    _, h, w, c = x.shape
    if -1 in (h, w, c):
        raise NotSayableError("sizes of images must be known")
    h, w = h + t + d, w + left + r
    padded = g.node("Pad", x, g.ints(0, t, left, 0, 0, d, r, 0))
    apart = g.transpose(g.reshape(padded, -1, h // a, a, w // b, b, c), 2, 4, 0, 1, 3, 5)
    return g.reshape(apart, -1, h // a, w // b, c)


@onnx_exporter("batch_to_space")
def batch_to_space(g: OnnxGraph, op: Any, x: Value, edges: Value) -> Any:
    (a, b), (t, d, left, r) = op.sides(), g.numbers(edges, "edges")
    _, h, w, c = x.shape
    if -1 in (h, w, c):
        raise NotSayableError("sizes of images must be known")
    whole = g.reshape(g.transpose(g.reshape(x, a, b, -1, h, w, c), 2, 3, 0, 4, 1, 5), -1, h * a, w * b, c)
    return g.node("Slice", whole, g.ints(t, left), g.ints(h * a - d, w * b - r), g.ints(1, 2))


@onnx_exporter("recurrent_attention", notes="as Scan")
def recurrent_attention(g: OnnxGraph, op: Any, x: Value, w: Value, rw: Value, b: Value | None = None, wq: Value | None = None,
                        wk: Value | None = None, wv: Value | None = None, wo: Value | None = None, mask: Value | None = None) -> Any:
    units, kind = w.static[1], x.dtype
    keys, values = (g.unsqueeze(x, 1) if v is None else g.node("Einsum", v, x, equation="hsf,nft->nhst") for v in (wk, wv))
    scale = g.constant(1 / math.sqrt(w.static[0] if wk is None else wk.static[1]), kind)
    hidden = None
    if mask is not None:
        hidden = g.unsqueeze(g.node("Mul", g.node("Sub", g.constant(1, kind), g.cast(mask, kind)), g.constant(far(kind), kind)), 1)
    sums = g.node("MatMul", g.transpose(x, 2, 0, 1), w)
    sums = sums if b is None else g.node("Add", sums, g.reshape(b, -1))
    rows = TensorSpec((x.shape[0], units), kind)
    before, sum_ = g.input(rows), g.input(rows)
    with g.block([before, sum_]) as body:
        y = g.op(function(op.activation), Value(g.node("Add", sum_, before).name, rows))
        query = g.unsqueeze(y, 1) if wq is None else g.node("Einsum", wq, y, equation="hsf,nf->nhs")
        scores = g.node("Mul", g.node("Einsum", keys, query, equation="nhst,nhs->nht"), scale)
        weights = g.node("Softmax", scores if hidden is None else g.node("Add", scores, hidden), axis=2)
        attended = g.node("Flatten", g.node("Einsum", values, weights, equation="nhst,nht->nhs"), axis=1)
        attended = attended if wo is None else g.node("MatMul", attended, wo)
        body.outputs = [g.node("MatMul", attended, rw), g.node("Identity", y)]
    start = g.filled(0, kind, joined(g, [g.size(x, 0), g.ints(units)]))
    return g.transpose(g.node("Scan", start, sums, outputs=2, body=body, num_scan_inputs=1)[1], 1, 2, 0)
