"""Elements moved, joined, chosen and put."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ir.op import OPS
from ...onnx.converters.indexing import row_places, taken
from ...onnx.converters.shapes import expand, filled, padded
from ...onnx.node import OnnxNode
from .table import added, bounded, numbers, tensorflow


@tensorflow("Reshape")
def reshape(node: OnnxNode, x: Any, target: Any) -> Any:
    """Another shape."""
    return node.op("base.reshape", x, target) if node.known(1) is None else node.xp.reshape(x, tuple(numbers(node, 1, "shape")))


@tensorflow("Squeeze")
def squeeze(node: OnnxNode, x: Any) -> Any:
    """Without axes of size 1."""
    return node.op("base.squeeze", x, *(a % x.ndim for a in node.get("squeeze_dims", []) or []))


@tensorflow("ExpandDims")
def expand_dims(node: OnnxNode, x: Any, axis: Any) -> Any:
    """A new axis."""
    return node.xp.expand_dims(x, numbers(node, 1, "the axis")[0] % (x.ndim + 1))


@tensorflow("Transpose", "ConjugateTranspose")
def transpose(node: OnnxNode, x: Any, order: Any) -> Any:
    """The axes in another order."""
    return node.xp.transpose(x, tuple(numbers(node, 1, "the order"))) if x.ndim else x


@tensorflow("ConcatV2", "Concat")
def concat(node: OnnxNode, *xs: Any) -> Any:
    """One after the other."""
    at = len(xs) - 1 if node.op_type == "ConcatV2" else 0
    parts = [x for i, x in enumerate(xs) if i != at]
    return node.op("base.concat", numbers(node, at, "the axis")[0] % parts[0].ndim, *parts)


@tensorflow("ConcatOffset")
def concat_offset(node: OnnxNode, axis: Any, *shapes: Any) -> Any:
    """Where parts begin that are joined."""
    at, total, made = numbers(node, 0, "the axis")[0], 0, []
    for i in range(1, len(shapes) + 1):
        sizes = numbers(node, i, "a shape")
        made.append(np.asarray([total if a == at % len(sizes) else 0 for a in range(len(sizes))], np.int32))
        total += sizes[at]
    return tuple(made)


@tensorflow("Pack", "ParallelConcat")
def pack(node: OnnxNode, *xs: Any) -> Any:
    """Along a new axis, or one after the other."""
    return node.xp.stack(xs, node.get("axis", 0)) if node.op_type == "Pack" else node.xp.concatenate(xs, 0)


@tensorflow("Unpack")
def unpack(node: OnnxNode, x: Any) -> Any:
    """The slices along an axis."""
    axis = node.get("axis", 0) % x.ndim
    return tuple(x[(slice(None),) * axis + (i,)] for i in range(int(x.shape[axis])))


@tensorflow("Split", "SplitV")
def split(node: OnnxNode, *inputs: Any) -> Any:
    """Parts along an axis."""
    if node.op_type == "Split":
        x = inputs[1]
        axis, count = numbers(node, 0, "the axis")[0] % x.ndim, node.get("num_split")
        sizes = [int(x.shape[axis]) // count] * count
    else:
        x, axis = inputs[0], numbers(node, 2, "the axis")[0] % inputs[0].ndim
        sizes = numbers(node, 1, "sizes")
    ends = np.cumsum(sizes)
    return tuple(x[(slice(None),) * axis + (slice(int(e) - s, int(e)),)] for s, e in zip(sizes, ends))


@tensorflow("Slice")
def slice_(node: OnnxNode, x: Any, begin: Any, size: Any) -> Any:
    """A part."""
    if node.known(1) is None or node.known(2) is None:
        return node.op("base.slice", x, begin, size)
    return x[tuple(slice(b, None if n < 0 else b + n) for b, n in zip(numbers(node, 1, "begin"), numbers(node, 2, "size")))]


@tensorflow("StridedSlice")
def strided_slice(node: OnnxNode, x: Any, begin: Any, end: Any, strides: Any) -> Any:
    """A regular part, with axes added and taken away."""
    masks = {n: node.get(f"{n}_mask", 0) or 0 for n in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    if node.known(1) is None or node.known(2) is None:
        return _computed_slice(node, x, begin, end, masks)
    index: list[Any] = []
    for i, (b, e, s) in enumerate(zip(*(numbers(node, k, "limits") for k in (1, 2, 3)))):
        def on(name: str, bit: int = 1 << i) -> bool:
            return bool(masks[name] & bit)
        if on("ellipsis"):
            index.append(...)
        elif on("new_axis"):
            index.append(None)
        elif on("shrink_axis"):
            index.append(b)
        else:
            index.append(slice(None if on("begin") else b, None if on("end") else e, s))
    return x[tuple(index)]


def _computed_slice(node: OnnxNode, x: Any, begin: Any, end: Any, masks: dict[str, int]) -> Any:
    """A part whose limits are computed, without steps."""
    steps = numbers(node, 3, "steps")
    if masks["ellipsis"] or masks["new_axis"] or any(s != 1 for s in steps):
        raise node.needed(1 if node.known(1) is None else 2, "for steps other than 1 or new axes, the limits")
    sizes, single = node.sizes(x), [i for i in range(len(steps)) if masks["shrink_axis"] >> i & 1]

    def limit(given: Any, name: str, axis: int, otherwise: Any) -> Any:
        if axis >= len(steps) or axis in single or masks[name] >> axis & 1:
            return otherwise
        one, n = given[axis:axis + 1].astype(np.int64), sizes[axis:axis + 1]
        return node.xp.clip(node.xp.where(one < 0, one + n, one), 0, n)

    if any(i not in single and not (masks["begin"] & masks["end"]) >> i & 1 for i in range(len(steps))):
        first = node.xp.concatenate([limit(begin, "begin", i, node.array(np.zeros(1, np.int64))) for i in range(x.ndim)], 0)
        last = node.xp.concatenate([limit(end, "end", i, sizes[i:i + 1]) for i in range(x.ndim)], 0)
        x = node.op("base.slice", x, first, node.xp.maximum(last - first, 0))
    for axis in reversed(single):
        place = begin[axis].astype(np.int64)
        x = node.xp.take(x, node.xp.where(place < 0, place + sizes[axis], place), axis=axis)
    return x


@tensorflow("Tile")
def tile(node: OnnxNode, x: Any, counts: Any) -> Any:
    """Repeated."""
    return node.op("base.tile", x, counts) if node.known(1) is None else node.op("base.tile", x, *numbers(node, 1, "counts"))


@tensorflow("BroadcastTo")
def broadcast_to(node: OnnxNode, x: Any, target: Any) -> Any:
    """Stretched."""
    return expand(node, x, target) if node.known(1) is None else node.xp.broadcast_to(x, tuple(numbers(node, 1, "shape")))


@tensorflow("Pad", "PadV2", "MirrorPad")
def pad(node: OnnxNode, x: Any, pads: Any, value: Any = None) -> Any:
    """More elements at both ends."""
    both = [(int(b), int(a)) for b, a in np.asarray(node.value(1, "paddings"))]
    if node.op_type == "MirrorPad":
        return padded(node, x, both, node.get("mode").lower())
    return filled(node, x, both, 0 if value is None else np.asarray(node.value(2, "the value")).reshape(-1)[0])


@tensorflow("ReverseV2")
def reverse(node: OnnxNode, x: Any, axes: Any) -> Any:
    """In reverse order."""
    found = [a % x.ndim for a in numbers(node, 1, "axes")]
    return node.op("base.reverse", x, *found) if found else x


@tensorflow("ReverseSequence")
def reverse_sequence(node: OnnxNode, x: Any, lengths: Any) -> Any:
    """The first elements of each entry in reverse order."""
    return node.op("base.reverse_sequence", x, lengths, node.get("seq_dim"), node.get("batch_dim", 0) or 0)


@tensorflow("Roll")
def roll(node: OnnxNode, x: Any, shift: Any, axis: Any) -> Any:
    """Moved on."""
    for by, a in zip(numbers(node, 1, "the shift"), numbers(node, 2, "the axis")):
        x = node.np(np.roll, x, by, axis=a)
    return x


@tensorflow("Gather", "GatherV2", "ResourceGather")
def gather(node: OnnxNode, x: Any, indices: Any, axis: Any = None) -> Any:
    """Slices at positions, for each entry of batch axes."""
    batch = (node.get("batch_dims", 0) or 0) % (indices.ndim + 1)
    at = batch if axis is None else numbers(node, 2, "the axis")[0] % x.ndim
    if not batch:
        return node.op("base.gather", x, indices, at)
    rest, inner = indices.ndim - batch, x.ndim - at - 1
    behind = node.xp.reshape(indices, (*indices.shape[:batch], *[1] * (at - batch), math.prod(indices.shape[batch:]), *[1] * inner))
    found = taken(node, x, node.xp.broadcast_to(behind, (*x.shape[:at], behind.shape[at], *x.shape[at + 1:])), at)
    return node.xp.reshape(found, (*x.shape[:at], *indices.shape[indices.ndim - rest:], *x.shape[at + 1:]))


@tensorflow("GatherNd", "ResourceGatherNd")
def gather_nd(node: OnnxNode, x: Any, indices: Any) -> Any:
    """Elements or slices at index vectors."""
    return node.op("base.gather_nd", x, indices)


@tensorflow("ScatterNd", "ScatterNdAdd", "ScatterNdSub", "ScatterNdUpdate", "ScatterNdNonAliasingAdd", "TensorScatterAdd",
            "TensorScatterSub", "TensorScatterUpdate", "TensorScatterMax", "TensorScatterMin", "SparseTensorDenseAdd")
def scatter_nd(node: OnnxNode, *inputs: Any) -> Any:
    """Slices put at index vectors."""
    kind = next((k for k in ("sub", "update", "max", "min") if node.op_type.lower().endswith(k)), "add")
    if node.op_type == "ScatterNd":
        indices, updates = inputs[:2]
        x = node.array(np.zeros(bounded(node, numbers(node, 2, "shape")), updates.dtype))
    elif node.op_type == "SparseTensorDenseAdd":
        indices, updates, _, x = inputs
    else:
        x, indices, updates = inputs
    k = int(indices.shape[-1])
    rows = node.xp.reshape(x, (math.prod(x.shape[:k]), *x.shape[k:]))
    places = node.xp.reshape(row_places(node, x, indices, k), (-1,))
    made = node.op(f"base.scatter_{kind}", rows, places, node.xp.reshape(updates, (-1, *x.shape[k:])))
    return node.xp.reshape(made, x.shape)


@tensorflow("SparseToDense")
def sparse_to_dense(node: OnnxNode, indices: Any, sizes: Any, values: Any, otherwise: Any) -> Any:
    """Numbers at places, and one elsewhere."""
    shape = node.array(np.asarray(bounded(node, node.value(1, "shape")), np.int64))
    return added(node, OPS["compat_sparse_to_dense"](), indices, shape, values, otherwise)


@tensorflow("SparseTensorDenseMatMul")
def sparse_product(node: OnnxNode, indices: Any, values: Any, sizes: Any, b: Any) -> Any:
    """The product of a sparse matrix and another one."""
    rows, columns = bounded(node, node.value(2, "shape"))
    places = indices[:, 0] * columns + indices[:, 1]
    a = node.op("base.scatter_add", node.array(np.zeros(rows * columns), values.dtype), places, values)
    a = node.xp.reshape(a, (rows, columns))
    a, b = (node.xp.transpose(m) if node.get(n, False) else m for m, n in ((a, "adjoint_a"), (b, "adjoint_b")))
    return node.xp.matmul(a, b)


@tensorflow("DynamicPartition")
def dynamic_partition(node: OnnxNode, x: Any, parts: Any) -> Any:
    """Rows in several arrays."""
    return tuple(node.op("base.dynamic_partition", x, parts, node.get("num_partitions")))


@tensorflow("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(node: OnnxNode, *inputs: Any) -> Any:
    """Rows of several arrays in one."""
    return node.op("base.dynamic_stitch", *inputs)


@tensorflow("InvertPermutation")
def invert(node: OnnxNode, x: Any) -> Any:
    """The permutation that goes back."""
    return node.op("base.invert_permutation", x)


@tensorflow("OneHot")
def one_hot(node: OnnxNode, indices: Any, depth: Any, on: Any, off: Any) -> Any:
    """A new axis in which one position has another value."""
    n, axis = numbers(node, 1, "depth")[0], node.get("axis", -1) % (indices.ndim + 1)
    classes = np.arange(n).reshape([-1 if i == axis else 1 for i in range(indices.ndim + 1)])
    return node.xp.where(node.xp.expand_dims(indices, axis) == classes, on, off)
