"""Convolutions and their transposes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..export_graph import OnnxGraph, Value
from ..export_table import NotSayableError, onnx_exporter
from .windows import first, last, paddings


def weights_first(g: OnnxGraph, w: Value, layout: str, out_first: bool = True) -> Value:
    """Weights in the order (out, in, kernel), or (in, out, kernel)."""
    n = w.rank - 2
    order = {"YXIO": (n + 1, n, *range(n)), "OIYX": range(n + 2), "OYXI": (0, n + 1, *range(1, n + 1))}[layout]
    out, given, *kernel = order
    return g.transpose(w, *((out, given) if out_first else (given, out)), *kernel)


def convolved(g: OnnxGraph, geometry: Any, x: Value, w: Value, bias: Value | None = None) -> Value:
    """The cross-correlation of images with weights."""
    geometry = geometry.of(w.static)
    window = geometry.window
    images, pads = paddings(g, window, x, geometry.channels_last)
    kernel, given, out = geometry.weight_sizes(w.static)
    weights = weights_first(g, w, geometry.weights_format)
    if geometry.depthwise:
        weights = g.reshape(g.transpose(weights, 1, 0, *range(2, w.rank)), given * out, 1, *kernel)
    made = g.node("Conv", images, weights, None if bias is None else g.reshape(bias, -1), kernel_shape=list(kernel),
                  strides=list(window.stride), dilations=list(window.dilation), group=given if geometry.depthwise else None, **pads)
    return last(g, made, x.rank, geometry.channels_last)


@onnx_exporter("conv1d", "conv2d", "conv3dnew", "depthwise_conv2d", "pointwise_conv2d")
def convolution(g: OnnxGraph, op: Any, x: Value, w: Value, bias: Value | None = None) -> Any:
    return convolved(g, getattr(op, "target_op", lambda: op)().geometry(w.static), x, w, bias)


@onnx_exporter("convolution")
def bare_convolution(g: OnnxGraph, op: Any, x: Value, w: Value) -> Any:
    return convolved(g, op.geometry, x, w)


def transposed(g: OnnxGraph, geometry: Any, x: Value, w: Value, sizes: Sequence[int], bias: Value | None = None) -> Value:
    """The transpose of a convolution; ``sizes`` are those of the result."""
    window = geometry.of(w.static).window
    pads: list[list[int]] = [[], []]
    more = []
    for i, n in enumerate(sizes):
        given = x.shape[i + 1 if geometry.channels_last else i + 2]
        front = window.padding[i] if window.mode == "VALID" else window.extent(i) - 1 if window.mode == "CAUSAL" else None
        if -1 in (n, given):                # every size gives the same where it is a multiple of the stride
            missing = 2 * window.padding[i] if window.mode == "VALID" else window.extent(i) - window.stride[i]
        else:
            missing = window.stride[i] * (given - 1) + window.extent(i) - n
        front = max(missing, 0) // 2 if front is None else front
        if front > max(missing, 0):
            raise NotSayableError("a padding larger than the kernel reaches")
        pads[0].append(front)
        pads[1].append(max(missing - front, 0))
        more.append(max(-missing, 0))
    if window.mode == "SAME" and any(more):
        raise NotSayableError("windows that leave out cells between them")
    kernel, given, out = geometry.of(w.static).weight_sizes(w.static)
    weights = weights_first(g, w, geometry.weights_format)
    if geometry.depthwise:
        weights = g.reshape(g.transpose(weights, 1, 0, *range(2, w.rank)), given * out, 1, *kernel)
    made = g.node("ConvTranspose", first(g, x, geometry.channels_last), weights, None if bias is None else g.reshape(bias, -1),
                  kernel_shape=list(kernel), strides=list(window.stride), dilations=list(window.dilation), pads=pads[0] + pads[1],
                  output_padding=more if any(more) else None, group=given if geometry.depthwise else None)
    return last(g, made, x.rank, geometry.channels_last)


@onnx_exporter("deconv2d", "deconv3d")
def deconvolution(g: OnnxGraph, op: Any, x: Value, w: Value, bias: Value | None = None) -> Any:
    return transposed(g, op.geometry(w.static), x, w, op.sizes(op.result(x.shape, w.static)), bias)


@onnx_exporter("deconv2d_tf")
def deconvolution_to(g: OnnxGraph, op: Any, shape: Value, w: Value, x: Value) -> Any:
    sizes = g.numbers(shape, "the shape of the result")
    return transposed(g, op.convolution().geometry(w.static), x, w, sizes[1:-1] if op.channels_last else sizes[2:])


@onnx_exporter("convolution_data_grad")
def data_gradient(g: OnnxGraph, op: Any, w: Value, upstream: Value, x: Value) -> Any:
    return transposed(g, op.geometry, upstream, w, x.static[1:-1] if op.geometry.channels_last else x.static[2:])
