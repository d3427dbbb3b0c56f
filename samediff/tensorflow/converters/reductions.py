"""Reductions, searches, segments."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.op import OPS
from ...onnx.node import OnnxNode
from .table import added, bounded, numbers, tensorflow

_REDUCTIONS = {"Sum": "sum", "Mean": "mean", "Max": "max", "Min": "min", "Prod": "prod", "All": "all", "Any": "any"}
_SEGMENTS = {f"{a}Segment{b}": f"math.{'unsorted_' if a else ''}segment_{b.lower()}" for a in ("", "Unsorted") for b in (
    "Max", "Min", "Sum", "Prod", "Mean")}


@tensorflow(*_REDUCTIONS)
def reduction(node: OnnxNode, x: Any, axes: Any) -> Any:
    """A reduction over axes."""
    keep = bool(node.get("keep_dims", False))
    if node.known(1) is None:
        return node.op(f"base.{_REDUCTIONS[node.op_type]}", x, axes, keep)
    found = tuple(a % x.ndim for a in numbers(node, 1, "axes")) if x.ndim else ()
    if not found:
        return x
    made = getattr(node.xp, _REDUCTIONS[node.op_type])(x, axis=found, keepdims=keep)
    return made.astype(x.dtype)


@tensorflow("EuclideanNorm")
def norm(node: OnnxNode, x: Any, axes: Any) -> Any:
    """Roots of sums of squares."""
    found = tuple(a % x.ndim for a in numbers(node, 1, "axes"))
    return node.xp.sqrt(node.xp.sum(x * x, axis=found, keepdims=bool(node.get("keep_dims", False)))) if found else node.xp.abs(x)


@tensorflow("CumulativeLogsumexp")
def cumulative_logsumexp(node: OnnxNode, x: Any, axis: Any) -> Any:
    """Running logarithms of sums of exponentials."""
    at = numbers(node, 1, "the axis")[0] % x.ndim
    n, ahead = int(x.shape[at]), int(node.get("exclusive", False))
    taken = np.tri(n, n, -ahead, bool).T if not node.get("reverse", False) else np.tri(n, n, -ahead, bool)
    wide = node.xp.expand_dims(node.xp.moveaxis(x, at, -1), -1)
    top = node.xp.max(wide, axis=-2, keepdims=True)
    sums = node.xp.sum(node.xp.where(taken, node.xp.exp(wide - top), x.dtype.type(0)), axis=-2)
    return node.xp.moveaxis(node.xp.log(sums) + top[..., 0, :], -1, at)


@tensorflow("ArgMax", "ArgMin")
def position(node: OnnxNode, x: Any, axis: Any) -> Any:
    """Position of the largest or smallest element."""
    find = node.xp.argmax if node.op_type == "ArgMax" else node.xp.argmin
    return find(x, axis=numbers(node, 1, "the axis")[0] % x.ndim).astype(node.get("output_type", np.dtype(np.int64)))


@tensorflow("Cumsum", "Cumprod")
def cumulative(node: OnnxNode, x: Any, axis: Any) -> Any:
    """Running sums or products."""
    place = "base.cumsum" if node.op_type == "Cumsum" else "base.cumprod"
    return node.op(place, x, bool(node.get("exclusive", False)), bool(node.get("reverse", False)), numbers(node, 1, "the axis")[0] % x.ndim)


@tensorflow(*_SEGMENTS)
def segment(node: OnnxNode, x: Any, ids: Any, count: Any = None) -> Any:
    """Reductions of rows by their number."""
    return node.op(_SEGMENTS[node.op_type].replace("math.", "base."), x, ids, *([] if count is None else numbers(node, 2, "how many")))


@tensorflow("SparseSegmentSum", "SparseSegmentMean")
def sparse_segment(node: OnnxNode, x: Any, places: Any, ids: Any) -> Any:
    """Reductions of some rows by their number."""
    return node.op(f"base.segment_{node.op_type[len('SparseSegment'):].lower()}", node.xp.take(x, places, axis=0), ids)


@tensorflow("LowerBound", "UpperBound")
def bound(node: OnnxNode, ordered: Any, values: Any) -> Any:
    """Where numbers belong among those of the same row that are in order: before or behind equal ones."""
    a, b = node.xp.expand_dims(ordered, -2), node.xp.expand_dims(values, -1)
    before = a < b if node.op_type == "LowerBound" else a <= b
    return node.xp.sum(before.astype(np.int64), axis=-1).astype(node.get("out_type", np.dtype(np.int32)))


@tensorflow("Bucketize")
def bucketize(node: OnnxNode, x: Any) -> Any:
    """The numbers of ranges."""
    edges = np.asarray(node.get("boundaries", []) or [], np.float32)
    wide = x if x.dtype.kind == "f" else x.astype(np.float32)
    return node.xp.sum((node.xp.expand_dims(wide, -1) >= edges.astype(wide.dtype)).astype(np.int64), axis=-1).astype(np.int32)


@tensorflow("TopKV2", "TopK")
def top_k(node: OnnxNode, x: Any, k: Any = None) -> Any:
    """The largest elements and where they stand."""
    values, places = node.op("math.top_k", x, node.get("k") if k is None else numbers(node, 1, "k")[0], True)
    return values, places


@tensorflow("InTopKV2", "InTopK")
def in_top_k(node: OnnxNode, predictions: Any, targets: Any, k: Any = None) -> Any:
    """Whether the right class is among the k largest."""
    own = node.np(np.take_along_axis, predictions, node.xp.expand_dims(targets.astype(np.int64), 1), axis=1)
    return node.xp.sum((predictions > own).astype(np.int64), axis=1) < (node.get("k") if k is None else numbers(node, 2, "k")[0])


@tensorflow("NthElement")
def nth(node: OnnxNode, x: Any, n: Any) -> Any:
    """The element that stands at a place among the ordered ones."""
    ordered = node.np(np.sort, x, axis=-1)
    at = numbers(node, 1, "the place")[0]
    return ordered[..., -1 - at if node.get("reverse", False) else at]


@tensorflow("Where")
def where(node: OnnxNode, condition: Any) -> Any:
    """Coordinates of the true elements."""
    return node.op("base.where", condition if condition.dtype.kind == "b" else condition != 0)


@tensorflow("ListDiff")
def difference(node: OnnxNode, x: Any, y: Any) -> Any:
    """Elements that are not among others, and where they stand."""
    left, places = added(node, OPS["listdiff"](), x, y)
    return left, places.astype(node.get("out_idx", np.dtype(np.int32)))


@tensorflow("Unique", "UniqueWithCounts", "UniqueV2", "UniqueWithCountsV2")
def unique(node: OnnxNode, x: Any, axis: Any = None) -> Any:
    """Distinct elements in their order, places among them, and counts."""
    if x.ndim != 1:
        raise node.refuse(f"distinct elements of one axis are found, not slices; the array has {x.ndim}")
    kind = node.get("out_idx", np.dtype(np.int32))
    values, places = added(node, OPS["unique"](), x)
    if not node.op_type.startswith("UniqueWithCounts"):
        return values, places.astype(kind)
    same = node.xp.expand_dims(values, 1) == node.xp.expand_dims(x, 0)
    return values, places.astype(kind), node.xp.sum(same.astype(np.int64), axis=1).astype(kind)


@tensorflow("Bincount", "DenseBincount")
def bincount(node: OnnxNode, x: Any, size: Any, weights: Any) -> Any:
    """Number of occurrences of each number, in each row of a matrix."""
    n = numbers(node, 1, "how many")[0]
    rows = x if node.op_type == "DenseBincount" and x.ndim == 2 else node.xp.reshape(x, (-1,))
    hits = node.xp.expand_dims(rows, -1) == np.arange(bounded(node, n)[0], dtype=x.dtype)
    axis = rows.ndim - 1
    if node.get("binary_output", False):
        return node.xp.any(hits, axis=axis).astype(weights.dtype)
    if 0 in weights.shape:
        return node.xp.sum(hits.astype(np.int64), axis=axis).astype(weights.dtype)
    return node.xp.sum(hits.astype(weights.dtype) * node.xp.reshape(weights, (*rows.shape, 1)), axis=axis)


@tensorflow("HistogramFixedWidth")
def histogram(node: OnnxNode, x: Any, limits: Any, bins: Any) -> Any:
    """Number of values in each of several equal parts of a range."""
    low, high = (float(v) for v in node.value(1, "the range"))
    n = numbers(node, 2, "the number of bins")[0]
    at = node.xp.clip(node.xp.floor((node.xp.reshape(x, (-1, 1)) - low) / (high - low) * n), 0, n - 1)
    return node.xp.sum((at == np.arange(n)).astype(np.int64), axis=0).astype(node.get("dtype", np.dtype(np.int32)))


