"""Elements by their places, and their order."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from .table import aten, cast, standard


@aten("embedding")
def embedding(node: OnnxNode, weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False,
              sparse: bool = False) -> Any:
    """Rows of a table."""
    return standard(node, "Gather", weight, indices, axis=0)


@aten("index_select")
def index_select(node: OnnxNode, x: Any, dim: int, index: Any) -> Any:
    """Parts along an axis."""
    return standard(node, "Gather", x, index, axis=dim)


@aten("gather")
def gather(node: OnnxNode, x: Any, dim: int, index: Any, sparse_grad: bool = False) -> Any:
    """One element of an axis for each place."""
    return standard(node, "GatherElements", x, index, axis=dim)


@aten("take_along_dim")
def take_along_dim(node: OnnxNode, x: Any, indices: Any, dim: int | None = None) -> Any:
    """One element of an axis for each place."""
    return node.xp.take_along_axis(x, indices, axis=dim)


@aten("index", "_unsafe_index")
def index(node: OnnxNode, x: Any, indices: Any) -> Any:
    """As NumPy indexes by arrays; what is left out is a whole axis."""
    if any(i is not None and i.dtype.kind == "b" for i in indices):
        raise node.refuse("elements chosen by a mask have a number that is not known while the graph is built; use torch.where")
    return x[tuple(slice(None) if i is None else i for i in indices)]


@aten("scatter", "scatter_add")
def scatter(node: OnnxNode, x: Any, dim: int, index: Any, src: Any, reduce: Any = None) -> Any:
    """Values put at places along an axis, or added there."""
    kind = {None: "none", "add": "add", "multiply": "mul"}[reduce] if node.op_type == "aten.scatter" else "add"
    if np.isscalar(src) or isinstance(src, (int, float)):
        src = node.xp.broadcast_to(node.array(np.asarray(src, x.dtype)), index.shape)
    return standard(node, "ScatterElements", x, index, src, axis=dim, reduction=kind)


@aten("one_hot")
def one_hot(node: OnnxNode, x: Any, num_classes: int = -1) -> Any:
    """1 at the place that a number names."""
    if num_classes < 0:
        raise node.refuse("num_classes must be given")
    return (node.xp.expand_dims(x, -1) == np.arange(num_classes)).astype(np.int64)


@aten("topk")
def topk(node: OnnxNode, x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The largest elements of an axis, and their places."""
    return standard(node, "TopK", x, np.asarray([k], np.int64), axis=dim,
                    largest=int(largest), sorted=1)


@aten("sort", "argsort")
def sort(node: OnnxNode, x: Any, *given: Any, stable: Any = None, dim: int = -1, descending: bool = False) -> Any:
    """Elements of an axis in their order, and their places."""
    rest = [g for g in given if g is not None]
    if rest and isinstance(rest[0], bool) and len(rest) == 3:
        rest = rest[1:]
    dim, descending = (rest[0] if rest else dim), (rest[1] if len(rest) > 1 else descending)
    size = x.shape[dim]
    if not isinstance(size, int):
        raise node.refuse("the size of the axis must be known")
    values, places = standard(node, "TopK", x, np.asarray([size], np.int64), axis=dim, largest=int(bool(descending)), sorted=1)
    return places if node.op_type == "aten.argsort" else (values, places)


@aten("masked_scatter", "nonzero", "masked_select", "unique", "_unique2")
def refused(node: OnnxNode, *given: Any, **options: Any) -> Any:
    """Results of a number that values decide."""
    raise node.refuse("the number of its results depends on values; torch.where and masks keep shapes")


def _is_whole(start: Any = None, end: Any = None, step: int = 1) -> bool:
    return start in (None, 0) and (end is None or end >= 1 << 62) and step == 1


@aten("index_put", "slice_scatter", "select_scatter")
def put(node: OnnxNode, x: Any, *given: Any, **options: Any) -> Any:
    """Values at places, in a copy."""
    if node.op_type == "aten.index_put":
        indices, values, *_ = given
        if any(i is not None and i.dtype.kind == "b" for i in indices):
            if len(indices) != 1 or np.ndim(getattr(values, "shape", ())) > 1:
                raise node.refuse("several masks")
            mask = indices[0]
            if values.ndim:
                raise node.refuse("a mask with several values")
            mask = node.xp.reshape(mask, (*mask.shape, *[1] * (x.ndim - mask.ndim)))
            return node.xp.where(mask, cast(node, values, x.dtype), x)
        raise node.refuse("places given by arrays; torch.where and torch.scatter keep shapes")
    source, *rest = given
    dim = options.get("dim", rest[0] if rest else 0) % x.ndim
    if node.op_type == "aten.slice_scatter" and _is_whole(*rest[1:]):
        return node.xp.broadcast_to(source, x.shape).astype(x.dtype)
    lead = (slice(None),) * dim
    size = x.shape[dim]
    if not isinstance(size, int):
        raise node.refuse("the size of the axis must be known")
    if node.op_type == "aten.select_scatter":
        start = rest[1] % size
        end, step, source = start + 1, 1, node.xp.expand_dims(source, dim)
    else:
        start, end, step = (options.get(n, rest[i + 1] if len(rest) > i + 1 else d)
                            for i, (n, d) in enumerate((("start", 0), ("end", size), ("step", 1))))
        start, end, step = slice(start, min(end, size) if end is not None else size, step).indices(size)
    if step != 1:
        raise node.refuse("steps other than 1")
    parts = [x[(*lead, slice(0, start))]] if start else []
    parts.append(node.xp.broadcast_to(source, (*x.shape[:dim], end - start, *x.shape[dim + 1:])).astype(x.dtype))
    parts += [x[(*lead, slice(end, size))]] if end < size else []
    return node.xp.concatenate(parts, axis=dim) if len(parts) > 1 else parts[0]
