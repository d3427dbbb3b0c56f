"""Sums, means, extremes."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from .table import as_result, aten, axes_of, result_type


@aten("sum", "mean", "prod", "amax", "amin", "nansum", "nanmean")
def reduce(node: OnnxNode, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Along axes, or over all elements."""
    function = getattr(node.xp, node.op_type.removeprefix("aten."))
    return function(as_result(node, x)[0], axis=axes_of(x, dim), keepdims=keepdim)


@aten("all", "any")
def truth(node: OnnxNode, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether all are true, or one."""
    x = x if x.dtype.kind == "b" else x != x.dtype.type(0)
    return (node.xp.all if node.op_type == "aten.all" else node.xp.any)(x, axis=axes_of(x, dim), keepdims=keepdim)


@aten("max", "min")
def extreme(node: OnnxNode, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest element, of an axis with its place, or of two arrays."""
    largest = node.op_type == "aten.max"
    if dim is None:
        return (node.xp.max if largest else node.xp.min)(x)
    if not isinstance(dim, int):
        return (node.xp.maximum if largest else node.xp.minimum)(*as_result(node, x, dim))
    value = (node.xp.max if largest else node.xp.min)(x, axis=dim, keepdims=keepdim)
    place = (node.xp.argmax if largest else node.xp.argmin)(x, axis=dim, keepdims=keepdim)
    return value, place.astype(np.int64)


@aten("argmax", "argmin")
def place(node: OnnxNode, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Where it stands."""
    return (node.xp.argmax if node.op_type == "aten.argmax" else node.xp.argmin)(x, axis=dim, keepdims=keepdim)


@aten("var", "std", "var_mean", "std_mean")
def spread(node: OnnxNode, x: Any, dim: Any = None, *given: Any, correction: Any = None, unbiased: bool | None = None,
           keepdim: bool = False) -> Any:
    """Variance or deviation, with the mean on request."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if given:
        unbiased, keepdim = (given[0] if isinstance(given[0], bool) else unbiased), (given[1] if len(given) > 1 else keepdim)
    if unbiased is not None:
        correction = int(unbiased)
    axes, ddof = axes_of(x, dim), 1 if correction is None else correction
    made = (node.xp.var if "var" in node.op_type else node.xp.std)(x, axis=axes, ddof=ddof, keepdims=keepdim)
    return (made, node.xp.mean(x, axis=axes, keepdims=keepdim)) if node.op_type.endswith("_mean") else made


@aten("norm", "linalg_vector_norm", "frobenius_norm")
def norm(node: OnnxNode, x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The p-norm."""
    axes, size = axes_of(x, dim), node.op("math.abs", x)
    ord = 2 if ord is None or isinstance(ord, str) else ord
    if ord in (np.inf, -np.inf):
        return (node.xp.max if ord > 0 else node.xp.min)(size, axis=axes, keepdims=keepdim)
    if ord == 0:
        return node.xp.sum((size != 0).astype(x.dtype), axis=axes, keepdims=keepdim)
    if ord == 1:
        return node.xp.sum(size, axis=axes, keepdims=keepdim)
    if ord == 2:
        return node.xp.sqrt(node.xp.sum(x * x, axis=axes, keepdims=keepdim))
    return node.xp.sum(size ** ord, axis=axes, keepdims=keepdim) ** (1 / ord)


@aten("logsumexp")
def logsumexp(node: OnnxNode, x: Any, dim: Any, keepdim: bool = False) -> Any:
    """The logarithm of the sum of exponentials."""
    axes = axes_of(x, dim)
    top = node.xp.max(x, axis=axes, keepdims=True)
    made = node.xp.log(node.xp.sum(node.xp.exp(x - top), axis=axes, keepdims=True)) + top
    return made if keepdim else node.xp.squeeze(made, axis=axes)


@aten("cumsum", "cumprod")
def running(node: OnnxNode, x: Any, dim: int, dtype: Any = None) -> Any:
    """Sums or products of what came before."""
    return (node.xp.cumsum if node.op_type == "aten.cumsum" else node.xp.cumprod)(as_result(node, x)[0], axis=dim % max(x.ndim, 1))


@aten("count_nonzero")
def count_nonzero(node: OnnxNode, x: Any, dim: Any = None) -> Any:
    """The number of elements that are not 0."""
    return node.xp.sum((x != x.dtype.type(0)).astype(result_type(node)), axis=axes_of(x, dim))
