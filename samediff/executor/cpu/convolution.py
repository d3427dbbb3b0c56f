"""Two-dimensional convolution on the CPU: patches as columns and BLAS, some images at a time.

Images are NCHW (others are turned), float32 or float64; one-dimensional ones count as images of height 1.
"""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...datatype import DataType
from ...op import Kernel
from ...spec import TensorSpec
from .channels import channels_first, moved

if TYPE_CHECKING:
    from ...ops.convolving import Geometry

#: Bytes of columns that are worked on at a time.
COLUMN_BYTES = 1 << 20


class _Shapes:
    """Sizes of one convolution, as those of images with a height."""

    def __init__(self, geometry: Geometry, x: TensorSpec, w: TensorSpec) -> None:
        window = geometry.window
        sizes = (x.shape or ())[2:]
        one = len(sizes) == 1
        kernel, _, self.out = geometry.weight_sizes(w.shape or ())
        counts, befores = window.counts(sizes), window.befores(sizes)

        def pair(values: tuple[int, ...], first: int) -> tuple[int, int]:
            return (first, values[0]) if one else (values[0], values[1])

        self.format = geometry.weights_format
        self.kernel, self.size, self.count = pair(kernel, 1), pair(sizes, 1), pair(counts, 1)
        self.numbers = (*pair(window.stride, 1), *pair(befores, 0), *pair(window.dilation, 1))
        self.batch, self.channels = (x.shape or ())[:2]
        self.places = self.count[0] * self.count[1]
        self.length = self.channels * self.kernel[0] * self.kernel[1]
        per_image = max(self.length * self.places * x.dtype.numpy.itemsize, 1)
        self.chunk = max(1, min(self.batch, COLUMN_BYTES // per_image))
        self.direct = self.kernel == (1, 1) and self.numbers[:4] == (1, 1, 0, 0) and self.size == self.count
        self.dtype = x.dtype

    def columns(self) -> TensorSpec:
        return TensorSpec((self.chunk, self.channels, *self.kernel, *self.count), self.dtype)

    def images(self, x: Any) -> Any:
        """A contiguous (N, C, H, W)."""
        return np.ascontiguousarray(x).reshape(x.shape[0], x.shape[1], *self.size)

    def matrix(self, w: Any) -> Any:
        """Weights as (out, in * kernel); a view for OIYX."""
        if self.format == "OIYX":
            return np.ascontiguousarray(w).reshape(self.out, self.length)
        axes = (w.ndim - 1, w.ndim - 2, *range(w.ndim - 2)) if self.format == "YXIO" else (0, w.ndim - 1, *range(1, w.ndim - 1))
        return np.ascontiguousarray(w.transpose(axes)).reshape(self.out, self.length)

    def store(self, matrix: Any, w: Any) -> None:
        """Write (out, in * kernel) into an array in the format of the weights."""
        spatial = w.shape[2:] if self.format == "OIYX" else w.shape[:-2] if self.format == "YXIO" else w.shape[1:-1]
        plain = matrix.reshape(self.out, self.channels, *spatial)
        if self.format == "YXIO":
            plain = plain.transpose(*range(2, plain.ndim), 1, 0)
        elif self.format == "OYXI":
            plain = np.moveaxis(plain, 1, -1)
        w[...] = plain

    def chunks(self) -> list[tuple[int, int]]:
        return [(i, min(i + self.chunk, self.batch)) for i in range(0, self.batch, self.chunk)]


def _shapes(geometry: Geometry, x: TensorSpec, w: TensorSpec, *others: TensorSpec | None) -> _Shapes | None:
    """The sizes when the kernels here serve them."""
    given = [s for s in (x, w, *others) if s is not None]
    if geometry.depthwise or geometry.channels_last or x.rank not in (3, 4):
        return None
    if any(not s.is_static or s.dtype is not x.dtype for s in given):
        return None
    if x.dtype not in (DataType.FLOAT, DataType.DOUBLE) or 0 in (*(x.shape or ()), *(w.shape or ())):
        return None
    return _Shapes(geometry, x, w)


def forward(geometry: Geometry, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None = None) -> Kernel | None:
    """Convolution, with a bias when there is one: ``call(x, w[, bias], y, columns)``."""
    if geometry.channels_last:
        turned, first = replace(geometry, channels_last=False), channels_first(x)
        if _shapes(turned, first, w, bias) is None:
            return None
        from ...ops.convolving import output_shape
        return moved(forward(turned, first, w, bias), (0,), TensorSpec(output_shape(turned, first.shape, w.shape), x.dtype))
    s = _shapes(geometry, x, w, bias)
    if s is None:
        return None
    from .kernels.im2col import im2col

    def call(x: Any, w: Any, *rest: Any) -> None:
        b, y, columns = (None, *rest) if len(rest) == 2 else rest
        x, weights = s.images(x), s.matrix(w)
        result = y.reshape(s.batch, s.out, s.places)
        for low, high in s.chunks():
            if s.direct:
                np.matmul(weights, x[low:high].reshape(high - low, s.length, s.places), out=result[low:high])
            else:
                some = columns[:high - low]
                im2col(x[low:high], some, *s.numbers)
                np.matmul(weights, some.reshape(high - low, s.length, s.places), out=result[low:high])
            if b is not None:
                result[low:high] += b.reshape(-1, 1)
    return Kernel(call, (s.columns(),), one_thread=True)


def data_gradient(geometry: Geometry, w: TensorSpec, g: TensorSpec, x: TensorSpec) -> Kernel | None:
    """Gradient by the images: ``call(w, g, like, dx, columns)``."""
    if geometry.channels_last:
        first = channels_first(x)
        return moved(data_gradient(replace(geometry, channels_last=False), w, channels_first(g), first), (1,), first)
    s = _shapes(geometry, x, w, g)
    if s is None:
        return None
    from .kernels.im2col import col2im

    def call(w: Any, g: Any, _: Any, dx: Any, columns: Any) -> None:
        weights = s.matrix(w).T
        g = np.ascontiguousarray(g).reshape(s.batch, s.out, s.places)
        images = dx.reshape(s.batch, s.channels, *s.size)
        for low, high in s.chunks():
            if s.direct:
                np.matmul(weights, g[low:high], out=images[low:high].reshape(high - low, s.length, s.places))
                continue
            some = columns[:high - low]
            np.matmul(weights, g[low:high], out=some.reshape(high - low, s.length, s.places))
            col2im(some, images[low:high], *s.numbers)
    return Kernel(call, (s.columns(),), one_thread=True)


def weight_gradient(geometry: Geometry, x: TensorSpec, g: TensorSpec, w: TensorSpec) -> Kernel | None:
    """Gradient by the weights: ``call(x, g, like, dw, columns, parts, total)``."""
    if geometry.channels_last:
        return moved(weight_gradient(replace(geometry, channels_last=False), channels_first(x), channels_first(g), w), (0, 1))
    s = _shapes(geometry, x, w, g)
    if s is None:
        return None
    from .kernels.im2col import im2col

    def call(x: Any, g: Any, _: Any, dw: Any, columns: Any, part: Any, total: Any) -> None:
        x = s.images(x)
        g = np.ascontiguousarray(g).reshape(s.batch, s.out, s.places)
        total[...] = 0
        for low, high in s.chunks():
            some = columns[:high - low]
            if not s.direct:
                im2col(x[low:high], some, *s.numbers)
            for n in range(low, high):
                cells = x[n] if s.direct else some[n - low]
                np.matmul(g[n], cells.reshape(s.length, s.places).T, out=part)
                np.add(total, part, out=total)
        s.store(total, dw)
    matrix = TensorSpec((s.out, s.length), s.dtype)
    return Kernel(call, (s.columns(), matrix, matrix), one_thread=True)
