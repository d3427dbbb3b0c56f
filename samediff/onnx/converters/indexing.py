"""Elements and slices chosen by indices, and put back."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..node import OnnxNode
from ..registry import onnx_converter, same_for
from .creation import iota


@onnx_converter("Slice")
def slice_(node: OnnxNode, x: Any, *inputs: Any) -> Any:
    """Regular parts of axes."""
    if "starts" not in node.attributes and any(node.has(i) and node.known(i) is None for i in (1, 2)):
        return _open_slice(node, x, inputs)
    starts, ends = node.ints("starts", 1), node.ints("ends", 2)
    axes = node.ints("axes", 3, range(len(starts)))
    steps = node.ints("steps", 4, (1,) * len(starts))
    index: list[Any] = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps):
        index[axis % x.ndim] = _span(x.shape[axis % x.ndim], start, end, step)
    return x if all(i == slice(None) for i in index) else x[tuple(index)]


def _span(size: Any, start: int, end: int, step: int) -> slice:
    """A slice without numbers out of range."""
    if isinstance(size, int):
        first, last, step = slice(start, end, step).indices(size)
        return slice(first, None if last < 0 else last, step)
    most = 1 << 40
    open_end = (step > 0 and end > most) or (step < 0 and end < -most)
    return slice(None if step < 0 and start > most else start, None if open_end else end, step)


def _open_slice(node: OnnxNode, x: Any, inputs: Any) -> Any:
    """Parts whose ends are computed."""
    starts, ends = inputs[:2]
    axes = node.ints("axes", 3, range(starts.shape[0]))
    if any(s != 1 for s in node.ints("steps", 4, ())):
        raise node.needed(1 if node.known(1) is None else 2, "for steps other than 1, the ends")
    sizes = node.sizes(x)
    begin, end = [], []
    for axis in range(x.ndim):
        n = sizes[axis:axis + 1]
        places = [i for i, a in enumerate(axes) if a % x.ndim == axis]
        if not places:
            begin.append(node.array(np.zeros(1, np.int64)))
            end.append(n)
            continue
        for given, found in ((starts, begin), (ends, end)):
            one = given[places[0]:places[0] + 1].astype(np.int64)
            found.append(node.xp.clip(node.xp.where(one < 0, one + n, one), 0, n))
    first, last = node.xp.concatenate(begin, 0), node.xp.concatenate(end, 0)
    return node.op("base.slice", x, first, node.xp.maximum(last - first, 0))


@onnx_converter("Gather")
def gather(node: OnnxNode, x: Any, indices: Any) -> Any:
    """Slices at positions along an axis."""
    axis, known = node.get("axis", 0) % x.ndim, node.known(1)
    if known is not None and isinstance(x.shape[axis], int):
        known = np.asarray(known)
        indices = np.where(known < 0, known + x.shape[axis], known).astype(np.int64)
        if indices.ndim == 0:
            return x[(slice(None),) * axis + (int(indices),)]
    return node.xp.take(x, indices, axis=axis)


@onnx_converter("GatherElements")
def gather_elements(node: OnnxNode, x: Any, indices: Any) -> Any:
    """Elements at positions along an axis."""
    return taken(node, x, indices, node.get("axis", 0) % x.ndim)


def taken(node: OnnxNode, x: Any, indices: Any, axis: int) -> Any:
    """Elements at positions along an axis, at their own place along the others."""
    return node.xp.take(node.xp.reshape(x, (-1,)), _flat_places(node, x, indices, axis), axis=0)


def _flat_places(node: OnnxNode, x: Any, indices: Any, axis: int) -> Any:
    """Positions of elements in row order, from their positions along one axis and their own place along the others."""
    total: Any = 0
    for i in range(x.ndim):
        step = math.prod(x.shape[i + 1:])
        if i == axis:
            n = x.shape[i] if isinstance(x.shape[i], int) else x.shape[i].number().astype(np.int64)
            at = indices.astype(np.int64)
            at = node.xp.where(at < 0, at + n, at)
        else:
            at = iota(node, indices, i)
        step = step if isinstance(step, int) else step.number().astype(np.int64)
        total = at * step + total
    return node.xp.broadcast_to(total, indices.shape) if not hasattr(total, "variable") else total


@same_for("ScatterElements", "Scatter")
def scatter_elements(node: OnnxNode, x: Any, indices: Any, updates: Any) -> Any:
    """Elements put at positions along an axis."""
    places = _flat_places(node, x, indices, node.get("axis", 0) % x.ndim)
    flat = _put(node, node.xp.reshape(x, (-1,)), node.xp.reshape(places, (-1,)), node.xp.reshape(updates, (-1,)))
    return node.xp.reshape(flat, x.shape)


def _put(node: OnnxNode, rows: Any, places: Any, updates: Any) -> Any:
    kind = {"none": "update", "add": "add", "mul": "mul", "max": "max", "min": "min"}[node.get("reduction", "none")]
    return node.op(f"base.scatter_{kind}", rows, places, updates)


@onnx_converter("ScatterND")
def scatter_nd(node: OnnxNode, x: Any, indices: Any, updates: Any) -> Any:
    """Slices put at index vectors."""
    k = int(indices.shape[-1])
    inner = math.prod(x.shape[k:])
    places = row_places(node, x, indices, k)
    rows = node.xp.reshape(x, (math.prod(x.shape[:k]), *x.shape[k:]))
    flat = node.xp.reshape(places, (-1,))
    values = node.xp.reshape(updates, (-1, *x.shape[k:])) if isinstance(inner, int) and inner else updates
    return node.xp.reshape(_put(node, rows, flat, values), x.shape)


def row_places(node: OnnxNode, x: Any, indices: Any, k: int) -> Any:
    """The row in which the slice of an index vector stands."""
    total: Any = 0
    for i in range(k):
        at, n, step = indices[..., i].astype(np.int64), x.shape[i], math.prod(x.shape[i + 1:k])
        n = n if isinstance(n, int) else n.number().astype(np.int64)
        step = step if isinstance(step, int) else step.number().astype(np.int64)
        total = node.xp.where(at < 0, at + n, at) * step + total
    return total


@onnx_converter("GatherND")
def gather_nd(node: OnnxNode, x: Any, indices: Any) -> Any:
    """Elements or slices at index vectors, for each entry of batch axes."""
    batch, k = node.get("batch_dims", 0), int(indices.shape[-1])
    if batch:
        shape = indices.shape[:-1]
        own = [node.xp.broadcast_to(node.array(np.arange(shape[b]).reshape([-1 if i == b else 1 for i in range(len(shape))])), shape)
               for b in range(batch)]
        indices = node.xp.concatenate([*(node.xp.expand_dims(o, -1) for o in own), indices.astype(np.int64)], -1)
        k += batch
    rows = node.xp.reshape(x, (math.prod(x.shape[:k]), *x.shape[k:]))
    return node.xp.take(rows, row_places(node, x, indices, k), axis=0)


@onnx_converter("OneHot", notes="a depth that is known while the graph is built")
def one_hot(node: OnnxNode, indices: Any, depth: Any, values: Any) -> Any:
    """A new axis in which one position has another value."""
    n = int(np.asarray(node.value(1, "depth")).reshape(-1)[0])
    axis = node.get("axis", -1) % (indices.ndim + 1)
    at = indices.astype(np.int64)
    at = node.xp.expand_dims(node.xp.where(at < 0, at + n, at), axis)
    classes = np.arange(n).reshape([-1 if i == axis else 1 for i in range(indices.ndim + 1)])
    return node.xp.where(at == classes, values[1], values[0])


@onnx_converter("NonZero")
def non_zero(node: OnnxNode, x: Any) -> Any:
    """Positions of the elements that are not 0, one row for each axis."""
    return node.xp.transpose(node.op("base.where", x if x.dtype.kind == "b" else x != 0)).astype(np.int64)


@onnx_converter("Compress")
def compress(node: OnnxNode, x: Any, condition: Any) -> Any:
    """Slices for which a condition holds."""
    axis = node.get("axis", None)
    x, axis = (node.xp.reshape(x, (-1,)), 0) if axis is None else (x, axis % x.ndim)
    return node.op("base.gather", x, node.xp.reshape(node.op("base.where", condition), (-1,)), axis)


@onnx_converter("ReverseSequence")
def reverse_sequence(node: OnnxNode, x: Any, lengths: Any) -> Any:
    """The first elements of each entry in reverse order."""
    return node.op("base.reverse_sequence", x, lengths, node.get("time_axis", 0), node.get("batch_axis", 1))


@onnx_converter("TensorScatter", 24)
def tensor_scatter(node: OnnxNode, cache: Any, update: Any, starts: Any = None) -> Any:
    """Rows of a cache replaced from a place on, which may begin again at the front."""
    axis = node.get("axis", -2) % cache.ndim
    size = cache.shape[axis]
    first = node.array(np.zeros(cache.shape[0], np.int64)) if starts is None else starts.astype(np.int64)
    at = node.xp.reshape(first, (-1, *[1] * (cache.ndim - 1))) + iota(node, update, axis)
    at = node.xp.broadcast_to(at % size if node.get("mode", "linear") == "circular" else at, update.shape)
    places = _flat_places(node, cache, at, axis)
    flat = node.op("base.scatter_update", node.xp.reshape(cache, (-1,)), node.xp.reshape(places, (-1,)), node.xp.reshape(update, (-1,)))
    return node.xp.reshape(flat, cache.shape)


@onnx_converter("Col2Im")
def col2im(node: OnnxNode, x: Any, image: Any, block: Any) -> Any:
    """Blocks added up to an image."""
    sizes, kernel = node.ints("", 1), node.ints("", 2)
    rank = len(sizes)
    dilations, strides = node.get("dilations", [1] * rank), node.get("strides", [1] * rank)
    pads = node.get("pads", [0] * 2 * rank)
    whole = [n + pads[i] + pads[rank + i] for i, n in enumerate(sizes)]
    counts = [(whole[i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
    cells = np.indices((*kernel, *counts))
    at = [cells[i] * dilations[i] + cells[rank + i] * strides[i] for i in range(rank)]
    flat = np.ravel_multi_index(at, whole).reshape(-1)
    n, channels = x.shape[0], int(x.shape[1]) // math.prod(kernel)
    values = node.xp.transpose(node.xp.reshape(x, (n * channels, flat.size)))
    zeros = node.xp.broadcast_to(node.xp.zeros_like(node.xp.sum(values, axis=0, keepdims=True)), (math.prod(whole), n * channels))
    made = node.xp.transpose(node.op("base.scatter_add", zeros, node.array(flat), values))
    made = node.xp.reshape(made, (n, channels, *whole))
    return made[(slice(None), slice(None), *(slice(pads[i], pads[i] + sizes[i]) for i in range(rank)))]
