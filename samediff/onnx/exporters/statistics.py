"""Means, variances and what is normalized by them."""
from __future__ import annotations

from typing import Any

import ml_dtypes

from ...base.datatype import DataType
from ...base.spec import normalize_axes
from ..export_graph import OnnxGraph, Value
from ..export_table import onnx_exporter
from .reductions import axes_of, reduced


def _centred(g: OnnxGraph, x: Value, axes: Value) -> tuple[Value, Value]:
    """The mean, its axes kept, and the distances from it."""
    mean = reduced(g, "ReduceMean", x, axes, True)
    return mean, Value(g.node("Sub", x, mean).name, x.spec)


def _variance(g: OnnxGraph, rest: Value, axes: Value, keep: bool) -> Value:
    return reduced(g, "ReduceMean", Value(g.node("Mul", rest, rest).name, rest.spec), axes, keep)


def _floating(g: OnnxGraph, x: Value) -> Value:
    kind = x.dtype if x.dtype.is_floating else DataType.FLOAT
    return Value(g.name(g.cast(x, kind)), x.spec.with_dtype(kind))


@onnx_exporter("var", "std")
def variance(g: OnnxGraph, op: Any, x: Value, axes: Value | None = None) -> Any:
    x, gone = _floating(g, x), axes_of(g, op, x, axes)
    rest = _centred(g, x, gone)[1]
    found = _variance(g, rest, gone, op.keep_dims)
    if op.bias_corrected:
        total = reduced(g, "ReduceSum", Value(g.node("Mul", rest, rest).name, rest.spec), gone, op.keep_dims)
        ones = Value(g.name(g.filled(1, x.dtype, g.shape(x))), x.spec)
        count = reduced(g, "ReduceSum", ones, gone, op.keep_dims)
        found = g.node("Div", total, g.node("Max", g.node("Sub", count, g.constant(1, x.dtype)), g.constant(0, x.dtype)))
    return g.node("Sqrt", found) if op.id == "std" else found


@onnx_exporter("moments")
def moments(g: OnnxGraph, op: Any, x: Value, axes: Value | None = None) -> Any:
    x, gone = _floating(g, x), axes_of(g, op, x, axes)
    rest = _centred(g, x, gone)[1]
    return reduced(g, "ReduceMean", x, gone, op.keep_dims), _variance(g, rest, gone, op.keep_dims)


def standardized(g: OnnxGraph, x: Value, axes: Value) -> Value:
    """(x - mean) / deviation, 0 where the deviation is."""
    rest = _centred(g, x, axes)[1]
    deviation = g.node("Sqrt", _variance(g, rest, axes, True))
    held = g.node("Greater", deviation, g.constant(1 / float(ml_dtypes.finfo(x.dtype.numpy).max), x.dtype),  # type: ignore[no-untyped-call]
                  dtype=DataType.BOOL)
    one, zero = g.constant(1, x.dtype), g.constant(0, x.dtype)
    divisor = g.node("Where", held, deviation, one, dtype=x.dtype)
    scale = g.node("Where", held, g.node("Div", one, divisor), zero, dtype=x.dtype)
    return Value(g.node("Mul", rest, scale).name, x.spec)


@onnx_exporter("standardize", "standardized_axes")
def standardize(g: OnnxGraph, op: Any, x: Value) -> Any:
    return standardized(g, x, g.ints(*normalize_axes(op.dimensions if op.id == "standardize" else op.axes, x.rank)))


@onnx_exporter("layer_norm")
def layer_normalization(g: OnnxGraph, op: Any, x: Value, gain: Value | None = None, bias: Value | None = None) -> Any:
    y = standardized(g, x, g.ints(*normalize_axes(op.dimensions, x.rank)))
    channels = [-1 if i == op.axis % x.rank else 1 for i in range(x.rank)]
    y = y if gain is None else g.node("Mul", y, g.reshape(gain, *channels))
    return y if bias is None else g.node("Add", y, g.reshape(bias, *channels))


@onnx_exporter("batch_norm_inference")
def batch_normalization(g: OnnxGraph, op: Any, x: Value, mean: Value, variance: Value, gamma: Value | None = None,
                        beta: Value | None = None) -> Any:
    if x.rank < 2 or op.axis % x.rank != 1 or x.shape[1] == -1:
        return None
    channels = g.ints(x.shape[1])
    gamma = g.filled(1, x.dtype, channels) if gamma is None else g.reshape(gamma, -1)
    beta = g.filled(0, x.dtype, channels) if beta is None else g.reshape(beta, -1)
    made = g.node("BatchNormalization", x, gamma, beta, g.reshape(mean, -1), g.reshape(variance, -1), epsilon=float(op.epsilon))
    return made, mean, variance
