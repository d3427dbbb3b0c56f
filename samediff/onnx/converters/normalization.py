"""Normalizations and softmaxes."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..node import OnnxNode
from ..registry import onnx_converter, same_for
from .shapes import filled


def _channels(node: OnnxNode, v: Any, x: Any) -> Any:
    return node.xp.reshape(v, (1, -1, *[1] * (x.ndim - 2)))


@onnx_converter("BatchNormalization", notes="running mean and variance are constants; with training_mode the statistics of the batch")
def batch_norm(node: OnnxNode, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
    """Each channel with mean 0 and variance 1, times a scale, plus a bias."""
    epsilon = node.get("epsilon", 1e-5)
    if not node.flag("training_mode"):
        mean, variance = node.frozen(3), node.frozen(4)
        if all(v.dtype == x.dtype for v in (scale, bias, mean, variance)):
            return node.op("nn.batch_norm", x, mean, variance, scale, bias, epsilon, 1)
        return (_normal(node, x, mean, variance, scale, bias, epsilon)).astype(x.dtype)
    axes = (0, *range(2, x.ndim))
    own_mean = node.xp.mean(x, axis=axes)
    centred = x - _channels(node, own_mean, x)
    own_variance = node.xp.mean(centred * centred, axis=axes)
    keep = node.get("momentum", 0.9)
    made = _normal(node, x, own_mean, own_variance, scale, bias, epsilon)
    return made, mean * keep + own_mean * (1 - keep), variance * keep + own_variance * (1 - keep)


def _normal(node: OnnxNode, x: Any, mean: Any, variance: Any, scale: Any, bias: Any, epsilon: float) -> Any:
    factor = scale / node.xp.sqrt(variance + epsilon)
    return (x - _channels(node, mean, x)) * _channels(node, factor, x) + _channels(node, bias, x)


@onnx_converter("InstanceNormalization")
def instance_norm(node: OnnxNode, x: Any, scale: Any, bias: Any) -> Any:
    """Each channel of each image with mean 0 and variance 1."""
    axes = tuple(range(2, x.ndim))
    return _standard(node, x, axes, node.get("epsilon", 1e-5)) * _channels(node, scale, x) + _channels(node, bias, x)


def _standard(node: OnnxNode, x: Any, axes: tuple[int, ...], epsilon: float) -> Any:
    centred = x - node.xp.mean(x, axis=axes, keepdims=True)
    return centred / node.xp.sqrt(node.xp.mean(centred * centred, axis=axes, keepdims=True) + epsilon)


@onnx_converter("LayerNormalization")
def layer_norm(node: OnnxNode, x: Any, scale: Any, bias: Any = None) -> Any:
    """Mean 0 and variance 1 over the last axes, times a scale, plus a bias; mean and inverse deviation on request."""
    axis = node.get("axis", -1) % x.ndim
    axes, kind = tuple(range(axis, x.ndim)), x.dtype
    wide = x.astype(node.dtype("stash_type", np.dtype(np.float32))) if kind.itemsize < 4 else x
    mean = node.xp.mean(wide, axis=axes, keepdims=True)
    centred = wide - mean
    inverse = 1 / node.xp.sqrt(node.xp.mean(centred * centred, axis=axes, keepdims=True) + node.get("epsilon", 1e-5))
    made = (centred * inverse).astype(kind) * scale
    return (made if bias is None else made + bias), mean, inverse


@onnx_converter("RMSNormalization", 23)
def rms_norm(node: OnnxNode, x: Any, scale: Any) -> Any:
    """A mean square of 1 over the last axes, times a scale."""
    axes, kind = tuple(range(node.get("axis", -1) % x.ndim, x.ndim)), x.dtype
    wide = x.astype(node.dtype("stash_type", np.dtype(np.float32))) if kind.itemsize < 4 else x
    made = wide / node.xp.sqrt(node.xp.mean(wide * wide, axis=axes, keepdims=True) + node.get("epsilon", 1e-5))
    return (made.astype(scale.dtype) * scale).astype(scale.dtype)


@onnx_converter("LpNormalization")
def lp_norm(node: OnnxNode, x: Any) -> Any:
    """A norm of 1 along an axis; what is 0 everywhere stays 0."""
    axis = node.get("axis", -1)
    size = node.op("math.abs", x)
    norm = node.xp.sum(size, axis=axis, keepdims=True) if node.get("p", 2) == 1 else node.xp.sqrt(
        node.xp.sum(x * x, axis=axis, keepdims=True))
    return x / node.xp.where(norm == 0, x.dtype.type(1), norm)


@onnx_converter("LRN")
def local_response(node: OnnxNode, x: Any) -> Any:
    """Divided by a power of the squares of neighbouring channels."""
    size, n = node.get("size"), int(x.shape[1])
    squares: Any = 0
    before = (size - 1) // 2
    before, behind = min(before, n - 1), min(size - 1 - before, n - 1)          # farther ones are outside
    wide = filled(node, x * x, [(0, 0), (before, behind), *[(0, 0)] * (x.ndim - 2)], 0)
    for i in range(before + behind + 1):
        squares = wide[:, i:i + n] + squares
    base = squares * (node.get("alpha", 1e-4) / size) + node.get("bias", 1.0)
    return x / base ** node.get("beta", 0.75)


def _as_matrix(node: OnnxNode, x: Any, convert: Any) -> Any:
    """On rows of the axes from one on, as versions below 13 have it."""
    axis = node.get("axis", 1) % max(x.ndim, 1)
    rows = node.xp.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))
    return node.xp.reshape(convert(rows, -1), x.shape)


@same_for("Softmax", "LogSoftmax", "Hardmax")
def softmax(node: OnnxNode, x: Any) -> Any:
    """Shares by exponentials along an axis, their logarithms, or 1 for the first largest element."""
    def hard(v: Any, axis: int) -> Any:
        n = int(v.shape[axis])
        at = node.xp.argmax(v, axis=axis, keepdims=True)
        return (at == np.arange(n).reshape([-1 if i == axis % v.ndim else 1 for i in range(v.ndim)])).astype(v.dtype)

    def convert(v: Any, axis: int) -> Any:
        if node.op_type == "Hardmax":
            return hard(v, axis)
        return node.op("nn.softmax" if node.op_type == "Softmax" else "nn.log_softmax", v, axis)
    if not x.ndim:
        return node.xp.ones_like(x) if node.op_type != "LogSoftmax" else node.xp.zeros_like(x)
    return _as_matrix(node, x, convert) if node.version < 13 else convert(x, node.get("axis", -1) % x.ndim)
