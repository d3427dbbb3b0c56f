"""Images: sizes, colours, boxes, normalized channels."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.op import OPS
from ...onnx.converters.shapes import filled
from ...onnx.node import OnnxNode
from .table import added, bounded, numbers, tensorflow

#: What boxes are drawn in where no colours are given.
_COLOURS = np.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1], [0.5, 0, 0, 1],
                       [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]], np.float32)


@tensorflow("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def batch_norm(node: OnnxNode, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
    """Channels with mean 0 and variance 1; those of the batch while training."""
    channel = 1 if node.get("data_format", "NHWC").startswith("NC") else x.ndim - 1
    shape = tuple(-1 if i == channel else 1 for i in range(x.ndim))
    axes, epsilon = tuple(i for i in range(x.ndim) if i != channel), node.get("epsilon", 1e-4)
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


@tensorflow("BatchNormWithGlobalNormalization")
def old_batch_norm(node: OnnxNode, x: Any, mean: Any, variance: Any, offset: Any, scale: Any) -> Any:
    """Channels with given means and variances."""
    by = 1 / node.xp.sqrt(variance + node.get("variance_epsilon"))
    return (x - mean) * (by * scale if node.get("scale_after_normalization", False) else by) + offset


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


@tensorflow("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5")
def suppression(node: OnnxNode, boxes: Any, scores: Any, most: Any, *limits: Any) -> Any:
    """Boxes of high scores that overlap little."""
    if node.op_type == "NonMaxSuppression":
        given = [node.get("iou_threshold", 0.5)]
    else:
        given = [float(np.asarray(node.value(i, "a threshold"))) for i in (3, 4) if node.has(i)]
    if node.has(5) and np.any(node.value(5, "sigma")):
        raise node.refuse("scores that fall with overlaps (soft_nms_sigma) are not supported")
    most = numbers(node, 2, "how many")[0]
    found = node.op("image.non_max_suppression", boxes, scores, min(most, int(boxes.shape[0])), *given).astype(np.int32)
    if node.op_type not in ("NonMaxSuppressionV4", "NonMaxSuppressionV5"):
        return found
    count, chosen = node.op("base.size", found).astype(np.int32), node.xp.take(scores, found, axis=0)
    if node.get("pad_to_max_output_size", False):
        found, chosen = (node.xp.concatenate([v, np.zeros(bounded(node, most), v.dtype)], 0)[:most] for v in (found, chosen))
    return (found, count) if node.op_type == "NonMaxSuppressionV4" else (found, chosen, count)


@tensorflow("CropAndResize")
def crop_and_resize(node: OnnxNode, x: Any, boxes: Any, images: Any, size: Any) -> Any:
    """Parts of images, of one size."""
    method = int(node.get("method", "") == "nearest")
    op = OPS["crop_and_resize"](extrapolation_value=node.get("extrapolation_value", 0.0) or 0.0, method=method)
    return added(node, op, x.astype(np.float32), boxes, images, size)


@tensorflow("ResizeNearestNeighbor", "ResizeArea", "ResizeBicubic")
def resize(node: OnnxNode, x: Any, size: Any) -> Any:
    """Images of another size."""
    corners, centers = bool(node.get("align_corners", False)), bool(node.get("half_pixel_centers", False))
    if node.op_type == "ResizeBicubic":
        return node.op("image.resize_bicubic", x.astype(np.float32), size, corners, centers)
    if node.op_type == "ResizeArea":
        return added(node, OPS["resize_area"](align_corners=corners), x.astype(np.float32), size)
    return added(node, OPS["resize_nearest_neighbor"](align_corners=corners, half_pixel_centers=centers), x, size)


@tensorflow("SpaceToBatchND", "BatchToSpaceND", "SpaceToBatch", "BatchToSpace")
def batch_blocks(node: OnnxNode, x: Any, *options: Any) -> Any:
    """Blocks of cells to the batch, or back."""
    sizes = options[0] if node.op_type.endswith("ND") else node.array(np.full(2, node.get("block_size"), np.int32))
    return added(node, OPS["space_to_batch_nd" if node.op_type.startswith("Space") else "batch_to_space_nd"](), x, sizes, options[-1])


@tensorflow("ExtractImagePatches")
def patches(node: OnnxNode, x: Any) -> Any:
    """Windows as channels."""
    k, s, r = (node.get(n)[1:3] for n in ("ksizes", "strides", "rates"))
    return node.op("image.extract_image_patches", x, k, s, r, node.get("padding") == "SAME")
