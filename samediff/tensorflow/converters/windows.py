"""Windows over images: convolutions, their transposes, pooling."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import OPS
from ...onnx.converters.shapes import filled
from ...onnx.node import OnnxNode
from ...ops.conv.cnn_configuration import Conv2DConfig, Conv3DConfig, DeConv3DConfig, Pooling2DConfig, Pooling3DConfig
from .table import added, numbers, parts, tensorflow

_AXES = {2: ("_h", "_w"), 3: ("_d", "_h", "_w")}


def _windows(node: OnnxNode, x: Any, rank: int, kernel: Any = None, outside: float = 0.0) -> tuple[Any, dict[str, Any]]:
    """What windows look at, with explicit paddings around it, and their options."""
    fields = _fields(node, rank, node.get("ksize") if kernel is None else kernel, kernel is None)
    edges = _edges(node, rank)
    return (filled(node, x, edges, outside) if edges else x), fields


def _edges(node: OnnxNode, rank: int) -> list[tuple[int, int]]:
    """Explicit paddings of all axes; none for other kinds of padding."""
    given = node.get("explicit_paddings", None) or []
    if node.get("padding") != "EXPLICIT":
        return []
    if len(given) != 2 * (rank + 2) or min(given) < 0:
        raise node.refuse(f"explicit paddings are {2 * (rank + 2)} sizes, two for each axis; got {given}")
    return list(zip(given[::2], given[1::2]))


def _fields(node: OnnxNode, rank: int, kernel: Any, whole: bool = False) -> dict[str, Any]:
    """Options of windows; ``whole`` sizes belong to all axes."""
    layout = node.get("data_format", "NHWC" if rank == 2 else "NDHWC")
    first = layout.startswith("NC")

    def own(values: Any) -> list[int]:
        found: list[int] = list(values or [1] * (rank + 2))
        return found[2:] if first else found[1:-1]

    modes = ("SAME", "VALID") if "explicit_paddings" not in node.attributes else ("SAME", "VALID", "EXPLICIT")
    if node.get("padding") not in modes:
        raise node.refuse(f"paddings are {' or '.join(modes)}; got {node.get('padding')}")
    made: dict[str, Any] = {"data_format": layout, "padding_mode": "SAME" if node.get("padding") == "SAME" else "VALID"}
    sizes = own(kernel) if whole else kernel
    dilations = own(node.get("dilations", None))
    for i, name in enumerate(_AXES[rank]):
        made |= {f"k{name}": int(sizes[i]), f"s{name}": own(node.get("strides"))[i], f"d{name}": dilations[i]}
    return made


def _grouped(node: OnnxNode, x: Any, weights: Any, layout: str, convolve: Callable[[Any, Any], Any]) -> Any:
    """A convolution of each group of channels, of which weights have as many as a group."""
    axis = 1 if layout.startswith("NC") else x.ndim - 1
    channels, own = x.shape[axis], int(weights.shape[-2])
    groups = channels // own if isinstance(channels, int) else 1
    if groups < 2:
        return convolve(x, weights)
    pairs = zip(parts(x, groups, axis), parts(weights, groups, weights.ndim - 1))
    return node.op("base.concat", axis, *(convolve(*pair) for pair in pairs))


@tensorflow("Conv2D")
def conv2d(node: OnnxNode, x: Any, weights: Any) -> Any:
    """A convolution, of groups of channels too."""
    x, fields = _windows(node, x, 2, weights.shape[:2])
    return _grouped(node, x, weights, fields["data_format"], lambda a, w: node.op("cnn.conv2d", a, w, Conv2DConfig(**fields)))


@tensorflow("Conv3D")
def conv3d(node: OnnxNode, x: Any, weights: Any) -> Any:
    """A convolution over three axes."""
    x, fields = _windows(node, x, 3, weights.shape[:3])
    return _grouped(node, x, weights, fields["data_format"], lambda a, w: node.op("cnn.conv3d", a, w, Conv3DConfig(**fields)))


@tensorflow("DepthwiseConv2dNative")
def depthwise(node: OnnxNode, x: Any, weights: Any) -> Any:
    """Each channel by itself."""
    x, fields = _windows(node, x, 2, weights.shape[:2])
    return node.op("cnn.depthwise_conv2d", x, weights, Conv2DConfig(**fields))


@tensorflow("MaxPool", "MaxPoolV2", "AvgPool")
def pool(node: OnnxNode, x: Any, *sizes: Any) -> Any:
    """Windows that become one value."""
    if sizes:
        node.attributes |= {"ksize": numbers(node, 1, "the size of windows"), "strides": numbers(node, 2, "strides")}
    if node.op_type == "AvgPool":
        fields = _fields(node, 2, node.get("ksize"), True)
        return node.op("cnn.avg_pooling2d", x, Pooling2DConfig(**fields, divisor="EXCLUDE_PADDING"))
    x, fields = _windows(node, x, 2, outside=-np.inf if x.dtype.kind == "f" else float(np.iinfo(x.dtype).min))
    return node.op("cnn.max_pooling2d", x, Pooling2DConfig(**fields))


@tensorflow("MaxPool3D", "AvgPool3D")
def pool3d(node: OnnxNode, x: Any) -> Any:
    """Windows over three axes."""
    fields = _fields(node, 3, node.get("ksize"), True)
    if node.op_type == "AvgPool3D":
        return node.op("cnn.avg_pooling3d", x, Pooling3DConfig(**fields, divisor="EXCLUDE_PADDING"))
    return node.op("cnn.max_pooling3d", x, Pooling3DConfig(**fields))


@tensorflow("Dilation2D")
def dilation2d(node: OnnxNode, x: Any, weights: Any) -> Any:
    """The largest sum of a cell and its weight in each window."""
    op = OPS["dilation2d"](strides=tuple(node.get("strides")), rates=tuple(node.get("rates")), is_same_mode=node.get("padding") == "SAME")
    return added(node, op, x, weights)


@tensorflow("Conv2DBackpropInput")
def conv2d_transpose(node: OnnxNode, sizes: Any, weights: Any, x: Any) -> Any:
    """The transpose of a convolution; explicit paddings are cut off."""
    edges = _edges(node, 2)
    if edges:
        sizes = sizes + np.asarray([a + b for a, b in edges], np.int32).astype(sizes.dtype)
    made = added(node, OPS["deconv2d_tf"](**_fields(node, 2, weights.shape[:2])), sizes, weights, x)
    return made[tuple(slice(a, -b if b else None) for a, b in edges)] if edges else made


@tensorflow("Conv3DBackpropInputV2")
def conv3d_transpose(node: OnnxNode, sizes: Any, weights: Any, x: Any) -> Any:
    """The transpose of a convolution over three axes."""
    fields = _fields(node, 3, weights.shape[:3])
    made = node.op("cnn.deconv3d", x, weights, DeConv3DConfig(**{**fields, "padding_mode": "VALID"}))
    at = 2 if fields["data_format"].startswith("NC") else 1
    index, behind = [slice(None)] * 5, [(0, 0)] * 5
    for axis, n in enumerate(numbers(node, 0, "the shape")[at:at + 3], at):
        rest = int(made.shape[axis]) - n
        first = max(rest, 0) // 2 if fields["padding_mode"] == "SAME" else 0
        index[axis], behind[axis] = slice(first, first + n), (0, max(-rest, 0))
    return filled(node, made[tuple(index)], behind, 0)


@tensorflow("MaxPoolWithArgmax")
def max_pool_with_places(node: OnnxNode, x: Any) -> Any:
    """The largest value of each window, and where it stands."""
    values, places = node.op("cnn.max_pool_with_argmax", x, Pooling2DConfig(**_fields(node, 2, node.get("ksize"), True)))
    return values, places.astype(node.get("Targmax", np.dtype(np.int64)))
