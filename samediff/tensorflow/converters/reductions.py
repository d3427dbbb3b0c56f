"""Reductions, searches, segments."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.op import OPS
from ...onnx.node import OnnxNode
from .table import numbers, tensorflow

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


@tensorflow("TopKV2")
def top_k(node: OnnxNode, x: Any, k: Any) -> Any:
    """The largest elements and where they stand."""
    values, places = node.op("math.top_k", x, numbers(node, 1, "k")[0], True)
    return values, places


@tensorflow("InTopKV2")
def in_top_k(node: OnnxNode, predictions: Any, targets: Any, k: Any) -> Any:
    """Whether the right class is among the k largest."""
    own = node.np(np.take_along_axis, predictions, node.xp.expand_dims(targets.astype(np.int64), 1), axis=1)
    return node.xp.sum((predictions > own).astype(np.int64), axis=1) < numbers(node, 2, "k")[0]


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


@tensorflow("Unique", "UniqueWithCounts")
def unique(node: OnnxNode, x: Any) -> Any:
    """Distinct elements in their order, places among them, and counts."""
    kind = node.get("out_idx", np.dtype(np.int32))
    values, places = node.outer(node.sd.add_op(OPS["unique"](), [node.inner(x)]))
    if node.op_type == "Unique":
        return values, places.astype(kind)
    same = node.xp.expand_dims(values, 1) == node.xp.expand_dims(x, 0)
    return values, places.astype(kind), node.xp.sum(same.astype(np.int64), axis=1).astype(kind)


@tensorflow("Bincount")
def bincount(node: OnnxNode, x: Any, size: Any, weights: Any) -> Any:
    """Number of occurrences of each number."""
    n = numbers(node, 1, "how many")[0]
    hits = node.xp.reshape(x, (-1, 1)) == np.arange(n, dtype=x.dtype)
    if weights.shape[0] == 0:
        return node.xp.sum(hits.astype(np.int64), axis=0).astype(weights.dtype)
    return node.xp.sum(hits.astype(weights.dtype) * node.xp.reshape(weights, (-1, 1)), axis=0)


@tensorflow("HistogramFixedWidth")
def histogram(node: OnnxNode, x: Any, limits: Any, bins: Any) -> Any:
    """Number of values in each of several equal parts of a range."""
    low, high = (float(v) for v in node.value(1, "the range"))
    n = numbers(node, 2, "the number of bins")[0]
    at = node.xp.clip(node.xp.floor((node.xp.reshape(x, (-1, 1)) - low) / (high - low) * n), 0, n - 1)
    return node.xp.sum((at == np.arange(n)).astype(np.int64), axis=0).astype(node.get("dtype", np.dtype(np.int32)))


