"""Images of other sizes, and values between the cells of images."""
from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ..node import OnnxNode
from ..open_sizes import is_open, parts_of
from ..registry import onnx_converter, same_for


def _places(mode: str, n: int, out: int, scale: float, roi: tuple[float, float]) -> np.ndarray[Any, Any]:
    """Coordinates of the result's cells in the input."""
    x = np.arange(out, dtype=np.float64)
    if mode == "align_corners":
        return x * (n - 1) / (scale * n - 1) if out > 1 else x * 0
    if mode == "asymmetric":
        return x / scale
    if mode == "tf_crop_and_resize":
        start, end = roi
        return start * (n - 1) + x * (end - start) * (n - 1) / (scale * n - 1) if out > 1 else 0.5 * (start + end) * (n - 1) + x
    if mode == "pytorch_half_pixel" and out == 1:
        return x * 0
    if mode == "half_pixel_symmetric":
        return n / 2 * (1 - out / (scale * n)) + (x + 0.5) / scale - 0.5
    return (x + 0.5) / scale - 0.5


def _cubic(t: Any, a: float) -> Any:
    t = np.abs(t)
    return np.where(t <= 1, ((a + 2) * t - (a + 3)) * t * t + 1, np.where(t < 2, ((a * t - 5 * a) * t + 8 * a) * t - 4 * a, 0))


def _nearest(x: Any, mode: str) -> Any:
    if mode == "floor":
        return np.floor(x)
    if mode == "ceil":
        return np.ceil(x)
    return np.floor(x + 0.5) if mode == "round_prefer_ceil" else np.ceil(x - 0.5)


class _Resized:
    """The options of a node, and how one axis is resized."""

    def __init__(self, node: OnnxNode) -> None:
        self.mode = node.get("mode", "nearest")
        self.nearest = node.get("nearest_mode", "round_prefer_floor")
        self.places = node.get("coordinate_transformation_mode", "half_pixel")
        if node.op_type == "Upsample" or node.version < 11:
            self.places, self.nearest = "asymmetric", "floor"
        self.cubic = node.get("cubic_coeff_a", -0.75)
        self.exclude = node.flag("exclude_outside")
        self.antialias = node.flag("antialias")

    def weights(self, n: int, at: Any, scale: float) -> np.ndarray[Any, Any]:
        """Share of each cell that is there in each of the result."""
        stretch = min(scale, 1.0) if self.antialias else 1.0
        reach = (1 if self.mode == "linear" else 2) / stretch
        made = np.zeros((len(at), n))
        for row, x in enumerate(at):
            cells = np.arange(math.floor(x - reach), math.ceil(x + reach) + 1)
            t = (cells - x) * stretch
            share = np.clip(1 - np.abs(t), 0, 1) if self.mode == "linear" else _cubic(t, self.cubic)
            if self.exclude:
                share = np.where((cells >= 0) & (cells < n), share, 0)
            np.add.at(made[row], np.clip(cells, 0, n - 1), share / share.sum())
        return made

    def axis(self, node: OnnxNode, x: Any, axis: int, out: int, scale: float, roi: tuple[float, float]) -> Any:
        """x with another size of an axis."""
        n = int(x.shape[axis])
        at = _places(self.places, n, out, scale, roi)
        if self.mode == "nearest":
            return node.xp.take(x, np.clip(_nearest(at, self.nearest), 0, n - 1).astype(np.int64), axis=axis)
        matrix = self.weights(n, at, scale).astype(x.dtype if x.dtype.kind == "f" else np.float32)
        return node.xp.moveaxis(node.xp.matmul(node.xp.moveaxis(x.astype(matrix.dtype), axis, -1), matrix.T), -1, axis)


    def open_axis(self, node: OnnxNode, x: Any, axis: int, size: int, scale: Any) -> Any:
        """The same for an axis whose size is not known while the graph is built: by a scale, or to a size (0: by the scale)."""
        if self.exclude or self.antialias or self.places not in ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners"):
            raise node.refuse(f"sizes of images must be known for {self.places}, antialias and exclude_outside")
        xp: Any = node.xp
        n: Any = node.sizes(x)[axis].astype(np.float64)
        count = node.array(np.int64(size)) if size else xp.floor(n * scale).astype(np.int64)
        scale = size / n if size else scale
        i = node.op("base.range", node.array(np.int64(0)), count, node.array(np.int64(1)), DataType.LONG).astype(np.float64)
        if self.places == "align_corners":
            at = i * (n - 1) / xp.maximum(n * scale - 1, 1.0)
        else:
            at = i / scale if self.places == "asymmetric" else (i + 0.5) / scale - 0.5

        def cells(place: Any) -> Any:
            return node.op("base.gather", x, xp.clip(place, 0.0, n - 1).astype(np.int64), axis)

        if self.mode == "nearest":
            ways = {"floor": lambda: xp.floor(at), "ceil": lambda: xp.ceil(at), "round_prefer_ceil": lambda: xp.floor(at + 0.5)}
            return cells(ways.get(self.nearest, lambda: xp.ceil(at - 0.5))())
        first, made = xp.floor(at), 0
        for k in (0, 1) if self.mode == "linear" else (-1, 0, 1, 2):
            t = at - first - k
            share = 1 - node.op("math.abs", t) if self.mode == "linear" else _cubic_of(node, t, self.cubic)
            made = cells(first + k) * xp.reshape(share.astype(x.dtype), (-1, *[1] * (x.ndim - 1 - axis % x.ndim))) + made
        return made


