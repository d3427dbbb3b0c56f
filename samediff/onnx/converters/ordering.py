"""Elements in order."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...ir.op import OPS
from ..node import OnnxNode
from ..registry import onnx_converter
from .indexing import taken


@onnx_converter("TopK", notes="k that is known while the graph is built")
def top_k(node: OnnxNode, x: Any, k: Any = None) -> Any:
    """The largest or smallest elements along an axis, and where they stand."""
    count = node.ints("k", 1)[0]
    axis = node.get("axis", -1) % x.ndim
    order = [i for i in range(x.ndim) if i != axis] + [axis]
    back = [order.index(i) for i in range(x.ndim)]
    last = node.xp.transpose(x, order)
    if node.flag("largest", True):
        values, places = node.op("math.top_k", last, count)
    else:
        turned = -last.astype(np.int64) if last.dtype.kind == "u" else ~last if last.dtype.kind == "i" else -last
        _, places = node.op("math.top_k", turned, count)
        values = taken(node, last, places, last.ndim - 1)
    return node.xp.transpose(values, back), node.xp.transpose(places, back).astype(np.int64)


@onnx_converter("Unique", notes="of all elements; rows along an axis where they are known")
def unique(node: OnnxNode, x: Any) -> Any:
    """The distinct elements, their first places, the place of each element among them, and their counts."""
    axis, ordered, known = node.get("axis", None), node.flag("sorted", True), node.known(0)
    if known is not None:
        values, first, inverse, counts = np.unique(known, True, True, True, axis=axis)
        if not ordered:
            order = np.argsort(first)
            values, first, counts = np.take(values, order, axis=axis or 0), first[order], counts[order]
            inverse = np.argsort(order)[inverse.reshape(-1)]
        return values, first, inverse.reshape(-1), counts
    if axis is not None and x.ndim > 1:
        node.value(0, "rows that are compared")
    flat = node.xp.reshape(x, (-1,))
    values, places = _unique(node, flat)
    if ordered:
        rank = node.xp.sum((node.xp.expand_dims(values, 1) > node.xp.expand_dims(values, 0)).astype(np.int64), axis=1)
        order = node.op("base.invert_permutation", rank)
        values, places = node.xp.take(values, order, axis=0), node.xp.take(rank, places, axis=0)
    same = node.xp.expand_dims(places, 0) == node.xp.expand_dims(node.op("base.range", node.array(np.int64(0)), node.op(
        "base.size", values).astype(np.int64), node.array(np.int64(1)), DataType.LONG), 1)
    return values, node.xp.argmax(same.astype(np.int32), axis=1), places, node.xp.sum(same.astype(np.int64), axis=1)


def _unique(node: OnnxNode, flat: Any) -> Any:
    return node.outer(node.sd.add_op(OPS["unique"](), [flat.variable]))


@onnx_converter("NonMaxSuppression", notes="numbers of boxes and thresholds that are known while the graph is built")
def non_max_suppression(node: OnnxNode, boxes: Any, scores: Any, most: Any = None, overlap: Any = None, least: Any = None) -> Any:
    """For each class of each image, boxes of high scores that overlap little: rows of (image, class, box)."""
    def number(i: int, what: str, default: float) -> float:
        return float(np.asarray(node.value(i, what)).reshape(-1)[0]) if node.has(i) else default
    count = min(int(number(2, "max_output_boxes_per_class", 0)), int(boxes.shape[1]))
    if not count:
        return np.zeros((0, 3), np.int64)
    if node.get("center_point_box", 0):
        middle, half = boxes[..., :2], boxes[..., 2:] / 2
        boxes = node.xp.concatenate([middle - half, middle + half], -1)
    low, high = node.xp.minimum(boxes[..., :2], boxes[..., 2:]), node.xp.maximum(boxes[..., :2], boxes[..., 2:])
    boxes = node.xp.concatenate([low, high], -1)
    rows = []
    for image in range(int(boxes.shape[0])):
        for kind in range(int(scores.shape[1])):
            found = node.op("image.non_max_suppression", boxes[image], scores[image, kind], count, number(3, "iou_threshold", 0.0),
                            number(4, "score_threshold", -np.inf)).astype(np.int64)
            column = node.xp.expand_dims(found, 1)
            rows.append(node.xp.concatenate([column * 0 + image, column * 0 + kind, column], 1))
    return node.xp.concatenate(rows, 0)
