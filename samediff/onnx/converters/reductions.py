"""Reductions over axes."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..node import OnnxNode
from ..registry import onnx_converter, same_for


def axes_of(node: OnnxNode, x: Any) -> tuple[int, ...] | None:
    """The axes, None for all; no axes are all or none, as an attribute says."""
    axes = node.ints("axes", 1)
    if axes:
        return tuple(a % x.ndim for a in axes) if x.ndim else None
    return () if node.flag("noop_with_empty_axes") else None


def _sum(node: OnnxNode, x: Any, axes: Any, keep: bool) -> Any:
    return node.xp.sum(x, axis=axes, keepdims=keep).astype(x.dtype)


def _log_sum_exp(node: OnnxNode, x: Any, axes: Any, keep: bool) -> Any:
    if x.dtype.kind != "f":
        raise node.refuse(f"exponentials need floating numbers; got {x.dtype}")
    return node.op("math.log_sum_exp", x, keep, *(axes or ()))


def _extreme(largest: bool) -> Any:
    def reduce(node: OnnxNode, x: Any, axes: Any, keep: bool) -> Any:
        gone = range(x.ndim) if axes is None else axes
        if any(x.shape[a] == 0 for a in gone if isinstance(x.shape[a], int)):
            shape = tuple(1 if i in gone else n for i, n in enumerate(x.shape) if keep or i not in gone)
            kind = x.dtype
            least = -np.inf if kind.kind == "f" else False if kind.kind == "b" else np.iinfo(kind).min
            most = np.inf if kind.kind == "f" else True if kind.kind == "b" else np.iinfo(kind).max
            return np.full(shape, least if largest else most, kind)
        return (node.xp.max if largest else node.xp.min)(x, axis=axes, keepdims=keep)
    return reduce


def _mean(node: OnnxNode, x: Any, axes: Any, keep: bool) -> Any:
    if x.dtype.kind in "iu":
        return node.xp.floor(node.xp.mean(x, axis=axes, keepdims=keep)).astype(x.dtype)
    return node.xp.mean(x, axis=axes, keepdims=keep)


_REDUCTIONS = {
    "ReduceSum": _sum, "ReduceMean": _mean, "ReduceMax": _extreme(True), "ReduceMin": _extreme(False),
    "ReduceProd": lambda n, x, a, k: n.xp.prod(x, axis=a, keepdims=k).astype(x.dtype),
    "ReduceL1": lambda n, x, a, k: _sum(n, n.op("math.abs", x), a, k),
    "ReduceL2": lambda n, x, a, k: n.xp.sqrt(_sum(n, x * x, a, k)).astype(x.dtype),
    "ReduceSumSquare": lambda n, x, a, k: _sum(n, x * x, a, k),
    "ReduceLogSum": lambda n, x, a, k: n.xp.log(_sum(n, x, a, k)),
    "ReduceLogSumExp": _log_sum_exp}


@same_for(*_REDUCTIONS)
def reduction(node: OnnxNode, x: Any, axes: Any = None) -> Any:
    """A reduction, which keeps the axes as ones of size 1 or not."""
    found, keep = axes_of(node, x), node.flag("keepdims", True)
    if found == ():
        if node.op_type in ("ReduceL1", "ReduceL2"):
            return node.op("math.abs", x)
        if node.op_type == "ReduceSumSquare":
            return x * x
        return node.xp.log(x) if node.op_type == "ReduceLogSum" else x
    return _REDUCTIONS[node.op_type](node, x, found, keep)


@same_for("ArgMax", "ArgMin")
def position(node: OnnxNode, x: Any) -> Any:
    """Position of the largest or smallest element: the first of equal ones, or the last."""
    axis, keep = node.get("axis", 0) % max(x.ndim, 1), node.flag("keepdims", True)
    find = node.xp.argmax if node.op_type == "ArgMax" else node.xp.argmin
    if not node.flag("select_last_index"):
        return find(x, axis=axis, keepdims=keep).astype(np.int64)
    found = find(node.op("base.reverse", x, axis), axis=axis, keepdims=keep)
    return (x.shape[axis] - 1 - found).astype(np.int64)


@same_for("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(node: OnnxNode, x: Any) -> Any:
    """One value for each channel."""
    axes = tuple(range(2, x.ndim))
    if node.op_type == "GlobalAveragePool":
        return node.xp.mean(x, axis=axes, keepdims=True)
    if node.op_type == "GlobalMaxPool":
        return node.xp.max(x, axis=axes, keepdims=True)
    p = node.get("p", 2)
    return node.xp.sum(node.op("math.abs", x) ** p, axis=axes, keepdims=True) ** (1.0 / p)


@same_for("CumSum", "CumProd")
def cumulative(node: OnnxNode, x: Any, axis: Any) -> Any:
    """Running sums or products, with the element itself or without it, from either end."""
    along = int(np.asarray(node.value(1, "axis")).reshape(-1)[0]) % x.ndim
    place = "base.cumsum" if node.op_type == "CumSum" else "base.cumprod"
    return node.op(place, x, node.flag("exclusive"), node.flag("reverse"), along)


@onnx_converter("MeanVarianceNormalization")
def mean_variance(node: OnnxNode, x: Any) -> Any:
    """Mean 0 and variance 1 over axes."""
    axes = tuple(a % x.ndim for a in node.get("axes", [0, 2, 3]))
    centred = x - node.xp.mean(x, axis=axes, keepdims=True)
    return centred / (node.xp.sqrt(node.xp.mean(centred * centred, axis=axes, keepdims=True)) + 1e-9)
