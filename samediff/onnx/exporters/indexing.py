"""Elements chosen by indices, and elements written to places."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ..export_graph import OnnxGraph, Value, result_of
from ..export_table import NotSayableError, onnx_exporter
from .shapes import joined

#: How elements meet at a place: what the standard calls it, and the function of elements before.
SCATTERED: dict[str, tuple[str | None, str]] = {
    "add": ("add", ""), "sub": ("add", "Neg"), "mul": ("mul", ""), "div": ("mul", "Reciprocal"), "max": ("max", ""), "min": ("min", ""),
    "update": (None, "")}
_WHOLE = (DataType.INT, DataType.LONG)


def _index(g: OnnxGraph, x: Value) -> Value:
    return x if x.dtype in _WHOLE else g.cast(x, DataType.LONG)


@onnx_exporter("gather", "embedding_lookup")
def gather(g: OnnxGraph, op: Any, x: Value, positions: Value | None = None) -> Any:
    return g.node("Gather", x, g.ints(*op.indices) if positions is None else _index(g, positions), axis=op.axis)


@onnx_exporter("gather_nd")
def gather_nd(g: OnnxGraph, op: Any, x: Value, indices: Value) -> Any:
    return g.node("GatherND", x, g.cast(indices, DataType.LONG))


@onnx_exporter("take_along_last")
def take_along_last(g: OnnxGraph, op: Any, x: Value, indices: Value, like: Value) -> Any:
    if x.shape[:-1] != indices.shape[:-1]:
        raise NotSayableError(f"places of the shape {indices.shape} in rows of {x.shape}")
    return g.node("GatherElements", x, _index(g, indices), axis=x.rank - 1)


@onnx_exporter("sparse_softmax_cross_entropy_loss_with_logits")
def sparse_cross_entropy(g: OnnxGraph, op: Any, labels: Value, logits: Value) -> Any:
    chosen = g.node("GatherElements", g.node("LogSoftmax", logits, axis=-1), g.unsqueeze(_index(g, labels), labels.rank), axis=labels.rank)
    return g.node("Neg", g.squeeze(chosen, -1))


@onnx_exporter("confusion_matrix")
def confusion_matrix(g: OnnxGraph, op: Any, labels: Value, predicted: Value, weights: Value | None = None) -> Any:
    spec = result_of(op, *(v for v in (labels, predicted, weights) if v is not None))
    if not spec.is_static:
        raise NotSayableError("the number of classes must be known")
    places = g.node("Concat", *(g.unsqueeze(g.cast(v, DataType.LONG), 1) for v in (labels, predicted)), axis=1)
    ones = g.filled(1, spec.dtype, g.shape(labels)) if weights is None else g.cast(weights, spec.dtype)
    zeros = g.filled(0, spec.dtype, g.ints(*(spec.shape or ())))
    return g.node("ScatterND", zeros, places, ones, dtype=spec.dtype, reduction="add")


@onnx_exporter("non_max_suppression")
def non_max_suppression(g: OnnxGraph, op: Any, boxes: Value, scores: Value) -> Any:
    if boxes.dtype is not DataType.FLOAT:
        raise NotSayableError("ONNX compares boxes of type FLOAT")
    least = np.nextafter(np.float32(op.score_threshold), np.float32(-np.inf))       # there, a score has to be above it
    thresholds = [g.constant([t], DataType.FLOAT) for t in (op.iou_threshold, least)]
    made = g.node("NonMaxSuppression", g.unsqueeze(boxes, 0), g.unsqueeze(scores, 0, 1), g.ints(op.max_out_size), *thresholds,
                  dtype=DataType.LONG)
    return g.cast(g.node("Gather", made, g.constant(2, DataType.LONG), axis=1), result_of(op, boxes, scores).dtype)


@onnx_exporter("range_of")
def range_of(g: OnnxGraph, op: Any, *ends: Value) -> Any:
    return g.node("Range", *(g.reshape(g.cast(v, op.data_type)) for v in ends))

@onnx_exporter("onehot")
def onehot(g: OnnxGraph, op: Any, indices: Value) -> Any:
    axis = op.axis % (indices.rank + 1)
    steps = g.constant(np.arange(op.depth).reshape([-1] + [1] * (indices.rank - axis)).astype(indices.dtype.numpy))
    here = g.node("Equal", g.unsqueeze(indices, axis), steps, dtype=DataType.BOOL)
    return g.node("Where", here, g.constant(op.on, op.data_type), g.constant(op.off, op.data_type), dtype=op.data_type)


def _scatter(name: str, vectors: bool) -> None:
    reduction, before = SCATTERED[name]

    @onnx_exporter(f"scatter_nd_{name}" if vectors else f"scatter_{name}")
    def scatter(g: OnnxGraph, op: Any, ref: Value, indices: Value, updates: Value) -> Any:
        places = g.cast(indices, DataType.LONG)
        if ref.dtype is DataType.BOOL or (before == "Reciprocal" and not ref.dtype.is_floating):
            raise NotSayableError(f"{op.id} of {ref.dtype.name}")
        rows = g.node(before, updates) if before else updates
        places = places if vectors else g.unsqueeze(places, indices.rank)
        return g.node("ScatterND", ref, places, rows, dtype=ref.dtype, reduction=reduction)


for _name in SCATTERED:
    _scatter(_name, False)
for _name in ("add", "sub", "update"):
    _scatter(_name, True)


@onnx_exporter("gather_bp")
def gather_bp(g: OnnxGraph, op: Any, x: Value, like: Value, indices: Value) -> Any:
    axis, count = op.axis % like.rank, indices.rank
    to_front = [axis, *(i for i in range(like.rank) if i != axis)]
    rows = g.transpose(x, *range(axis, axis + count), *(i for i in range(x.rank) if not axis <= i < axis + count))
    zeros = g.transpose(g.node("Expand", g.constant(0, x.dtype), g.shape(like)), *to_front)
    made = g.node("ScatterND", zeros, g.unsqueeze(g.cast(indices, DataType.LONG), count), rows, dtype=x.dtype, reduction="add")
    return g.transpose(made, *(to_front.index(i) for i in range(like.rank)))


@onnx_exporter("gather_nd_bp")
def gather_nd_bp(g: OnnxGraph, op: Any, x: Value, like: Value, indices: Value) -> Any:
    return g.node("ScatterND", g.filled(0, x.dtype, g.shape(like)), g.cast(indices, DataType.LONG), x, dtype=x.dtype, reduction="add")


@onnx_exporter("scatter_nd")
def scatter_nd(g: OnnxGraph, op: Any, indices: Value, updates: Value, shape: Value) -> Any:
    zeros = g.filled(0, updates.dtype, g.cast(shape, DataType.LONG))
    return g.node("ScatterND", zeros, g.cast(indices, DataType.LONG), updates, dtype=updates.dtype, reduction="add")


SEGMENTS = ("sum", "mean", "sqrt_n", "prod", "max", "min")


@onnx_exporter(*(f"unsorted_segment_{n}" for n in SEGMENTS), *(f"segment_{n}" for n in SEGMENTS if n != "sqrt_n"))
def segments(g: OnnxGraph, op: Any, data: Value, ids: Value, number: Value | None = None) -> Any:
    kind, spec = op.id.rpartition("segment_")[2], result_of(op, data, ids, *([] if number is None else [number]))
    if not spec.shape or spec.shape[0] == -1:
        raise NotSayableError("the number of segments must be known")
    rest = g.ints(*data.static[1:])
    shape = g.ints(spec.shape[0], *g.numbers(rest, "sizes"))
    places = g.unsqueeze(g.cast(ids, DataType.LONG), ids.rank)
    start = {"prod": 1, "max": _least(op, spec, True), "min": _least(op, spec, False)}.get(kind, 0)
    how = {"prod": "mul", "max": "max", "min": "min"}.get(kind, "add")
    total = g.node("ScatterND", g.filled(start, data.dtype, shape), places, data, reduction=how)
    if kind not in ("mean", "sqrt_n"):
        return total
    ones = g.filled(1, data.dtype, g.shape(Value("", TensorSpec(data.static, data.dtype))))
    counted = g.node("ScatterND", g.filled(0, data.dtype, shape), places, ones, reduction="add")
    counted = g.node("Max", counted, g.constant(1, data.dtype))
    return g.node("Div", total, g.node("Sqrt", counted) if kind == "sqrt_n" else counted)


def _least(op: Any, spec: TensorSpec, lowest: bool) -> Any:
    """The result of the op for a segment without elements."""
    sign = -1 if lowest else 1
    if spec.dtype.is_floating:
        return sign * math.inf
    info = np.iinfo(spec.dtype.numpy)
    return info.min if lowest else info.max


@onnx_exporter("where_coordinates")
def where_coordinates(g: OnnxGraph, op: Any, condition: Value) -> Any:
    return g.transpose(g.node("NonZero", condition, dtype=DataType.LONG), 1, 0)


@onnx_exporter("invert_permutation")
def invert_permutation(g: OnnxGraph, op: Any, x: Value) -> Any:
    size = x.static[0]
    return g.cast(g.node("TopK", g.cast(x, DataType.LONG), g.ints(size), outputs=2, largest=0)[1], x.dtype)


@onnx_exporter("sequence_mask")
def sequence_mask(g: OnnxGraph, op: Any, lengths: Value, longest: Value | None = None) -> Any:
    size = op.max_len if longest is None else g.numbers(longest, "the longest length")[0]
    if size < 1:
        raise NotSayableError("the longest length must be known")
    steps = g.constant(np.arange(size), lengths.dtype)
    return g.cast(g.node("Less", steps, g.unsqueeze(lengths, lengths.rank), dtype=DataType.BOOL), op.data_type)


@onnx_exporter("tensor_array_write")
def list_write(g: OnnxGraph, op: Any, flow: Value, index: Value, value: Value) -> Any:
    entry = value.shape[index.rank:]
    places = g.cast(g.reshape(index, -1), DataType.LONG)
    count = g.node("Add", g.node("ReduceMax", places, g.ints(0), keepdims=1), g.ints(1))
    sizes = [g.size(value, i + index.rank) for i in range(len(entry))]
    if flow.rank == len(entry) + 1 and 0 not in flow.shape:
        more = g.node("Max", g.node("Sub", count, g.size(flow, 0)), g.ints(0))
        grown = g.node("Concat", flow, g.filled(0, flow.dtype, joined(g, [more, *sizes])), axis=0)
    else:
        grown = g.filled(0, flow.dtype, joined(g, [count, *sizes]))
    rows = value if index.rank else g.unsqueeze(value, 0)
    return g.node("ScatterND", grown, g.unsqueeze(places, 1), rows)


@onnx_exporter("tensor_array_read")
def list_read(g: OnnxGraph, op: Any, flow: Value, index: Value) -> Any:
    return g.node("Gather", flow, _index(g, index))


@onnx_exporter("unique", "unique_with_counts", "first_places")
def unique(g: OnnxGraph, op: Any, x: Value) -> Any:
    values, *others = g.node("Unique", g.reshape(x, -1), outputs=4, sorted=0)
    for v in others:
        v.spec = v.spec.with_dtype(DataType.LONG)
    first, places, counts = others
    if op.id == "first_places":
        return first
    kind = op.infer(x.seen)[1].dtype
    found = values, g.cast(places, kind), g.cast(counts, kind)
    return found[:2] if op.id == "unique" else found


@onnx_exporter("in_top_k")
def in_top_k(g: OnnxGraph, op: Any, predictions: Value, targets: Value) -> Any:
    own = g.node("GatherElements", predictions, g.unsqueeze(_index(g, targets), 1), axis=1)
    larger = g.cast(g.node("Greater", predictions, own, dtype=DataType.BOOL), DataType.LONG)
    return g.node("Less", g.node("ReduceSum", larger, g.ints(1), keepdims=0), g.constant(np.int64(op.k)), dtype=DataType.BOOL)
