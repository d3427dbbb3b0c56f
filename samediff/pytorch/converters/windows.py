"""Convolutions, pooling, and images of other sizes."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...families.array_code.symbolic_size import SymbolicSize
from ...onnx.node import OnnxNode
from .table import aten, each, standard


def with_batch(node: OnnxNode, x: Any, rank: int, function: Any) -> Any:
    """The function on a batch of one where an image stands alone."""
    if x.ndim == rank + 2:
        return function(x)
    made = function(node.xp.expand_dims(x, 0))
    return tuple(m[0] for m in made) if isinstance(made, tuple) else made[0]


@aten("conv1d", "conv2d", "conv3d")
def conv(node: OnnxNode, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
         groups: int = 1) -> Any:
    """A convolution, of groups of channels on request."""
    rank = weight.ndim - 2
    stride, dilation = each(stride, rank), each(dilation, rank)
    if padding == "same":
        total = [(int(k) - 1) * d for k, d in zip(weight.shape[2:], dilation)]
        pads = [t // 2 for t in total] + [t - t // 2 for t in total]
    else:
        pads = each(0 if padding == "valid" else padding, rank) * 2
    return with_batch(node, x, rank, lambda v: standard(node, "Conv", v, weight, bias, strides=stride, dilations=dilation, pads=pads,
                                                        group=groups))


@aten("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(node: OnnxNode, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                   groups: int = 1, dilation: Any = 1) -> Any:
    """The transpose of a convolution."""
    rank = weight.ndim - 2
    return with_batch(node, x, rank, lambda v: standard(
        node, "ConvTranspose", v, weight, bias, strides=each(stride, rank), dilations=each(dilation, rank), pads=each(padding, rank) * 2,
        output_padding=each(output_padding, rank), group=groups))


@aten("convolution")
def convolution(node: OnnxNode, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                output_padding: Any, groups: int) -> Any:
    """Either of them."""
    if transposed:
        return conv_transpose(node, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv(node, x, weight, bias, stride, padding, dilation, groups)


def _rank(node: OnnxNode) -> int:
    return int(next(c for c in node.op_type if c.isdigit()))


@aten("max_pool1d", "max_pool2d", "max_pool3d")
def max_pool(node: OnnxNode, x: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
             ceil_mode: bool = False) -> Any:
    """The largest value of each window."""
    rank = _rank(node)
    kernel = each(kernel_size, rank)
    return with_batch(node, x, rank, lambda v: standard(
        node, "MaxPool", v, kernel_shape=kernel, strides=each(stride or kernel, rank), pads=each(padding, rank) * 2,
        dilations=each(dilation, rank), ceil_mode=int(ceil_mode)))


@aten("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(node: OnnxNode, x: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
             count_include_pad: bool = True, divisor_override: int | None = None) -> Any:
    """The mean of each window."""
    if divisor_override is not None:
        raise node.refuse("divisor_override")
    rank = _rank(node)
    kernel = each(kernel_size, rank)
    return with_batch(node, x, rank, lambda v: standard(
        node, "AveragePool", v, kernel_shape=kernel, strides=each(stride or kernel, rank), pads=each(padding, rank) * 2,
        ceil_mode=int(ceil_mode), count_include_pad=int(count_include_pad)))


@aten("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
      "adaptive_max_pool3d")
def adaptive_pool(node: OnnxNode, x: Any, output_size: Any) -> Any:
    """So many windows, whatever the size: their means, or their largest values."""
    rank, largest = _rank(node), "max" in node.op_type
    function = node.xp.max if largest else node.xp.mean
    axes = list(range(x.ndim - rank, x.ndim))
    sizes = [x.shape[a] if n is None else n for a, n in zip(axes, output_size if len(output_size) == rank else list(output_size) * rank)]
    if all(n == 1 for n in sizes):
        made = function(x, axis=tuple(axes), keepdims=True)
    else:
        made = x
        for axis, n in zip(axes, sizes):
            made = _divided(node, made, axis, n, function)
    return (made, None) if largest else made


def _divided(node: OnnxNode, x: Any, axis: int, count: int, function: Any) -> Any:
    """One axis as windows of nearly equal lengths."""
    whole = x.shape[axis]
    if isinstance(whole, SymbolicSize):
        raise node.refuse("the sizes of images must be known, or the result have the size 1")
    lead = (slice(None),) * axis
    parts = [function(x[(*lead, slice(i * whole // count, -(-(i + 1) * whole // count)))], axis=axis, keepdims=True) for i in range(count)]
    return parts[0] if count == 1 else node.xp.concatenate(parts, axis=axis)


@aten("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d",
      "_upsample_nearest_exact3d")
def nearest(node: OnnxNode, x: Any, output_size: Any = None, *scales: Any) -> Any:
    """The nearest cells of another size."""
    exact = "exact" in node.op_type
    return _resized(node, x, output_size, scales, mode="nearest",
                    nearest_mode="round_prefer_floor" if exact else "floor",
                    coordinate_transformation_mode="half_pixel" if exact else "asymmetric")


@aten("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d", "_upsample_bilinear2d_aa",
      "_upsample_bicubic2d_aa")
def linear(node: OnnxNode, x: Any, output_size: Any, align_corners: bool, *scales: Any) -> Any:
    """Values between the cells."""
    return _resized(node, x, output_size, scales, mode="cubic" if "cubic" in node.op_type else "linear",
                    antialias=int(node.op_type.endswith("aa")),
                    coordinate_transformation_mode="align_corners" if align_corners else "half_pixel")


def _resized(node: OnnxNode, x: Any, output_size: Any, scales: tuple[Any, ...], **how: Any) -> Any:
    rank = x.ndim - 2
    given = scales[0] if scales and isinstance(scales[0], list) else [s for s in scales if s is not None]
    sizes = output_size
    if any(isinstance(n, SymbolicSize) for n in x.shape[2:]):
        raise node.refuse("the sizes of images must be known")
    if not sizes:
        sizes = [int(np.floor(n * s)) for n, s in zip(x.shape[2:], given)]
    if given and len(given) == rank and how["coordinate_transformation_mode"] != "align_corners":
        whole = [int(np.floor(n * s)) for n, s in zip(x.shape[2:], given)]
        if whole == list(sizes):
            return standard(node, "Resize", x, None, np.asarray([1, 1, *given], np.float32), axes=None, **how)
    if isinstance(x.shape[0], SymbolicSize):
        factors = [b / a for a, b in zip(x.shape[2:], sizes)]
        return standard(node, "Resize", x, None, np.asarray([1, 1, *factors], np.float32), **how)
    return standard(node, "Resize", x, None, None, np.asarray([*x.shape[:2], *sizes], np.int64), **how)


@aten("grid_sampler", "grid_sampler_2d")
def grid_sampler(node: OnnxNode, x: Any, grid: Any, interpolation_mode: int = 0, padding_mode: int = 0, align_corners: bool = False) -> Any:
    """Cells at places that a grid names."""
    return standard(node, "GridSample", x, grid, mode=("linear", "nearest", "cubic")[interpolation_mode],
                    padding_mode=("zeros", "border", "reflection")[padding_mode], align_corners=int(align_corners))
