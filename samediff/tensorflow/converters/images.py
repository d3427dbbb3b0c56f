"""Images: windows over height and width, sizes, colours."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.op import OPS
from ...onnx.converters.shapes import filled
from ...onnx.node import OnnxNode
from ...ops.conv.cnn_configuration import Conv2DConfig, Conv3DConfig, DeConv3DConfig, Pooling2DConfig, Pooling3DConfig
from .table import numbers, tensorflow

#: What boxes are drawn in where no colours are given.
_COLOURS = np.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1], [0.5, 0, 0, 1],
                       [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]], np.float32)
_AXES = {2: ("_h", "_w"), 3: ("_d", "_h", "_w")}


def _fields(node: OnnxNode, rank: int, kernel: Any = None) -> dict[str, Any]:
    """Options of windows; explicit paddings are refused."""
    layout = node.get("data_format", "NHWC" if rank == 2 else "NDHWC")
    first = layout.startswith("NC")

    def own(values: Any) -> list[int]:
        whole: list[int] = list(values or [1] * (rank + 2))
        return whole[2:] if first else whole[1:-1]

    if node.get("padding") not in ("SAME", "VALID"):
        raise node.refuse(f"paddings are SAME or VALID here; got {node.get('padding')}")
    made: dict[str, Any] = {"data_format": layout, "padding_mode": node.get("padding")}
    sizes = own(node.get("ksize")) if kernel is None else kernel
    dilations = own(node.get("dilations", None))
    for i, name in enumerate(_AXES[rank]):
        made |= {f"k{name}": int(sizes[i]), f"s{name}": own(node.get("strides"))[i], f"d{name}": dilations[i]}
    return made


@tensorflow("Conv2D")
def conv2d(node: OnnxNode, x: Any, weights: Any) -> Any:
    """A convolution."""
    return node.op("cnn.conv2d", x, weights, Conv2DConfig(**_fields(node, 2, weights.shape[:2])))


@tensorflow("Conv3D")
def conv3d(node: OnnxNode, x: Any, weights: Any) -> Any:
    """A convolution over three axes."""
    return node.op("cnn.conv3d", x, weights, Conv3DConfig(**_fields(node, 3, weights.shape[:3])))


@tensorflow("DepthwiseConv2dNative")
def depthwise(node: OnnxNode, x: Any, weights: Any) -> Any:
    """Each channel by itself."""
    return node.op("cnn.depthwise_conv2d", x, weights, Conv2DConfig(**_fields(node, 2, weights.shape[:2])))


@tensorflow("MaxPool", "AvgPool")
def pool(node: OnnxNode, x: Any) -> Any:
    """Windows that become one value."""
    fields = _fields(node, 2)
    if node.op_type == "AvgPool":
        return node.op("cnn.avg_pooling2d", x, Pooling2DConfig(**fields, divisor="EXCLUDE_PADDING"))
    return node.op("cnn.max_pooling2d", x, Pooling2DConfig(**fields))


@tensorflow("MaxPool3D", "AvgPool3D")
def pool3d(node: OnnxNode, x: Any) -> Any:
    """Windows over three axes."""
    fields = _fields(node, 3)
    if node.op_type == "AvgPool3D":
        return node.op("cnn.avg_pooling3d", x, Pooling3DConfig(**fields, divisor="EXCLUDE_PADDING"))
    return node.op("cnn.max_pooling3d", x, Pooling3DConfig(**fields))


@tensorflow("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def batch_norm(node: OnnxNode, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
    """Channels with mean 0 and variance 1; those of the batch while training."""
    first = node.get("data_format", "NHWC").startswith("NC")
    shape = (1, -1, 1, 1) if first else (1, 1, 1, -1)
    axes, epsilon = ((0, 2, 3) if first else (0, 1, 2)), node.get("epsilon", 1e-4)
    wide = x.astype(scale.dtype)
    if node.get("is_training", True):
        mean = node.xp.mean(wide, axis=axes)
        centred = wide - node.xp.reshape(mean, shape)
        variance = node.xp.mean(centred * centred, axis=axes)
        n = int(np.prod([int(x.shape[a]) for a in axes]))
        unbiased = variance * (n / max(n - 1, 1))
    else:
        centred, unbiased = wide - node.xp.reshape(mean, shape), variance
    made = centred * node.xp.reshape(scale / node.xp.sqrt(variance + epsilon), shape) + node.xp.reshape(offset, shape)
    return made.astype(x.dtype), mean, unbiased


@tensorflow("LRN")
def lrn(node: OnnxNode, x: Any) -> Any:
    """Divided by a power of the squares of neighbouring channels."""
    depth, n, squares = node.get("depth_radius", 5), int(x.shape[-1]), 0
    wide = filled(node, x * x, [(0, 0)] * 3 + [(depth, depth)], 0)
    for i in range(2 * depth + 1):
        squares = wide[..., i:i + n] + squares
    return x / (squares * node.get("alpha", 1.0) + node.get("bias", 1.0)) ** node.get("beta", 0.5)


@tensorflow("DepthToSpace", "SpaceToDepth")
def blocks(node: OnnxNode, x: Any) -> Any:
    """Channels to blocks of cells, or back."""
    place = "cnn.depth_to_space" if node.op_type == "DepthToSpace" else "cnn.space_to_depth"
    return node.op(place, x, node.get("block_size"), node.get("data_format", "NHWC"))


@tensorflow("ResizeBilinear")
def bilinear(node: OnnxNode, x: Any, size: Any) -> Any:
    """Images of another size."""
    height, width = numbers(node, 1, "the size")
    return node.op("image.resize_bilinear", x.astype(np.float32), height, width, bool(node.get("align_corners", False)),
                   bool(node.get("half_pixel_centers", False)))


@tensorflow("AdjustContrastv2", "AdjustHue", "AdjustSaturation")
def adjust(node: OnnxNode, x: Any, by: Any) -> Any:
    """Other contrast, hue or saturation."""
    place = {"AdjustContrastv2": "image.adjust_contrast", "AdjustHue": "image.adjust_hue", "AdjustSaturation": "image.adjust_saturation"}
    return node.op(place[node.op_type], x, float(np.asarray(node.value(1, "the factor"))))


@tensorflow("DrawBoundingBoxes", "DrawBoundingBoxesV2")
def draw_boxes(node: OnnxNode, images: Any, boxes: Any, colours: Any = None) -> Any:
    """Lines of one pixel around boxes, later ones on top."""
    xp = node.xp
    _, height, width, depth = images.shape
    rows, columns = (np.arange(int(n), dtype=np.float32) for n in (height, width))
    if colours is None or 0 in colours.shape:
        colours = node.array(_COLOURS[:, :int(depth)] if int(depth) > 1 else np.ones((1, 1)), images.dtype)
    for i in range(int(boxes.shape[1])):
        top, left, bottom, right = (xp.reshape(xp.trunc(boxes[:, i, k].astype(np.float32) * np.float32(int(n) - 1)), (-1, 1, 1))
                                    for k, n in enumerate((height, width, height, width)))
        y, x = rows.reshape(1, -1, 1), columns.reshape(1, 1, -1)
        lines = (y == top) | (y == bottom) | (x == left) | (x == right)
        drawn = lines & (y >= top) & (y <= bottom) & (x >= left) & (x <= right)
        images = xp.where(xp.expand_dims(drawn, -1), colours[i % int(colours.shape[0]), :int(depth)].astype(images.dtype), images)
    return images


@tensorflow("RGBToHSV", "HSVToRGB")
def colours(node: OnnxNode, x: Any) -> Any:
    """Other ways to say colours."""
    return node.op("image.rgb_to_hsv" if node.op_type == "RGBToHSV" else "image.hsv_to_rgb", x)


@tensorflow("NonMaxSuppressionV2", "NonMaxSuppressionV3")
def suppression(node: OnnxNode, boxes: Any, scores: Any, most: Any, overlap: Any, least: Any = None) -> Any:
    """Boxes of high scores that overlap little."""
    limits = [float(np.asarray(node.value(i, "a threshold"))) for i in (3, 4) if node.has(i)]
    count = min(numbers(node, 2, "how many")[0], int(boxes.shape[0]))
    return node.op("image.non_max_suppression", boxes, scores, count, *limits).astype(np.int32)


@tensorflow("CropAndResize")
def crop_and_resize(node: OnnxNode, x: Any, boxes: Any, images: Any, size: Any) -> Any:
    """Parts of images, of one size."""
    method = int(node.get("method", "") == "nearest")
    op = OPS["crop_and_resize"](extrapolation_value=node.get("extrapolation_value", 0.0) or 0.0, method=method)
    return _by_id(node, op, x.astype(np.float32), boxes, images, size)


def _by_id(node: OnnxNode, op: Any, *xs: Any) -> Any:
    return node.outer(node.sd.add_op(op, [node.inner(x) for x in xs]))


@tensorflow("ResizeNearestNeighbor", "ResizeArea", "ResizeBicubic")
def resize(node: OnnxNode, x: Any, size: Any) -> Any:
    """Images of another size."""
    corners, centers = bool(node.get("align_corners", False)), bool(node.get("half_pixel_centers", False))
    if node.op_type == "ResizeBicubic":
        return node.op("image.resize_bicubic", x.astype(np.float32), size, corners, centers)
    if node.op_type == "ResizeArea":
        return _by_id(node, OPS["resize_area"](align_corners=corners), x.astype(np.float32), size)
    return _by_id(node, OPS["resize_nearest_neighbor"](align_corners=corners, half_pixel_centers=centers), x, size)


@tensorflow("SpaceToBatchND", "BatchToSpaceND")
def batch_blocks(node: OnnxNode, x: Any, sizes: Any, edges: Any) -> Any:
    """Blocks of cells to the batch, or back."""
    return _by_id(node, OPS["space_to_batch_nd" if node.op_type == "SpaceToBatchND" else "batch_to_space_nd"](), x, sizes, edges)


@tensorflow("Conv2DBackpropInput")
def conv2d_transpose(node: OnnxNode, sizes: Any, weights: Any, x: Any) -> Any:
    """The transpose of a convolution."""
    return _by_id(node, OPS["deconv2d_tf"](**_fields(node, 2, weights.shape[:2])), sizes, weights, x)


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
    values, places = node.op("cnn.max_pool_with_argmax", x, Pooling2DConfig(**_fields(node, 2)))
    return values, places.astype(node.get("Targmax", np.dtype(np.int64)))


@tensorflow("ExtractImagePatches")
def patches(node: OnnxNode, x: Any) -> Any:
    """Windows as channels."""
    k, s, r = (node.get(n)[1:3] for n in ("ksizes", "strides", "rates"))
    return node.op("image.extract_image_patches", x, k, s, r, node.get("padding") == "SAME")
