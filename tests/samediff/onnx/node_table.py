"""Nodes of many operators and versions, with what they give."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Row(NamedTuple):
    """A node, and its expected outputs."""

    name: str
    operator: str
    version: int
    arrays: dict[str, Any]
    held: dict[str, Any]
    attributes: dict[str, Any]
    expected: list[Any]
    order: str = ""


_RANDOM = np.random.default_rng(5)
X = _RANDOM.standard_normal((2, 3, 4)).astype(np.float32)
IMAGES = _RANDOM.standard_normal((2, 4, 5, 6)).astype(np.float32)


def _softmax(x: Any, axes: Any) -> Any:
    e = np.exp(x - x.max(axis=axes, keepdims=True))
    return e / e.sum(axis=axes, keepdims=True)


def _pool(x: Any, k: int, reduce: Any) -> Any:
    n, c, h, w = x.shape
    return reduce(x[:, :, :h // k * k, :w // k * k].reshape(n, c, h // k, k, w // k, k), axis=(3, 5))


def _conv(x: Any, w: Any, groups: int = 1) -> Any:
    out, inner, kh, kw = w.shape
    h, v = x.shape[2] - kh + 1, x.shape[3] - kw + 1
    made = np.zeros((x.shape[0], out, h, v))
    for o in range(out):
        g = o // (out // groups)
        for i in range(h):
            for j in range(v):
                made[:, o, i, j] = (x[:, g * inner:(g + 1) * inner, i:i + kh, j:j + kw] * w[o]).sum(axis=(1, 2, 3))
    return made.astype(np.float32)


W = _RANDOM.standard_normal((4, 2, 3, 3)).astype(np.float32)
DEPTH = _RANDOM.standard_normal((8, 1, 2, 2)).astype(np.float32)
I64 = np.int64


def row(name: str, operator: str, version: int, arrays: dict[str, Any], expected: Any, held: dict[str, Any] | None = None, order: str = "",
        **attributes: Any) -> Row:
    """A row; one expected output may stand alone."""
    return Row(name, operator, version, arrays, held or {}, attributes, expected if isinstance(expected, list) else [expected], order)


ROWS = [
    row("relu", "Relu", 7, {"x": X}, np.maximum(X, 0)),
    row("softmax of version 9", "Softmax", 9, {"x": X}, _softmax(X, (1, 2))),
    row("softmax", "Softmax", 13, {"x": X}, _softmax(X, 1), axis=1),
    row("log_softmax of version 9", "LogSoftmax", 9, {"x": X}, np.log(_softmax(X, (1, 2)))),
    row("clip by attributes", "Clip", 7, {"x": X}, np.clip(X, -0.5, 0.5), min=-0.5, max=0.5),
    row("clip by inputs", "Clip", 13, {"x": X}, np.minimum(X, 0.5), {"high": np.float32(0.5)}, "x,,high"),
    row("sum over an attribute", "ReduceSum", 11, {"x": X}, X.sum(axis=1, keepdims=True), axes=[1]),
    row("sum over an input", "ReduceSum", 13, {"x": X}, X.sum(axis=1), {"axes": I64([1])}, keepdims=0),
    row("mean over all", "ReduceMean", 13, {"x": X}, X.mean(keepdims=True)),
    row("squeeze of version 11", "Squeeze", 11, {"x": X[:, :1]}, X[:, 0], axes=[1]),
    row("squeeze", "Squeeze", 13, {"x": X[:, :1]}, X[:, 0], {"axes": I64([1])}),
    row("unsqueeze of version 11", "Unsqueeze", 11, {"x": X}, X[:, None, :, None], axes=[1, 3]),
    row("unsqueeze", "Unsqueeze", 13, {"x": X}, X[..., None], {"axes": I64([-1])}),
    row("slice of version 9", "Slice", 9, {"x": X}, X[:, 1:, :2], starts=[1, 0], ends=[100, -2], axes=[1, 2]),
    row("slice backwards", "Slice", 13, {"x": X}, X[:, ::-1], {"s": I64([-1]), "e": I64([-100]), "a": I64([1]), "t": I64([-1])}),
    row("slice to a computed end", "Slice", 13, {"x": X, "s": I64([1]), "e": I64([3])}, X[:, :, 1:3], {"a": I64([2])}),
    row("split of version 11", "Split", 11, {"x": X}, [X[..., :1], X[..., 1:]], axis=2, split=[1, 3]),
    row("split", "Split", 18, {"x": X}, [X[:, :2], X[:, 2:]], axis=1, num_outputs=2),
    row("pad of version 2", "Pad", 10, {"x": X}, np.pad(X, ((0, 0), (1, 0), (0, 2)), constant_values=1.5), pads=[0, 1, 0, 0, 0, 2],
        value=1.5),
    row("pad with what is there", "Pad", 19, {"x": X}, np.pad(X, ((0, 0), (1, 1), (0, 0)), "wrap"), {"p": I64([0, 1, 0, 0, 1, 0])},
        mode="wrap"),
    row("pad by less", "Pad", 18, {"x": X}, X[:, 1:], {"p": I64([-1, 0]), "v": np.float32(0), "a": I64([1])}),
    row("top of version 1", "TopK", 9, {"x": X}, [-np.sort(-X, axis=2)[..., :2], np.argsort(-X, axis=2)[..., :2]], k=2, axis=2),
    row("smallest", "TopK", 11, {"x": X}, [np.sort(X, axis=1)[:, :2], np.argsort(X, axis=1)[:, :2]], {"k": I64([2])}, axis=1, largest=0),
    row("upsample", "Upsample", 9, {"x": IMAGES}, IMAGES.repeat(2, axis=2).repeat(2, axis=3), {"s": np.float32([1, 1, 2, 2])}),
    row("resize of version 10", "Resize", 10, {"x": IMAGES}, IMAGES.repeat(2, axis=3), {"s": np.float32([1, 1, 1, 2])}),
    row("resize to sizes", "Resize", 19, {"x": IMAGES}, IMAGES.repeat(2, axis=2), {"z": I64([2, 4, 10, 6])}, "x,,,z"),
    row("dropout", "Dropout", 13, {"x": X}, X, {"r": np.float32(0.4)}),
    row("multiply with an axis", "Mul", 6, {"x": X, "y": X[0, :, 0]}, X * X[0, :, 0][:, None], broadcast=1, axis=1),
    row("power of another type", "Pow", 13, {"x": np.float32([1, 2, 3]), "y": I64([2, 0, 3])}, np.float32([1, 1, 27])),
    row("whole division", "Div", 14, {"x": np.int32([7, -7, 9]), "y": np.int32([2, 2, -4])}, np.int32([3, -3, -2])),
    row("remainders of C", "Mod", 13, {"x": np.int32([-7, 7]), "y": np.int32([3, -3])}, np.int32([-1, 1]), fmod=1),
    row("rows by negative places", "Gather", 13, {"x": X, "i": I64([[-1, 0]])}, X[:, [[-1, 0]]], axis=1),
    row("elements", "GatherElements", 13, {"x": X, "i": I64([[[0, -1, 2, 1]]])}, np.take_along_axis(X[:1, :1], I64([[[0, -1, 2, 1]]]), 2),
        axis=2),
    row("scattered maxima", "ScatterElements", 18, {"x": np.float32([1, 2, 3]), "i": I64([1, 1, -1]), "u": np.float32([5, 4, 1])},
        np.float32([1, 5, 3]), reduction="max"),
    row("scattered slices", "ScatterND", 18,
        {"x": np.zeros((3, 2), np.float32), "i": I64([[2], [0], [2]]), "u": np.ones((3, 2), np.float32)},
        np.float32([[1, 1], [0, 0], [2, 2]]), reduction="add"),
    row("one hot", "OneHot", 11, {"i": I64([0, -1])}, np.float32([[5, 2, 2], [2, 2, 5]]), {"d": I64(3), "v": np.float32([2, 5])}),
    row("non-zero", "NonZero", 13, {"x": np.float32([[1, 0], [3, 4]])}, I64([[0, 1, 1], [0, 0, 1]])),
    row("distinct", "Unique", 11, {"x": np.float32([3, 1, 3, 2])},
        [np.float32([1, 2, 3]), I64([1, 3, 0]), I64([2, 0, 2, 1]), I64([1, 1, 2])]),
    row("triangle", "Trilu", 14, {"x": X}, np.tril(X, 1), {"k": I64(1)}, upper=0),
    row("running sum", "CumSum", 14, {"x": X}, X[:, ::-1].cumsum(axis=1)[:, ::-1], {"a": I64(1)}, reverse=1),
    row("gemm", "Gemm", 13, {"a": X[0], "b": X[1]}, (0.5 * X[0].T @ X[1] + 2).astype(np.float32), {"c": np.float32([1])},
        transA=1, alpha=0.5, beta=2.0),
    row("einsum", "Einsum", 12, {"a": X, "b": X}, np.einsum("bij,bkj->bik", X, X), equation="bij, bkj -> bik"),
    row("batch norm", "BatchNormalization", 9, {"x": IMAGES}, (IMAGES - 1) / np.sqrt(np.float32(4) + 1e-5) * 2 + 3,
        {n: np.full(4, v, np.float32) for n, v in zip("sbmv", (2, 3, 1, 4))}),
    row("convolution of groups", "Conv", 11, {"x": IMAGES}, _conv(IMAGES, W, 2), {"w": W}, group=2),
    row("convolution of channels", "Conv", 11, {"x": IMAGES}, _conv(IMAGES, DEPTH, 4), {"w": DEPTH}, group=4),
    row("convolution of uneven padding", "Conv", 11, {"x": IMAGES[:, :2]},
        _conv(np.pad(IMAGES[:, :2], ((0, 0), (0, 0), (1, 0), (0, 2))), W), {"w": W}, pads=[1, 0, 0, 2]),
    row("maximum of windows", "MaxPool", 12, {"x": IMAGES}, _pool(IMAGES, 2, np.max), kernel_shape=[2, 2], strides=[2, 2]),
    row("mean of windows", "AveragePool", 11, {"x": IMAGES}, _pool(IMAGES, 2, np.mean), kernel_shape=[2, 2], strides=[2, 2]),
    row("channels to cells", "DepthToSpace", 13, {"x": IMAGES},
        IMAGES.reshape(2, 1, 2, 2, 5, 6).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 10, 12), blocksize=2, mode="CRD"),
    row("quantised", "QuantizeLinear", 13, {"x": np.float32([-1, 0.24, 0.26, 99])}, np.uint8([126, 128, 129, 255]),
        {"s": np.float32(0.5), "z": np.uint8(128)}),
    row("real again", "DequantizeLinear", 13, {"x": np.int8([-4, 6])}, np.float32([-3, 2]), {"s": np.float32(0.5), "z": np.int8(2)}),
    row("whole products", "MatMulInteger", 10, {"a": np.uint8([[3, 4]]), "b": np.uint8([[1], [2]])}, np.int32([[8]]), {"z": np.uint8(1)}),
    row("an image between cells", "GridSample", 16, {"x": np.float32([[[[1, 3]]]]), "g": np.float32([[[[0, 0]]]])}, np.float32([[[[2]]]])),
    row("scaled", "Scaler", 20, {"x": X[0]}, (X[0] - 1) * 2, offset=[1.0], scale=[2.0]),
]
