"""Whole numbers in place of real ones, by their definition."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..node import OnnxNode
from ..registry import onnx_converter
from ..values import NARROW, NARROW_FLOATING, NARROW_WHOLE
from .casting import rounded
from .convolution import convolved


def _spread(node: OnnxNode, v: Any, x: Any, axis: int, block: int) -> Any:
    """A scale or zero point in a shape that fits x: one, one for each place of an axis, or one for each block of it."""
    if v is None or not v.ndim or (v.ndim == 1 and v.shape[0] == 1 and not block):
        return v if v is None or not v.ndim else node.xp.reshape(v, ())
    if block:
        repeated = node.xp.repeat(v, block, axis=axis)
        return repeated[(slice(None),) * axis + (slice(0, x.shape[axis]),)]
    return node.xp.reshape(v, [-1 if i == axis else 1 for i in range(x.ndim)])


def quantized(node: OnnxNode, x: Any, scale: Any, zero: Any, kind: Any, code: int = 0) -> Any:
    """round(x / scale) + zero, between the bounds of a type."""
    if code in NARROW_FLOATING:
        made = (x / scale).astype(np.float32)
        return node.marked(rounded(node, made if zero is None else made + zero, code, node.flag("saturate", True)), code)
    low, high = NARROW_WHOLE.get(code, (np.iinfo(kind).min, np.iinfo(kind).max))
    made = node.xp.rint(x / scale)
    if zero is not None:
        made = made + zero.astype(made.dtype)
    made = node.xp.clip(made, float(low), float(high)).astype(np.int32).astype(kind)
    return node.marked(made, code) if code else made


@onnx_converter("QuantizeLinear", notes="narrow types as for Cast")
def quantize(node: OnnxNode, x: Any, scale: Any, zero: Any = None) -> Any:
    """Whole numbers for real ones."""
    kind = zero.dtype if zero is not None else node.dtype("output_dtype", np.dtype(np.uint8))
    code = node.code(2) if zero is not None else node.get("output_dtype", 0)
    axis, block = node.get("axis", 1) % max(x.ndim, 1), node.get("block_size", 0)
    wide = node.dtype("precision", scale.dtype if scale.dtype.kind == "f" else np.dtype(np.float32))
    x, scale = x.astype(wide), scale.astype(wide)
    scale, zero = _spread(node, scale, x, axis, block), _spread(node, zero, x, axis, block)
    return quantized(node, x, scale, zero, kind, code if code in NARROW else 0)


@onnx_converter("DequantizeLinear", notes="narrow types as for Cast")
def dequantize(node: OnnxNode, x: Any, scale: Any, zero: Any = None) -> Any:
    """Real numbers for whole ones."""
    axis, block = node.get("axis", 1) % max(x.ndim, 1), node.get("block_size", 0)
    wide = x if x.dtype.kind == "f" else x.astype(np.int32)
    if zero is not None:
        wide = wide - _spread(node, zero, x, axis, block).astype(wide.dtype)
    return (wide.astype(scale.dtype) * _spread(node, scale, x, axis, block)).astype(node.dtype("output_dtype", scale.dtype))


def _moved(node: OnnxNode, x: Any, zero: Any, rows: bool) -> Any:
    """Whole numbers less their zero point, one for all or one for each row (or column)."""
    made = x.astype(np.int32)
    if zero is None:
        return made
    zero = zero.astype(np.int32)
    if zero.ndim == 1 and zero.shape[0] != 1:
        zero = node.xp.expand_dims(zero, 1) if rows else zero
    elif zero.ndim == 1:
        zero = node.xp.reshape(zero, ())
    return made - zero


@onnx_converter("MatMulInteger")
def matmul_integer(node: OnnxNode, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    """The product of whole matrices less their zero points."""
    return node.xp.matmul(_moved(node, a, a_zero, True), _moved(node, b, b_zero, False)).astype(np.int32)


@onnx_converter("QLinearMatMul", notes="8 bits")
def qlinear_matmul(node: OnnxNode, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, scale: Any, zero: Any) -> Any:
    """The product of quantized matrices, quantized again."""
    product = node.xp.matmul(_moved(node, a, a_zero, True), _moved(node, b, b_zero, False)).astype(np.float64)
    rows = node.xp.expand_dims(a_scale, 1) if a_scale.ndim == 1 and a_scale.shape[0] != 1 else a_scale
    factor = (rows.astype(np.float64) * b_scale.astype(np.float64)) / scale.astype(np.float64)
    return quantized(node, product * factor, 1.0, zero, zero.dtype)


def _whole_conv(node: OnnxNode, x: Any, w: Any, x_zero: Any, w_zero: Any) -> Any:
    """A convolution of whole numbers, in DOUBLE, which holds the sums exactly."""
    x = x.astype(np.float64)
    if x_zero is not None:
        x = x - node.xp.reshape(x_zero, ()).astype(np.float64)
    w = w.astype(np.float64)
    if w_zero is not None:
        w = w - node.xp.reshape(w_zero.astype(np.float64), (-1, *[1] * (w.ndim - 1)) if w_zero.ndim and w_zero.shape[0] > 1 else ())
    return convolved(node, x, w)


@onnx_converter("ConvInteger")
def conv_integer(node: OnnxNode, x: Any, w: Any, x_zero: Any = None, w_zero: Any = None) -> Any:
    """The convolution of whole numbers less their zero points."""
    return _whole_conv(node, x, w, x_zero, w_zero).astype(np.int32)


@onnx_converter("QLinearConv", notes="8 bits")
def qlinear_conv(node: OnnxNode, x: Any, x_scale: Any, x_zero: Any, w: Any, w_scale: Any, w_zero: Any, scale: Any, zero: Any,
                 bias: Any = None) -> Any:
    """The convolution of quantized images, quantized again."""
    made = _whole_conv(node, x, w, x_zero, w_zero)
    if bias is not None:
        made = made + node.xp.reshape(bias.astype(np.float64), (1, -1, *[1] * (w.ndim - 2)))
    rows = node.xp.reshape(w_scale, (1, -1, *[1] * (w.ndim - 2))) if w_scale.ndim and w_scale.shape[0] > 1 else node.xp.reshape(w_scale, ())
    factor = rows.astype(np.float64) * node.xp.reshape(x_scale, ()).astype(np.float64) / node.xp.reshape(scale, ()).astype(np.float64)
    return quantized(node, made * factor, 1.0, zero, zero.dtype)
