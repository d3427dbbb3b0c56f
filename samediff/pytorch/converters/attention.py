"""Attention."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from .table import aten


@aten("scaled_dot_product_attention")
def attention(node: OnnxNode, query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
              scale: float | None = None, enable_gqa: bool = False) -> Any:
    """Values weighted by softmax(query key / sqrt(size)); masks add to the scores, or say which count."""
    if enable_gqa:
        each = query.shape[-3] // key.shape[-3]
        key, value = (node.xp.repeat(v, each, axis=v.ndim - 3) for v in (key, value))
    size = query.shape[-1]
    scores = node.xp.matmul(query * (1 / math.sqrt(size) if scale is None else scale), node.xp.swapaxes(key, -1, -2))
    least = scores.dtype.type(np.finfo(scores.dtype).min)
    if is_causal:
        rows, columns = query.shape[-2], key.shape[-2]
        if not isinstance(rows, int) or not isinstance(columns, int):
            raise node.refuse("is_causal needs numbers of steps that are known")
        attn_mask = node.array(np.tri(rows, columns, dtype=np.bool_))
    if attn_mask is not None:
        scores = node.xp.where(attn_mask, scores, least) if attn_mask.dtype.kind == "b" else scores + attn_mask
    weights = node.op("nn.softmax", scores, scores.ndim - 1)
    if dropout_p:
        weights = node.op("nn.dropout_inverted", weights, 1.0 - dropout_p)
    return node.xp.matmul(weights, value)
