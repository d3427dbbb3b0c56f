"""Convolutions and their transposes."""
from __future__ import annotations

import math
from typing import Any

from ...ops.conv.cnn_configuration import Conv1DConfig, Conv2DConfig, Conv3DConfig, DeConv2DConfig, DeConv3DConfig
from ..node import OnnxNode
from ..open_sizes import is_open
from ..registry import onnx_converter
from .resizing import bilinear
from .shapes import filled

_AXES = {1: ("",), 2: ("_h", "_w"), 3: ("_d", "_h", "_w")}


class NodeWindow:
    """Kernel, strides, dilations and paddings of a node, one for each axis of the images."""

    mode = "VALID"                      # SAME where paddings follow from sizes that are open

    def __init__(self, node: OnnxNode, x: Any, kernel: Any) -> None:
        self.strides: list[int]
        self.dilations: list[int]
        self.kernel = [int(k) for k in kernel]
        self.rank = rank = len(self.kernel)
        self.strides = list(node.get("strides", [1] * rank))
        self.dilations = list(node.get("dilations", [1] * rank))
        pads = list(node.get("pads", [0] * (2 * rank)))
        self.pads = list(zip(pads[:rank], pads[rank:]))
        self.auto = node.get("auto_pad", "NOTSET")
        if self.auto == "VALID":
            self.pads = [(0, 0)] * rank
        elif self.auto in ("SAME_UPPER", "SAME_LOWER") and node.op_type not in ("ConvTranspose",):
            if any(map(is_open, x.shape[2:])) and self.auto == "SAME_UPPER":
                self.mode = "SAME"
            else:
                self.pads = [self.same(int(n), i) for i, n in enumerate(x.shape[2:])]
        if len(self.strides) != rank or len(self.dilations) != rank or len(pads) != 2 * rank:
            raise node.refuse(f"strides, dilations and pads belong to {rank} axes")

    def extent(self, i: int) -> int:
        """Cells that a kernel spans."""
        return (self.kernel[i] - 1) * self.dilations[i] + 1

    def same(self, n: int, i: int) -> tuple[int, int]:
        """Paddings for ceil(n / stride) windows."""
        total = max(0, (-(-n // self.strides[i]) - 1) * self.strides[i] + self.extent(i) - n)
        return (total - total // 2, total // 2) if self.auto == "SAME_LOWER" else (total // 2, total - total // 2)

    def fields(self, padded: bool = True) -> dict[str, Any]:
        """The options of an op here, of equal paddings at both ends."""
        made: dict[str, Any] = {"padding_mode": self.mode}
        for i, name in enumerate(_AXES[self.rank]):
            made |= {f"k{name}": self.kernel[i], f"s{name}": self.strides[i], f"d{name}": self.dilations[i],
                     f"p{name}": self.pads[i][0] if padded else 0}
        return made

    @property
    def even(self) -> bool:
        """Whether both ends of each axis have equal paddings."""
        return all(a == b for a, b in self.pads)


@onnx_converter("Conv", notes="one to three axes of images")
def conv(node: OnnxNode, x: Any, weights: Any, bias: Any = None) -> Any:
    """A convolution, of groups of channels on request."""
    return convolved(node, x, weights, bias)


def convolved(node: OnnxNode, x: Any, weights: Any, bias: Any = None) -> Any:
    """The convolution of a node on these arrays."""
    rank = weights.ndim - 2
    if rank not in _AXES:
        raise node.refuse(f"convolutions have one to three axes of images here; got {rank}")
    window = NodeWindow(node, x, node.get("kernel_shape", weights.shape[2:]))
    if not window.even:
        x = filled(node, x, [(0, 0), (0, 0), *window.pads], 0)
        window.pads = [(0, 0)] * rank
    groups = node.get("group", 1)
    if groups == 1:
        return _one(node, x, weights, bias, window)
    out, inner = int(weights.shape[0]) // groups, int(weights.shape[1])
    if inner == 1 and rank == 2 and all(d == 1 for d in window.dilations):
        return _depthwise(node, x, weights, bias, window, out)
    parts = [_one(node, x[:, g * inner:(g + 1) * inner], weights[g * out:(g + 1) * out], None, window) for g in range(groups)]
    made = node.op("base.concat", 1, *parts)
    return made if bias is None else made + node.xp.reshape(bias, (1, -1, *[1] * rank))


def _one(node: OnnxNode, x: Any, weights: Any, bias: Any, window: NodeWindow) -> Any:
    more = [] if bias is None else [bias]
    if window.rank == 1:
        config: Any = Conv1DConfig(**window.fields(), weights_format="OIYX")
        return node.op("cnn.conv1d", x, node.xp.transpose(weights, (2, 1, 0)), *more, Conv1DConfig(**window.fields()))
    if window.rank == 2:
        config = Conv2DConfig(**window.fields(), weights_format="OIYX")
        return node.op("cnn.conv2d", x, weights, *more, config)
    config = Conv3DConfig(**window.fields(), data_format="NCDHW")
    return node.op("cnn.conv3d", x, node.xp.transpose(weights, (2, 3, 4, 1, 0)), *more, config)


def _depthwise(node: OnnxNode, x: Any, weights: Any, bias: Any, window: NodeWindow, out: int) -> Any:
    """Each channel by itself, with ``out`` results."""
    h, w = window.kernel
    channels = int(weights.shape[0]) // out
    cells = node.xp.transpose(node.xp.reshape(weights, (channels, out, h, w)), (2, 3, 0, 1))
    return node.op("cnn.depthwise_conv2d", x, cells, *([] if bias is None else [bias]), Conv2DConfig(**window.fields()))


@onnx_converter("ConvTranspose", notes="one to three axes of images")
def conv_transpose(node: OnnxNode, x: Any, weights: Any, bias: Any = None) -> Any:
    """The transpose of a convolution: every cell adds its weights to the result."""
    rank = weights.ndim - 2
    if rank not in _AXES:
        raise node.refuse(f"convolutions have one to three axes of images here; got {rank}")
    window = NodeWindow(node, x, node.get("kernel_shape", weights.shape[2:]))
    more = node.get("output_padding", [0] * rank)
    sizes = node.get("output_shape", None)
    groups = node.get("group", 1)
    inner = int(weights.shape[0]) // groups
    parts = [_transposed(node, x[:, g * inner:(g + 1) * inner] if groups > 1 else x,
                         weights[g * inner:(g + 1) * inner] if groups > 1 else weights, window) for g in range(groups)]
    made = parts[0] if groups == 1 else node.op("base.concat", 1, *parts)
    index: list[Any] = [slice(None), slice(None)]
    behind = [(0, 0), (0, 0)]
    for i, n in enumerate(x.shape[2:]):
        begin, end = window.pads[i]
        if sizes is not None or window.auto.startswith("SAME"):
            wanted = int(sizes[i]) if sizes is not None else int(n) * window.strides[i]
            total = window.strides[i] * (int(n) - 1) + more[i] + window.extent(i) - wanted
            begin = max(total, 0) // 2 if window.auto != "SAME_LOWER" else max(total, 0) - max(total, 0) // 2
            if total < 0 or (window.auto == "NOTSET" and sizes is not None):
                begin = total // 2 if total > 0 else 0
            end = total - begin
        lacking = max(0, more[i] - end)
        index.append(slice(begin, -(end - more[i]) if end > more[i] else None))
        behind.append((0, lacking))
    made = filled(node, made[tuple(index)], behind, 0)
    return made if bias is None else made + node.xp.reshape(bias, (1, -1, *[1] * rank))


def _transposed(node: OnnxNode, x: Any, weights: Any, window: NodeWindow) -> Any:
    """All cells that the weights reach, without padding."""
    if window.rank == 1:
        wide = NodeWindow.__new__(NodeWindow)
        wide.rank, wide.kernel, wide.strides, wide.dilations = 2, [1, *window.kernel], [1, *window.strides], [1, *window.dilations]
        wide.pads = [(0, 0)] * 2
        made = _transposed(node, node.xp.expand_dims(x, 2), node.xp.expand_dims(weights, 2), wide)
        return node.op("base.squeeze", made, 2)
    if window.rank == 2:
        return node.op("cnn.deconv2d", x, node.xp.transpose(weights, (2, 3, 1, 0)), DeConv2DConfig(**window.fields(False)))
    config = DeConv3DConfig(**window.fields(False), data_format="NCDHW")
    return node.op("cnn.deconv3d", x, node.xp.transpose(weights, (2, 3, 4, 1, 0)), config)


@onnx_converter("DeformConv", notes="two axes of images")
def deform_conv(node: OnnxNode, x: Any, weights: Any, offsets: Any, bias: Any = None, mask: Any = None) -> Any:
    """A convolution whose cells are moved by offsets, between four neighbours."""
    import numpy as np

    window = NodeWindow(node, x, node.get("kernel_shape", weights.shape[2:]))
    if window.rank != 2:
        raise node.refuse("cells are moved along two axes of images here")
    n, channels, groups, parts = int(x.shape[0]), int(x.shape[1]), node.get("group", 1), node.get("offset_group", 1)
    cells, (h, w) = math.prod(window.kernel), (int(s) for s in offsets.shape[2:])
    offsets = node.xp.reshape(offsets, (n, parts, cells, 2, h, w))
    ky, kx = np.divmod(np.arange(cells), window.kernel[1])
    rows = np.arange(h)[:, None] * window.strides[0] - window.pads[0][0] + (ky * window.dilations[0])[:, None, None]
    columns = np.arange(w)[None] * window.strides[1] - window.pads[1][0] + (kx * window.dilations[1])[:, None, None]
    y, z = offsets[:, :, :, 0] + rows.astype(x.dtype), offsets[:, :, :, 1] + columns.astype(x.dtype)
    images = node.xp.reshape(x, (n * parts, channels // parts, *x.shape[2:]))
    flat = bilinear(node, images, node.xp.reshape(y, (n * parts, cells * h, w)), node.xp.reshape(z, (n * parts, cells * h, w)))
    flat = node.xp.reshape(flat, (n, parts, channels // parts, cells, h, w))
    if mask is not None:
        flat = flat * node.xp.reshape(mask, (n, parts, 1, cells, h, w))
    out, inner = int(weights.shape[0]) // groups, int(weights.shape[1])
    columns_of = node.xp.reshape(flat, (n, groups, inner * cells, h * w))
    matrix = node.xp.reshape(weights, (groups, out, inner * cells))
    made = node.xp.reshape(node.xp.matmul(matrix, columns_of), (n, groups * out, h, w))
    return made if bias is None else made + node.xp.reshape(bias, (1, -1, 1, 1))