def _changed(axes: list[int], roi: Any, numbers: Any, changes: Any) -> tuple[list[int], Any, list[Any]]:
    """The axes that get another size, with their regions and numbers."""
    kept = [i for i, (a, n) in enumerate(zip(axes, numbers)) if changes(a, n)]
    return [axes[i] for i in kept], [roi[k] for k in (*kept, *(len(axes) + i for i in kept))], [numbers[i] for i in kept]


@same_for("Resize", "Upsample", notes="scales or sizes that are known while the graph is built")
def resize(node: OnnxNode, x: Any, *inputs: Any) -> Any:
    """Images of another size."""
    options, rank = _Resized(node), x.ndim
    at_scales = 2 if node.op_type == "Resize" and node.version >= 11 else 1
    axes = [a % rank for a in node.get("axes", range(rank))]
    roi = np.asarray(node.value(1, "roi")).reshape(-1) if options.places == "tf_crop_and_resize" else np.zeros(2 * len(axes))
    given = node.get("scales", None) if "scales" in node.attributes else None
    if given is None and node.has(at_scales) and np.size(node.value(at_scales, "scales")):
        given = [float(s) for s in np.asarray(node.value(at_scales, "scales")).reshape(-1)]
    if given is not None:
        axes, roi, given = _changed(axes, roi, given, lambda a, s: s != 1)
        shape = [x.shape[a] for a in axes]
        scales, sizes = list(given), [0 if is_open(n) else math.floor(n * s) for n, s in zip(shape, given)]
    else:
        wanted = parts_of(node, 3)
        sizes = list(node.ints("sizes", 3) if wanted is None else wanted)
        axes, roi, sizes = _changed(axes, roi, sizes, lambda a, s: not is_open(s) or a > 0)     # an open batch stays
        shape = [x.shape[a] for a in axes]
        sizes = [int(s) for s in sizes]
        scales = [0.0 if is_open(n) else s / n for s, n in zip(sizes, shape)]
        policy = node.get("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            one = (min if policy == "not_larger" else max)(scales)
            scales, sizes = [one] * len(axes), [math.floor(one * n + 0.5) for n in shape]
    kind, outside = x.dtype, []
    for i, axis in enumerate(axes):
        part = (float(roi[i]), float(roi[len(axes) + i]))
        if is_open(shape[i]):
            x = options.open_axis(node, x, axis, sizes[i], scales[i])
            continue
        if options.places == "tf_crop_and_resize":
            at = _places(options.places, shape[i], sizes[i], scales[i], part)
            outside.append(((at < 0) | (at > shape[i] - 1)).reshape([-1 if k == axis else 1 for k in range(rank)]))
        elif sizes[i] == shape[i] and scales[i] == 1:
            continue
        x = options.axis(node, x, axis, sizes[i], scales[i], part)
    if x.dtype != kind:
        limits = np.iinfo(kind)
        x = node.xp.clip(node.xp.rint(x), limits.min, limits.max).astype(kind)
    for far in outside:
        if far.any():
            x = node.xp.where(far, x.dtype.type(node.get("extrapolation_value", 0.0)), x)
    return x


def _corner(node: OnnxNode, images: Any, places: list[Any], zeros: bool) -> Any:
    """The cells at whole positions, one for each axis; those outside are 0 or must not be."""
    n, sizes = images.shape[0], [int(s) for s in images.shape[2:]]
    inside: Any = None
    flat: Any = 0
    for at, size in zip(places, sizes):
        if zeros:
            held = (at >= 0) & (at <= size - 1)
            inside = held if inside is None else inside & held
        flat = node.xp.clip(at, 0, size - 1).astype(np.int64) + flat * size
    count = math.prod(sizes)
    rows = node.xp.reshape(node.xp.moveaxis(images, 1, -1), (n * count, images.shape[1]))
    spread = (-1, *[1] * (flat.ndim - 1))
    zero, one = (node.array(np.int64(k)) for k in (0, 1))
    number = node.op("base.range", zero, node.sizes(images)[0], one, DataType.LONG) if is_open(n) else np.arange(n)
    first = node.xp.reshape(number * count, spread)
    found = node.xp.moveaxis(node.xp.take(rows, flat + first, axis=0), -1, 1)
    return found if inside is None else found * node.xp.expand_dims(inside.astype(images.dtype), 1)


def bilinear(node: OnnxNode, images: Any, y: Any, x: Any) -> Any:
    """Values between four cells of images (n, channels, h, w) at places (n, ...); cells outside are 0."""
    return between(node, images, [y, x], True)


def between(node: OnnxNode, images: Any, places: list[Any], zeros: bool) -> Any:
    """Values between the nearest cells along every axis."""
    first = [node.xp.floor(p) for p in places]
    share = [p - f for p, f in zip(places, first)]
    made: Any = 0
    for corner in product((0, 1), repeat=len(places)):
        weight: Any = 1
        for side, s in zip(corner, share):
            weight = (s if side else 1 - s) * weight
        cells = _corner(node, images, [f + side for f, side in zip(first, corner)], zeros)
        made = cells * node.xp.expand_dims(weight, 1) + made
    return made


@onnx_converter("GridSample", notes="one or more axes of images")
def grid_sample(node: OnnxNode, x: Any, grid: Any) -> Any:
    """Values of images at places between -1 and 1."""
    mode = node.get("mode", "linear").replace("bi", "")
    padding, corners = node.get("padding_mode", "zeros"), node.flag("align_corners")
    sizes = [int(n) for n in x.shape[2:]]
    rank = len(sizes)
    places = []
    for i, n in enumerate(sizes):
        at = grid[..., rank - 1 - i]
        at = (at + 1) / 2 * (n - 1) if corners else ((at + 1) * n - 1) / 2
        at = node.xp.rint(at) if mode == "nearest" else at
        places.append(_kept(node, at, n, padding, corners))
    zeros = padding == "zeros"
    if mode == "nearest":
        return _corner(node, x, places, zeros)
    if mode == "linear":
        return between(node, x, places, zeros)
    first = [node.xp.floor(p) for p in places]
    share = [[_cubic_of(node, p - f - k) for k in (-1, 0, 1, 2)] for p, f in zip(places, first)]
    made: Any = 0
    for cell in product(range(4), repeat=rank):
        weight: Any = 1
        for i, k in enumerate(cell):
            weight = share[i][k] * weight
        at = [_kept(node, f + (k - 1), n, padding, corners) for f, k, n in zip(first, cell, sizes)]
        made = _corner(node, x, at, zeros) * node.xp.expand_dims(weight, 1) + made
    return made


def _kept(node: OnnxNode, at: Any, n: int, padding: str, corners: bool) -> Any:
    """Places inside of the image: the nearest, or as in a mirror."""
    if padding == "border":
        return node.xp.clip(at, 0, n - 1)
    if padding != "reflection":
        return at
    low, high = (0.0, float(n - 1)) if corners else (-0.5, n - 0.5)
    span = high - low
    if not span:
        return at * 0
    t = node.xp.remainder(at - low, 2 * span)
    return node.xp.where(t > span, 2 * span - t, t) + low


def _cubic_of(node: OnnxNode, t: Any, a: float = -0.75) -> Any:
    t = node.op("math.abs", t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    return node.xp.where(t <= 1, near, node.xp.where(t < 2, ((a * t - 5 * a) * t + 8 * a) * t - 4 * a, t * 0))


@onnx_converter("AffineGrid", notes="a size that is known while the graph is built")
def affine_grid(node: OnnxNode, theta: Any, size: Any) -> Any:
    """Places between -1 and 1 for the cells of images, moved by affine maps."""
    sizes, corners = node.ints("", 1)[2:], node.flag("align_corners")
    lines = [np.linspace(-1, 1, n) if corners else (np.arange(n) * 2 + 1) / n - 1 for n in sizes]
    grids = np.meshgrid(*lines, indexing="ij")
    cells = np.stack([*grids[::-1], np.ones(sizes)], -1).reshape(-1, len(sizes) + 1).astype(theta.dtype)
    made = node.xp.matmul(cells, node.xp.swapaxes(theta, -1, -2))
    return node.xp.reshape(made, (theta.shape[0], *sizes, len(sizes)))


@onnx_converter("RoiAlign", notes="regions that are known while the graph is built, where sampling_ratio is 0")
def roi_align(node: OnnxNode, x: Any, rois: Any, images: Any) -> Any:
    """Regions of images in cells of one number, from values between the cells."""
    height, width = node.get("output_height", 1), node.get("output_width", 1)
    ratio, scale = node.get("sampling_ratio", 0), node.get("spatial_scale", 1.0)
    half = node.get("coordinate_transformation_mode", "half_pixel" if node.version >= 16 else "output_half_pixel") == "half_pixel"
    h, w = (int(n) for n in x.shape[2:])
    known = node.value(1, "rois") if not ratio else None
    made = []
    for i in range(int(rois.shape[0])):
        edges = rois[i] * scale - (0.5 if half else 0.0)
        left, top, right, bottom = (edges[k] for k in range(4))
        wide, high = right - left, bottom - top
        counts = [ratio, ratio]
        if known is not None:
            spans = (known[i][2:] - known[i][:2]) * scale
            counts = [max(1, math.ceil(float(s if half else max(s, 1.0)) / n)) for s, n in zip(spans[::-1], (height, width))]
        if not half:
            wide, high = node.xp.maximum(wide, 1.0), node.xp.maximum(high, 1.0)
        rows = (np.arange(height * counts[0]) + 0.5).astype(x.dtype) / (height * counts[0])
        columns = (np.arange(width * counts[1]) + 0.5).astype(x.dtype) / (width * counts[1])
        y = node.xp.reshape(top + high * rows, (1, -1, 1)) + np.zeros((1, 1, len(columns)), x.dtype)
        z = node.xp.reshape(left + wide * columns, (1, 1, -1)) + np.zeros((1, len(rows), 1), x.dtype)
        held = ((y >= -1) & (y <= h) & (z >= -1) & (z <= w)).astype(x.dtype)
        image = node.xp.take(x, images[i:i + 1], axis=0)
        places = [node.xp.clip(y, 0, h - 1), node.xp.clip(z, 0, w - 1)]
        cells = between(node, image, places, False) if node.get("mode", "avg") == "avg" else _largest(node, image, places)
        cells = node.xp.reshape(cells * node.xp.expand_dims(held, 1), (1, int(x.shape[1]), height, counts[0], width, counts[1]))
        reduce = node.xp.mean if node.get("mode", "avg") == "avg" else node.xp.max
        made.append(reduce(cells, axis=(3, 5)))
    return node.xp.concatenate(made, 0)


def _largest(node: OnnxNode, images: Any, places: list[Any]) -> Any:
    """The largest of the four shares of neighbouring cells."""
    first = [node.xp.floor(p) for p in places]
    made: Any = None
    for corner in product((0, 1), repeat=2):
        weight: Any = 1
        for side, p, f in zip(corner, places, first):
            weight = ((p - f) if side else 1 - (p - f)) * weight
        cells = _corner(node, images, [f + side for f, side in zip(first, corner)], False) * node.xp.expand_dims(weight, 1)
        made = cells if made is None else node.xp.maximum(made, cells)
    return made
