"""Convolution on the GPU: a product of matrices whose left one is made while it is read; plain products where windows are cells."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ops.conv.convolving import Convolution, ConvolutionDataGrad, ConvolutionWeightGrad, Geometry
from ....plans.actions import Action, CudaKernel, KernelLaunch, MatrixProduct
from ...kernel_table import kernel_for
from ...routines import depthwise, im2col_convolution
from ...routines.convolution_sizes import NARROW, SQUARE, TILES, ConvolutionTile, CudaConvolutionSizes, shares_of, tile_for
from ...routines.partial_sums import spread_bias, sum_parts, work_type
from ...routines.window_geometry import numbers, text
from ...sources import type_name

FORWARD, DATA, WEIGHTS = range(3)


def forward(geometry: Geometry, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None = None) -> CudaKernel | None:
    """Convolution, with a bias when there is one: inputs x, w[, bias]."""
    if geometry.depthwise:
        return depthwise.forward(geometry, x, w, bias)
    s = CudaConvolutionSizes.of(geometry, x, w, bias)
    if s is None:
        return None
    if s.is_product:
        def products(x: Any, w: Any, *rest: Any) -> Sequence[Action]:
            y, matrix = s.images(rest[-1], s.columns), s.matrix(w)
            a = s.images(x, s.channels)
            return _with_bias(s, rest, s.columns, (a, s.repeated(matrix, 1), y) if s.last else (s.repeated(matrix.T, s.batch), a, y))
        return CudaKernel(products)
    if im2col_convolution.pays(s):
        return im2col_convolution.forward(s, bias is not None)
    return _Windows(s, FORWARD, s.channels, s.columns).kernel((0, 1), 2, 2 if bias is not None else None)


def data_gradient(geometry: Geometry, w: TensorSpec, g: TensorSpec, x: TensorSpec) -> CudaKernel | None:
    """Gradient by the images: inputs w, g, and x, of which only the shape matters."""
    if geometry.depthwise:
        return depthwise.data_gradient(geometry, w, g, x)
    s = CudaConvolutionSizes.of(geometry, x, w, g)
    return None if s is None else data_kernel(s, (1, 0), 3, None)


def data_kernel(s: CudaConvolutionSizes, places: tuple[int, int], inputs: int, bias: int | None) -> CudaKernel:
    """The gradient by the images; ``places``: of upstream gradient and weights among the inputs."""
    if s.is_product:
        def products(*arrays: Any) -> Sequence[Action]:
            g, matrix = s.images(arrays[places[0]], s.columns), s.matrix(arrays[places[1]])
            out = arrays[inputs + (bias is not None)]
            x = s.images(out, s.channels)
            rest = (out,) if bias is None else (arrays[bias], out)
            return _with_bias(s, rest, s.channels, (g, s.repeated(matrix.T, 1), x) if s.last else (s.repeated(matrix, s.batch), g, x))
        return CudaKernel(products)
    if im2col_convolution.pays(s) and bias is None:
        return im2col_convolution.data_gradient(s, places, inputs)
    return _Windows(s, DATA, s.columns, s.channels).kernel(places, inputs, bias)


def weight_gradient(geometry: Geometry, x: TensorSpec, g: TensorSpec, w: TensorSpec) -> CudaKernel | None:
    """Gradient by the weights: inputs x, g, and w, of which only the shape matters."""
    if geometry.depthwise:
        return depthwise.weight_gradient(geometry, x, g, w)
    s = CudaConvolutionSizes.of(geometry, x, w, g)
    if s is None:
        return None
    if s.is_product and s.last:
        def products(x: Any, g: Any, _: Any, out: Any) -> Sequence[Action]:
            a, b = x.reshape(-1, s.channels), g.reshape(-1, s.columns)
            if s.weights_format == "YXIO":
                return (MatrixProduct(a.T, b, out.reshape(s.channels, s.columns)),)
            return (MatrixProduct(b.T, a, out.reshape(s.columns, s.channels)),)
        return CudaKernel(products)
    if im2col_convolution.pays(s):
        return im2col_convolution.weight_gradient(s)
    return _Windows(s, WEIGHTS, s.channels, s.columns).kernel((0, 1), 3, None)


def _with_bias(s: CudaConvolutionSizes, rest: Sequence[Any], channels: int, product: tuple[Any, Any, Any]) -> Sequence[Action]:
    """A product on top of the bias; ``rest``: the bias where there is one, and the result."""
    if len(rest) == 1:
        return (MatrixProduct(*product),)
    run = 1 if s.last else s.grid.places
    return spread_bias(s.dtype, rest[0], rest[1], run, channels), MatrixProduct(*product, beta=1.0)


@dataclass(frozen=True)
class _Windows:
    """One of the three products; ``channels`` are those of the image that is read, ``columns`` those of the result."""

    s: CudaConvolutionSizes
    mode: int
    channels: int
    columns: int

    def counts(self) -> tuple[int, int, int]:
        """Classes of positions, rows of one, inner indices of one (at most)."""
        s, grid = self.s, self.s.grid
        if self.mode == FORWARD:
            return 1, s.batch * grid.places, s.channels * grid.taps
        if self.mode == WEIGHTS:
            return 1, s.channels * grid.taps, s.batch * grid.places
        kernel, stride, _, dilation = grid.window
        rows = s.batch * math.prod(-(-n // step) for n, step in zip(grid.sizes, stride))
        taps = math.prod(-(-k // (step // math.gcd(step, d))) for k, step, d in zip(kernel, stride, dilation))
        return math.prod(stride), rows, s.columns * taps

    def kernel(self, places: tuple[int, int], inputs: int, bias: int | None) -> CudaKernel:
        """``places``: of the image and the other array among the inputs, ``inputs``: how many there are before the bias."""
        s, (classes, rows, inner) = self.s, self.counts()
        cells = s.grid.places if self.mode == FORWARD else math.prod(s.grid.sizes)
        size = rows * self.columns if self.mode == WEIGHTS else s.batch * self.columns * cells
        tile = tile_for(rows * classes, self.columns)
        across, down = tile.blocks(rows, self.columns)
        parts = shares_of(classes * across * down, inner, size, sums_all=self.mode == WEIGHTS)
        distance_in, distance_out, taps = s.distances()
        over, along = (distance_out, distance_in) if self.mode == DATA else (distance_in, distance_out)
        lanes = (self.mode == WEIGHTS) != s.last
        other_lanes = not s.last if self.mode == WEIGHTS else (over if s.last else taps) == 1
        given = (np.int32(lanes + 2 * other_lanes), *map(np.int32, (s.batch, self.channels, self.columns, over, along, taps, parts)),
                 np.int64(size), *numbers(s.grid))
        body = body_of(s.dtype, self.mode, s.last, tile, parts > 1, s.offsets)

        def actions(*arrays: Any) -> Sequence[Action]:
            b = None if bias is None else arrays[bias]
            out = arrays[inputs + (bias is not None)]
            if not size:
                return ()
            target, added = (arrays[-1], None) if parts > 1 else (out, b)
            given_bias = (arrays[places[1]] if added is None else added, np.int32(added is not None))
            first = KernelLaunch(body, "convolution", (across * classes, down, parts), (tile.threads, 1, 1),
                           (*(arrays[i] for i in places), target, *given_bias, *given))
            return (first,) if parts == 1 else (first, sum_parts(s.dtype, arrays[-1], out, b, 1 if s.last else cells, self.columns))
        return CudaKernel(actions, (TensorSpec((parts, size), work_type(s.dtype)),) if parts > 1 else ())


def body_of(dtype: DataType, mode: int, last: bool, tile: ConvolutionTile, in_parts: bool, offset: str) -> str:
    """The text of one of the products."""
    return text("convolution", T=type_name(dtype), OUT=type_name(work_type(dtype) if in_parts else dtype), I=offset, MODE=mode,
                LAST=int(last), BM=tile.rows, BN=tile.columns, TM=tile.own_rows, TN=tile.own_columns)


@kernel_for(Convolution)
def _(op: Convolution, *specs: TensorSpec) -> CudaKernel | None:
    return forward(op.geometry.of(specs[1].shape), *specs)


@kernel_for(ConvolutionDataGrad)
def _(op: ConvolutionDataGrad, *specs: TensorSpec) -> CudaKernel | None:
    return data_gradient(op.geometry.of(specs[0].shape), *specs)


@kernel_for(ConvolutionWeightGrad)
def _(op: ConvolutionWeightGrad, *specs: TensorSpec) -> CudaKernel | None:
    return weight_gradient(op.geometry.of(specs[2].shape), *specs)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    for mode, last in ((m, l) for m in range(3) for l in (False, True)):
        yield f"convolution {mode} {'last' if last else 'first'}", body_of(DataType.FLOAT, mode, last, SQUARE, False, "int")
    for tile in TILES:
        yield f"convolution {tile}", body_of(DataType.FLOAT, FORWARD, False, tile, False, "int")
    for dtype in (DataType.DOUBLE, DataType.HALF, DataType.BFLOAT16):
        yield f"convolution {dtype.name}", body_of(dtype, FORWARD, False, NARROW, True, "long long")
