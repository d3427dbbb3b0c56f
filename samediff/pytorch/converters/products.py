"""Products of matrices, and normalizations."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from .shapes import reshaped
from .table import aten, standard


@aten("linear")
def linear(node: OnnxNode, x: Any, weight: Any, bias: Any = None) -> Any:
    """x times the weights, which stand as (results, inputs)."""
    if x.ndim == 2:
        columns = node.xp.transpose(weight)
        return node.op("nn.linear", x, columns, bias) if bias is not None else node.xp.matmul(x, columns)
    made = node.xp.matmul(x, node.xp.transpose(weight))
    return made if bias is None else made + bias


@aten("matmul", "mm", "bmm", "mv", "dot", "inner")
def matmul(node: OnnxNode, x: Any, y: Any) -> Any:
    """A product of matrices or vectors."""
    return node.xp.matmul(x, y)


@aten("addmm", "baddbmm", "addbmm", "addmv")
def addmm(node: OnnxNode, added: Any, x: Any, y: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """A product and something more."""
    made = node.xp.matmul(x, y)
    made = node.xp.sum(made, axis=0) if node.op_type == "aten.addbmm" else made
    made = made if alpha == 1 else made * alpha
    return made + (added if beta == 1 else added * beta)


@aten("outer", "ger")
def outer(node: OnnxNode, x: Any, y: Any) -> Any:
    """All products of two vectors."""
    return node.xp.outer(x, y)


@aten("einsum")
def einsum(node: OnnxNode, equation: str, tensors: Any, path: Any = None) -> Any:
    """Sums of products by letters."""
    return node.xp.einsum(equation, *tensors)


@aten("bilinear")
def bilinear(node: OnnxNode, x: Any, y: Any, weight: Any, bias: Any = None) -> Any:
    """For each result the sum of weights times pairs of elements."""
    made = node.xp.einsum("...i,oij,...j->...o", x, weight, y)
    return made if bias is None else made + bias


@aten("cosine_similarity")
def cosine_similarity(node: OnnxNode, x: Any, y: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors."""
    def length(v: Any) -> Any:
        return node.xp.sqrt(node.xp.maximum(node.xp.sum(v * v, axis=dim), x.dtype.type(eps * eps)))
    return node.xp.sum(x * y, axis=dim) / (length(x) * length(y))


@aten("batch_norm", "instance_norm")
def batch_norm(node: OnnxNode, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, training: bool, momentum: float, eps: float,
               cudnn_enabled: bool = False) -> Any:
    """Channels normalized by running statistics, which are constants, or by their own."""
    channels = x.shape[1]
    weight = np.ones(channels, x.dtype) if weight is None else weight
    bias = np.zeros(channels, x.dtype) if bias is None else bias
    if node.op_type == "aten.instance_norm":
        if not training:
            return standard(node, "BatchNormalization", x, weight, bias, mean, variance, epsilon=eps)
        return standard(node, "InstanceNormalization", x, weight, bias, epsilon=eps)
    if training or mean is None:
        made = standard(node, "BatchNormalization", x, weight, bias, np.zeros(channels, x.dtype), np.ones(channels, x.dtype),
                        epsilon=eps, training_mode=1)
        return made[0]
    return standard(node, "BatchNormalization", x, weight, bias, mean, variance, epsilon=eps)


@aten("_native_batch_norm_legit_no_training")
def native_batch_norm(node: OnnxNode, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, eps: float) -> Any:
    """Channels normalized by running statistics."""
    return batch_norm(node, x, weight, bias, mean, variance, False, momentum, eps), None, None


@aten("layer_norm", "rms_norm")
def layer_norm(node: OnnxNode, x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float | None = 1e-5,
               cudnn_enable: bool = True) -> Any:
    """The last axes normalized, times a scale, plus a bias."""
    if node.op_type == "aten.rms_norm":
        eps, bias = (bias if isinstance(bias, float) else None), None
        eps = float(np.finfo(x.dtype).eps) if eps is None else eps
        axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
        made = x / node.xp.sqrt(node.xp.mean(x * x, axis=axes, keepdims=True) + eps)
        return made if weight is None else made * weight
    scale = np.ones(tuple(normalized_shape), x.dtype) if weight is None else weight
    return standard(node, "LayerNormalization", x, scale, bias, axis=-len(normalized_shape), epsilon=eps)[0]


@aten("group_norm")
def group_norm(node: OnnxNode, x: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5,
               cudnn_enabled: bool = True) -> Any:
    """Groups of channels normalized."""
    parts = reshaped(node, x, [x.shape[0], num_groups, math.prod(x.shape[1:]) // num_groups])
    away = parts - node.xp.mean(parts, axis=2, keepdims=True)
    made = reshaped(node, away / node.xp.sqrt(node.xp.mean(away * away, axis=2, keepdims=True) + eps), x.shape)
    shape = (1, -1, *[1] * (x.ndim - 2))
    made = made if weight is None else made * node.xp.reshape(weight, shape)
    return made if bias is None else made + node.xp.reshape(bias, shape)
