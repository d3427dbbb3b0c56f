"""Shapes: the same elements in another one, joined, repeated."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import ShapeError
from ...families.array_code.symbolic_size import SymbolicSize
from ..node import OnnxNode
from ..open_sizes import is_open, parts_of
from ..registry import onnx_converter
from .creation import MOST_FOLDED

MOST_AXES = 64          # as NumPy


@onnx_converter("Shape")
def shape(node: OnnxNode, x: Any) -> Any:
    """The sizes, or some of them."""
    start, end = node.get("start", 0), node.get("end", None)
    sizes = node.spec(x).shape
    if sizes is not None and -1 not in sizes[start:end]:
        return np.asarray(sizes[start:end], np.int64)
    found = node.sizes(x)
    return found if start == 0 and end is None else found[start:end]


@onnx_converter("Reshape")
def reshape(node: OnnxNode, x: Any, target: Any = None) -> Any:
    """Another shape, in which 0 is the size that is there, and -1 what is left."""
    literal = node.flag("allowzero")
    parts = None if target is None else parts_of(node, 1)
    if target is not None and parts is None and node.known(1) is None:
        count = target.shape[0]
        if not literal and isinstance(count, int):
            own = node.xp.concatenate([node.sizes(x), np.ones(count, np.int64)], 0)[:count]
            target = node.xp.where(target == 0, own, target)
        return node.op("base.reshape", x, target)
    wanted = list(node.ints("shape", 1) if parts is None else parts)
    kept = [] if literal else [i for i, n in enumerate(wanted) if not is_open(n) and n == 0]
    sizes = [x.shape[i] if i in kept else n for i, n in enumerate(wanted)]
    unknown = [i for i, n in enumerate(sizes) if not is_open(n) and n == -1]
    if unknown and any(map(is_open, sizes)):
        rest = [n for i, n in enumerate(x.shape) if i not in kept]
        others = [n for i, n in enumerate(sizes) if i not in kept and i not in unknown]
        same = [i for i, n in enumerate(others) if is_open(n)]
        if not same and not any(map(is_open, rest)):
            sizes[unknown[0]] = math.prod(rest) // max(math.prod(others), 1)
        elif len(same) == 1 and is_open(rest[0]) and not any(map(is_open, rest[1:])) and others[same[0]] == rest[0]:
            sizes[unknown[0]] = math.prod(rest[1:]) // max(math.prod(n for n in others if not is_open(n)), 1)
        else:
            whole = [node.xp.reshape(node.array(np.asarray(n, np.int64)) if not is_open(n) else n.number().astype(np.int64), (1,))
                     for n in sizes]
            return node.op("base.reshape", x, node.xp.concatenate(whole, 0))
    return node.xp.reshape(x, tuple(int(n) if not is_open(n) else n for n in sizes))


@onnx_converter("Flatten")
def flatten(node: OnnxNode, x: Any) -> Any:
    """A matrix: axes before one, and from it on."""
    axis = node.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    first = math.prod(x.shape[:axis])
    if all(isinstance(n, int) for n in x.shape[axis:]):
        return node.xp.reshape(x, (-1 if isinstance(first, SymbolicSize) else first, math.prod(x.shape[axis:])))
    return node.xp.reshape(x, (first, -1 if isinstance(first, int) else math.prod(x.shape[axis:])))


@onnx_converter("Squeeze")
def squeeze(node: OnnxNode, x: Any, axes: Any = None) -> Any:
    """Without axes of size 1."""
    found = node.ints("axes", 1)
    if found is None:
        return node.op("base.squeeze", x)
    return node.op("base.squeeze", x, *(a % x.ndim for a in found)) if found else x


@onnx_converter("Unsqueeze")
def unsqueeze(node: OnnxNode, x: Any, axes: Any = None) -> Any:
    """New axes of size 1."""
    found = node.ints("axes", 1)
    rank = x.ndim + len(found)
    if rank > MOST_AXES:
        raise ShapeError(f"an array has at most {MOST_AXES} axes; got {rank}")
    return node.xp.expand_dims(x, tuple(sorted(a % rank for a in found)))


@onnx_converter("Transpose")
def transpose(node: OnnxNode, x: Any) -> Any:
    """The axes in another order."""
    return node.xp.transpose(x, tuple(node.get("perm", range(x.ndim)[::-1]))) if x.ndim else x


@onnx_converter("Expand")
def expand(node: OnnxNode, x: Any, target: Any) -> Any:
    """Stretched to the shape that x and a shape have together."""
    known = node.known(1)
    if known is not None and node.spec(x).is_static and np.prod(known, dtype=np.float64) <= MOST_FOLDED:
        return node.xp.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(int(n) for n in known)))
    ones = node.op("base.fill", target, node.sd.tables.visible(x.variable).dtype, 1)
    return node.xp.logical_and(x, ones) if x.dtype.kind == "b" else x * ones


@onnx_converter("Concat")
def concat(node: OnnxNode, *xs: Any) -> Any:
    """One after the other along an axis."""
    return node.op("base.concat", node.get("axis", 1) % max(xs[0].ndim, 1), *xs)


@onnx_converter("Split")
def split(node: OnnxNode, x: Any, sizes: Any = None) -> Any:
    """Parts along an axis, of given sizes or equal ones."""
    axis = node.get("axis", 0) % x.ndim
    given = node.ints("split", 1)
    if given is None:
        count, n = node.get("num_outputs", len(node.proto.output)), x.shape[axis]
        if count != len(node.proto.output):
            raise ShapeError(f"num_outputs is {count}, and the node has {len(node.proto.output)} outputs")
        if not isinstance(n, int):
            return tuple(node.op("base.split", x, count, axis))
        part = -(-n // count)
        given = [min(part, max(n - i * part, 0)) for i in range(count)]
    ends = np.cumsum(given)
    before = (slice(None),) * axis
    return tuple(x[(*before, slice(int(e - s), int(e)))] for s, e in zip(given, ends))


@onnx_converter("Tile")
def tile(node: OnnxNode, x: Any, repeats: Any, axis: Any = None) -> Any:
    """The whole array repeated along each axis."""
    if axis is not None:                                # as it was before version 6
        counts = [1] * x.ndim
        counts[int(node.value(2, "axis"))] = int(node.value(1, "tiles"))
        return node.op("base.tile", x, *counts)
    known = node.known(1)
    return node.op("base.tile", x, repeats) if known is None else node.op("base.tile", x, *(int(n) for n in known))


@onnx_converter("DepthToSpace")
def depth_to_space(node: OnnxNode, x: Any) -> Any:
    """Channels spread over blocks of cells."""
    size = node.get("blocksize")
    n, c, h, w = x.shape
    if node.get("mode", "DCR") == "DCR":
        parts = node.xp.transpose(node.xp.reshape(x, (n, size, size, c // (size * size), h, w)), (0, 3, 4, 1, 5, 2))
    else:
        parts = node.xp.transpose(node.xp.reshape(x, (n, c // (size * size), size, size, h, w)), (0, 1, 4, 2, 5, 3))
    return node.xp.reshape(parts, (n, c // (size * size), h * size, w * size))


@onnx_converter("SpaceToDepth")
def space_to_depth(node: OnnxNode, x: Any) -> Any:
    """Blocks of cells moved to channels."""
    size = node.get("blocksize")
    n, c, h, w = x.shape
    order = (0, 3, 5, 1, 2, 4) if node.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    parts = node.xp.transpose(node.xp.reshape(x, (n, c, h // size, size, w // size, size)), order)
    return node.xp.reshape(parts, (n, c * size * size, h // size, w // size))


@onnx_converter("Pad", notes="axes and paddings that are known while the graph is built")
def pad(node: OnnxNode, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Any:
    """More elements at both ends of axes, or fewer where a padding is negative."""
    given = node.ints("pads" if "pads" in node.attributes or node.has(1) else "paddings", 1)
    which = node.ints("axes", 3, range(x.ndim))
    count = len(given) // 2
    both = [(0, 0)] * x.ndim
    for i, axis in enumerate(which):
        both[axis % x.ndim] = (given[i], given[count + i])
    for axis, (before, after) in enumerate(both):
        if before < 0 or after < 0:
            x = x[(slice(None),) * axis + (slice(max(-before, 0), -after if after < 0 else None),)]
    both = [(max(b, 0), max(a, 0)) for b, a in both]
    mode = node.get("mode", "constant")
    if mode != "constant":
        return padded(node, x, both, mode)
    fill: Any = node.get("value", 0.0)
    if value is not None:
        fill = node.known(2)
    return filled(node, x, both, value if fill is None else np.asarray(fill).reshape(-1)[0])


def padded(node: OnnxNode, x: Any, both: list[tuple[int, int]], mode: str) -> Any:
    """Elements of x repeated around it."""
    for axis, pair in enumerate(both):
        if pair != (0, 0):
            x = node.xp.take(x, np.pad(np.arange(x.shape[axis]), pair, mode=mode), axis=axis)  # type: ignore[call-overload]
    return x


def filled(node: OnnxNode, x: Any, both: list[tuple[int, int]], value: Any) -> Any:
    """One value around x."""
    if not any(a or b for a, b in both):
        return x
    sizes = np.asarray(both, np.int64)
    if isinstance(value, (np.generic, int, float)):
        if x.dtype.kind == "f" or value == 0:
            return node.op("nn.pad", x, node.array(sizes), float(value)) if x.dtype.kind == "f" else _whole(node, x, sizes)
        value = node.array(value, x.dtype)
    inside = node.op("nn.pad", node.xp.ones_like(x, dtype=np.float32), node.array(sizes), 0.0) > 0
    return node.xp.where(inside, _whole(node, x, sizes), node.xp.reshape(value, ()))


def _whole(node: OnnxNode, x: Any, sizes: Any) -> Any:
    if x.dtype.kind == "b":
        return node.op("nn.pad", x.astype(np.uint8), node.array(sizes), 0.0).astype(np.bool_)
    return node.op("nn.pad", x, node.array(sizes), 0.0)
