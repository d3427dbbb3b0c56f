"""Arrays made from numbers: constants, ranges, random ones, windows of signals."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.datatype import DataType
from ..node import OnnxNode
from ..registry import onnx_converter, same_for
from ..values import NARROW, Held

#: The longest ranges that are computed while the graph is built, and the largest arrays of one value.
MOST_NUMBERS, MOST_FOLDED = 1 << 24, 1 << 16


@onnx_converter("Constant")
def constant(node: OnnxNode) -> Any:
    """A value that stands in the node."""
    if "sparse_value" in node.attributes:
        sparse = node.get("sparse_value")
        values, places = node.tensor(sparse.values), node.tensor(sparse.indices)
        made = np.zeros(tuple(sparse.dims), values.dtype)
        if places.ndim == 1:
            made.reshape(-1)[places] = values
        else:
            made[tuple(places.T)] = values
        return Held(made)
    for name, kind in (("value_float", np.float32), ("value_floats", np.float32), ("value_int", np.int64), ("value_ints", np.int64),
                       ("value_string", object), ("value_strings", object)):
        if name in node.attributes:
            return Held(np.asarray(node.get(name), kind))
    tensor = node.get("value")
    return Held(node.tensor(tensor), code=tensor.data_type if tensor.data_type in NARROW else 0)


@onnx_converter("ConstantOfShape")
def constant_of_shape(node: OnnxNode, sizes: Any) -> Any:
    """One value in a shape."""
    value = node.tensor(node.get("value")).reshape(-1)[0] if "value" in node.attributes else np.float32(0)
    known = node.known(0)
    if known is not None and np.prod(known, dtype=np.float64) <= MOST_FOLDED:
        return np.full(tuple(int(n) for n in known), value)
    return node.op("base.fill", sizes, DataType.of(value.dtype), float(value) if value.dtype.kind == "f" else int(value))


@onnx_converter("EyeLike")
def eye_like(node: OnnxNode, x: Any) -> Any:
    """Ones on a diagonal, in the shape of a matrix."""
    rows, columns = x.shape
    return np.eye(int(rows), int(columns), node.get("k", 0), node.dtype("dtype", x.dtype))


@onnx_converter("Range")
def range_(node: OnnxNode, start: Any, limit: Any, delta: Any) -> Any:
    """Numbers of equal distance."""
    known = [node.known(i) for i in range(3)]
    if all(k is not None for k in known):
        a, b, d = (np.asarray(k).reshape(-1)[0] for k in known)
        if not d or not abs((float(b) - float(a)) / float(d)) < MOST_NUMBERS:
            raise node.refuse(f"a range from {a} to {b} by {d}")
        return (a + np.arange(max(int(np.ceil((b - a) / d)), 0)) * d).astype(start.dtype)
    first, last, step = (node.xp.reshape(v, ()) for v in (start, limit, delta))
    wide = np.float64 if start.dtype.kind in "iu" or start.dtype.itemsize > 4 else start.dtype
    count = node.xp.maximum(node.xp.ceil((last.astype(wide) - first.astype(wide)) / step.astype(wide)), 0).astype(np.int64)
    places = node.op("base.range", node.array(np.int64(0)), count, node.array(np.int64(1)), DataType.LONG)
    return places.astype(start.dtype) * step + first


@onnx_converter("Trilu")
def trilu(node: OnnxNode, x: Any, k: Any = None) -> Any:
    """The upper or lower triangle of matrices."""
    offset = int(np.asarray(node.value(1, "k")).reshape(-1)[0]) if node.has(1) else 0
    rows, columns = (iota(node, x, -2), iota(node, x, -1))
    keep = columns - rows >= offset if node.flag("upper", True) else columns - rows <= offset
    return node.xp.where(keep, x, x.dtype.type(0))


def iota(node: OnnxNode, x: Any, axis: int) -> Any:
    """The position along an axis, in as many axes as x has; the others have size 1 where the size is known."""
    axis %= x.ndim
    if isinstance(x.shape[axis], int):
        return np.arange(x.shape[axis]).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return node.op("base.cumsum", node.xp.ones_like(x, dtype=np.int64), axis) - 1


@same_for("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", notes="numbers of this library; `seed` is passed over")
def random(node: OnnxNode, like: Any = None) -> Any:
    """Random numbers."""
    sizes = tuple(int(n) for n in (node.get("shape") if like is None else like.shape))
    dtype = DataType.of(node.dtype("dtype", np.dtype(np.float32) if like is None else like.dtype))
    if "Normal" in node.op_type:
        return node.op("random.normal", node.get("mean", 0.0), node.get("scale", 1.0), dtype, *sizes)
    return node.op("random.uniform", node.get("low", 0.0), node.get("high", 1.0), dtype, *sizes)


@onnx_converter("Bernoulli", notes="as for RandomUniform")
def bernoulli(node: OnnxNode, x: Any) -> Any:
    """1 with a probability, else 0."""
    drawn = node.op("random.uniform", 0.0, 1.0, DataType.of(x.dtype), *(int(n) for n in x.shape))
    return (drawn < x).astype(node.dtype("dtype", x.dtype))


@onnx_converter("Multinomial", notes="as for RandomUniform")
def multinomial(node: OnnxNode, x: Any) -> Any:
    """Classes drawn by their log-probabilities, by Gumbel's way."""
    batch, classes = (int(n) for n in x.shape)
    drawn = node.op("random.uniform", 1e-7, 1.0, DataType.of(x.dtype), batch, node.get("sample_size", 1), classes)
    found = node.xp.argmax(node.xp.expand_dims(x, 1) - node.xp.log(-node.xp.log(drawn)), axis=-1)
    return found.astype(node.dtype("dtype", np.dtype(np.int32)))


@same_for("HannWindow", "HammingWindow", "BlackmanWindow")
def window(node: OnnxNode, size: Any) -> Any:
    """Weights of a window of a signal."""
    n = int(np.asarray(node.value(0, "size")).reshape(-1)[0])
    dtype = node.dtype("output_datatype", np.dtype(np.float32))
    turn = 2 * np.pi * np.arange(n) / (n if node.flag("periodic", True) else n - 1)
    terms = {"HannWindow": (0.5, 0.5, 0.0), "HammingWindow": (25 / 46, 21 / 46, 0.0), "BlackmanWindow": (0.42, 0.5, 0.08)}[node.op_type]
    return (terms[0] - terms[1] * np.cos(turn) + terms[2] * np.cos(2 * turn)).astype(dtype)


@onnx_converter("MelWeightMatrix")
def mel_weights(node: OnnxNode, *inputs: Any) -> Any:
    """Triangular filters on the mel scale, from the lines of a spectrum."""
    bands, length, rate, low, high = (np.asarray(node.value(i, "a parameter")).reshape(-1)[0] for i in range(5))
    lines = int(length) // 2 + 1
    edges = np.linspace(2595 * np.log10(1 + low / 700), 2595 * np.log10(1 + high / 700), int(bands) + 2, endpoint=False)
    bins = ((int(length) + 1) * (700 * (10 ** (edges / 2595) - 1)) // rate).astype(int)
    made = np.zeros((lines, int(bands)))
    for i in range(int(bands)):
        first, middle, last = bins[i:i + 3]
        if middle == first:
            made[middle, i] = 1
        for k in range(first, middle + (middle != first)):
            made[k, i] = (k - first) / (middle - first)
        for k in range(middle, last):
            made[k, i] = (last - k) / (last - middle)
    return made.astype(node.dtype("output_datatype", np.dtype(np.float32)))
