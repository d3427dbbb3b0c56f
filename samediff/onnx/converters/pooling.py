"""Windows of images that become one value each."""
from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from ...ops.conv.cnn_configuration import Pooling2DConfig, Pooling3DConfig
from ..node import OnnxNode
from ..open_sizes import is_open
from ..registry import onnx_converter
from .convolution import NodeWindow
from .shapes import filled

MOST_CELLS = 4096


def _counts(window: NodeWindow, sizes: list[int], ceil: bool) -> list[int]:
    """Number of windows along each axis, rounded up; none begins in the padding at the end."""
    made = []
    for i, n in enumerate(sizes):
        begin, end = window.pads[i]
        free, step = n + begin + end - window.extent(i), window.strides[i]
        count = (-(-free // step) if ceil else free // step) + 1
        if ceil and (count - 1) * step >= n + begin:
            count -= 1
        made.append(count)
    return made


class _Pool:
    """The windows of a node: slices of the padded images, one for each cell of the kernel."""

    def __init__(self, node: OnnxNode, x: Any) -> None:
        self.node = node
        self.window = NodeWindow(node, x, node.get("kernel_shape"))
        self.open = any(map(is_open, x.shape[2:]))
        if self.open:
            w = self.window
            if node.flag("ceil_mode") or not w.even or w.rank not in (2, 3) or any(d != 1 for d in w.dilations):
                raise node.refuse("sizes of images must be known for windows that are counted up, uneven or spread, or along one axis")
            return
        self.sizes = [int(n) for n in x.shape[2:]]
        self.counts = _counts(self.window, self.sizes, node.flag("ceil_mode") and self.window.auto == "NOTSET")
        self.padding = []
        for i, n in enumerate(self.sizes):
            begin = self.window.pads[i][0]
            last = (self.counts[i] - 1) * self.window.strides[i] + self.window.extent(i)
            self.padding.append((begin, max(0, last - n - begin)))

    def cells(self, x: Any, fill: Any) -> list[Any]:
        """For each cell of the kernel, the value that every window has there."""
        if math.prod(self.window.kernel) > MOST_CELLS:
            raise self.node.refuse(f"such windows have at most {MOST_CELLS} cells, each of which becomes a node; got {self.window.kernel}")
        x = filled(self.node, x, [(0, 0), (0, 0), *self.padding], fill)
        return [x[self.part(place)] for place in product(*map(range, self.window.kernel))]

    def part(self, place: tuple[int, ...]) -> tuple[Any, ...]:
        """The slice of the padded images for one cell of the kernel."""
        w = self.window
        starts = [p * d for p, d in zip(place, w.dilations)]
        return (slice(None), slice(None),
                *(slice(s, s + (c - 1) * step + 1, step) for s, c, step in zip(starts, self.counts, w.strides)))

    def inside(self, counted: bool) -> np.ndarray[Any, Any]:
        """Number of cells of each window that count."""
        w = self.window
        own = np.ones((1, 1, *self.sizes))
        given = [(b, min(e, p[1])) if counted else (0, 0) for b, e, p in zip([p[0] for p in w.pads], [p[1] for p in w.pads], self.padding)]
        ones = np.pad(own, [(0, 0), (0, 0), *given], constant_values=1.0)
        rest = [(p[0] - g[0], p[1] - g[1]) for p, g in zip(self.padding, given)]
        ones = np.pad(ones, [(0, 0), (0, 0), *rest])
        return np.asarray(sum(ones[self.part(place)] for place in product(*map(range, w.kernel))))

    @property
    def plain(self) -> bool:
        """Whether an op here has the same windows."""
        w = self.window
        regular = [w.pads[i][0] * 2 + n >= w.extent(i) and (n + 2 * w.pads[i][0] - w.extent(i)) // w.strides[i] + 1 == self.counts[i]
                   for i, n in enumerate(self.sizes)]
        return w.rank in (2, 3) and w.even and all(d == 1 for d in w.dilations) and all(regular)


@onnx_converter("MaxPool", notes="positions in row order, or in column order as asked")
def max_pool(node: OnnxNode, x: Any) -> Any:
    """The largest value of each window, and where it stands."""
    pool, kind = _Pool(node, x), x.dtype
    wanted = len(node.proto.output) > 1 and bool(node.proto.output[1])
    if (pool.open or pool.plain) and not wanted and kind.kind == "f":
        return _plain(node, x, pool, "max")
    least = -np.inf if kind.kind == "f" else np.iinfo(kind).min
    cells = pool.cells(x, kind.type(least))
    made = cells[0]
    for cell in cells[1:]:
        made = node.xp.maximum(made, cell)
    if not wanted:
        return made
    count = math.prod(pool.sizes)
    places = np.arange(count).reshape(pool.sizes[::-1]).T if node.get("storage_order", 0) else np.arange(count).reshape(pool.sizes)
    places = np.pad(places, pool.padding)[None, None]
    at = np.stack([places[pool.part(p)] for p in product(*map(range, pool.window.kernel))])
    best = node.xp.argmax(node.xp.stack(cells, 0), axis=0)
    found: Any = np.int64(0)
    for i in range(len(cells)):
        found = node.xp.where(best == i, at[i], found)
    images = np.arange(int(x.shape[0]) * int(x.shape[1])).reshape(int(x.shape[0]), int(x.shape[1]), *[1] * pool.window.rank) * count
    return made, (found + images).astype(np.int64)


@onnx_converter("AveragePool")
def average_pool(node: OnnxNode, x: Any) -> Any:
    """The mean of each window, with its padding or without."""
    pool, counted = _Pool(node, x), node.flag("count_include_pad")
    if pool.open or (pool.plain and (counted or not any(map(any, pool.window.pads)))):
        return _plain(node, x, pool, "avg", counted)
    made = sum(pool.cells(x, 0))
    return made / pool.inside(counted).astype(x.dtype)


@onnx_converter("LpPool")
def lp_pool(node: OnnxNode, x: Any) -> Any:
    """The p-norm of each window."""
    p = node.get("p", 2)
    pool = _Pool(node, x)
    return sum(cell ** p for cell in pool.cells(node.op("math.abs", x), 0)) ** (1.0 / p)


def _plain(node: OnnxNode, x: Any, pool: _Pool, kind: str, counted: bool = True) -> Any:
    fields: dict[str, Any] = pool.window.fields()
    if kind == "avg":
        fields["divisor"] = "INCLUDE_PADDING" if counted or (pool.window.mode == "VALID" and not pool.open) else "EXCLUDE_PADDING"
    if pool.window.rank == 2:
        return node.op(f"cnn.{kind}_pooling2d", x, Pooling2DConfig(**fields))
    return node.op(f"cnn.{kind}_pooling3d", x, Pooling3DConfig(**fields, data_format="NCDHW"))


@onnx_converter("MaxUnpool")
def max_unpool(node: OnnxNode, x: Any, places: Any, target: Any = None) -> Any:
    """Values back at the places that they came from, 0 elsewhere."""
    window = NodeWindow(node, x, node.get("kernel_shape"))
    sizes = [(int(n) - 1) * window.strides[i] + window.kernel[i] - sum(window.pads[i]) for i, n in enumerate(x.shape[2:])]
    whole = [int(n) for n in x.shape[:2]] + sizes
    wanted = list(node.ints("output_shape", 2)) if target is not None else whole
    zeros = node.array(np.zeros(math.prod(wanted), x.dtype))
    flat = node.xp.reshape(places, (-1,))
    if wanted != whole:                                 # places count in the smaller images
        parts, rest = [], flat
        for n in reversed(whole):
            parts.append(rest % n)
            rest = rest // n
        flat, step = node.array(np.int64(0)), 1
        for part, n in zip(parts, reversed(wanted)):
            flat, step = flat + part * step, step * n
    return node.xp.reshape(node.op("base.scatter_update", zeros, flat, node.xp.reshape(x, (-1,))), tuple(wanted))
