"""Convolution of 16-bit numbers on the GPU as patches in columns and plain products, for which cuBLAS has hardware of its own."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...plans.actions import Action, ArrayCopy, CudaKernel, KernelLaunch, MatrixProduct
from ..sources import type_name
from .convolution_sizes import CudaConvolutionSizes
from .partial_sums import spread_bias
from .window_geometry import numbers, text, threads_for

#: Multiplications from which on columns pay; elements of the columns that are there at a time.
WORK, ELEMENTS = 1 << 24, 1 << 26
#: Sides of the matrices at least.
THINNEST = 16


def pays(s: CudaConvolutionSizes) -> bool:
    """Whether a product over columns is faster than the direct kernel."""
    length = s.channels * s.grid.taps
    return s.dtype in (DataType.HALF, DataType.BFLOAT16) and min(length, s.columns) >= THINNEST and \
        s.batch * s.grid.places * length * s.columns >= WORK


@dataclass(frozen=True)
class Im2colConvolution:
    """Columns of some images at a time. Their length has taps outside where weights have, or channels of images are last."""

    s: CudaConvolutionSizes

    @property
    def length(self) -> int:
        """Number of elements of a column."""
        return self.s.channels * self.s.grid.taps

    @property
    def chunk(self) -> int:
        """Number of images per pass, which bounds the memory for columns."""
        return max(1, min(self.s.batch, ELEMENTS // (self.length * self.s.grid.places)))

    def chunks(self) -> Iterator[tuple[int, int]]:
        """First image and the one behind the last."""
        return ((n, min(n + self.chunk, self.s.batch)) for n in range(0, self.s.batch, self.chunk))

    @property
    def transposed(self) -> bool:
        """Whether weights have to be transposed to the order of columns."""
        return self.s.last and self.s.weights_format == "OIYX" and self.s.grid.taps > 1

    def workspace(self) -> tuple[TensorSpec, ...]:
        """The columns, and weights in their order."""
        s = self.s
        columns = TensorSpec((self.chunk * self.length * s.grid.places,), s.dtype)
        return (columns, TensorSpec((self.length * s.columns,), s.dtype)) if self.transposed else (columns,)

    def weights(self, w: Any, work: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Weights as (length, out), in ``work`` if transposed; and views of both for a copy."""
        s = self.s
        if not self.transposed:
            return w.reshape(self.length, s.columns) if s.weights_format == "YXIO" else w.reshape(s.columns, self.length).T, None, None
        inner = work[-1].reshape(s.grid.taps, s.channels, s.columns)
        return work[-1].reshape(self.length, s.columns), w.reshape(s.columns, s.channels, s.grid.taps).transpose(2, 1, 0), inner

    def launch(self, name: str, images: Any, columns: Any, joined: bool = False) -> KernelLaunch:
        """Between images and columns (images, length, windows), (images, windows, length) or, ``joined``, (length, images, windows)."""
        s, count, places = self.s, len(images), self.s.grid.places
        inside = 1 if s.last else count * places if joined else places                      # between elements of a column
        channel, tap = (s.grid.taps, 1) if s.weights_format == "OIYX" and not s.last else (1, s.channels)
        whole = places if joined and not s.last else self.length * places
        apart = (whole, channel * inside, tap * inside, self.length if s.last else 1)
        size = count * s.channels * (places if name == "to_columns" else math.prod(s.grid.sizes))
        args = (np.int64(size), np.int32(s.channels), *map(np.int64, apart), *numbers(s.grid))
        pair = (images, columns) if name == "to_columns" else (columns, images)
        wide = self.chunk * self.length * places < 1 << 30 and s.offsets == "int"
        return KernelLaunch(body_of(s.dtype, s.last, "int" if wide else "long long"), name, *threads_for(size), (*pair, *args))

    def matrices(self, columns: Any, count: int) -> Any:
        """Columns of ``count`` images as (windows, length) or (images, length, windows)."""
        places = self.s.grid.places
        shape = (count * places, self.length) if self.s.last else (count, self.length, places)
        return columns[:count * self.length * places].reshape(shape)

    def rows(self, y: Any) -> Any:
        """Results of some images as (windows, out) or (images, out, windows)."""
        places = self.s.grid.places
        return y.reshape(len(y) * places, self.s.columns) if self.s.last else y.reshape(len(y), self.s.columns, places)

    def product(self, y: Any, columns: Any, weights: Any, beta: float) -> MatrixProduct:
        """The product of the columns of some images with the weights."""
        if self.s.last:
            return MatrixProduct(columns, weights, y, beta=beta)
        return MatrixProduct(self.s.repeated(weights.T, len(y)), columns, y, beta=beta)


def forward(s: CudaConvolutionSizes, bias: bool) -> CudaKernel:
    """The kernel of the forward pass; inputs x, w[, bias]."""
    c = Im2colConvolution(s)

    def actions(x: Any, w: Any, *rest: Any) -> Sequence[Action]:
        b, y, *work = rest if bias else (None, *rest)
        weights, given, inner = c.weights(w, work)
        done: list[Action] = [ArrayCopy(given, inner)] if c.transposed else []
        if b is not None:
            done.append(spread_bias(s.dtype, b, y, 1 if s.last else s.grid.places, s.columns))
        for low, high in c.chunks():
            done.append(c.launch("to_columns", x[low:high], work[0]))
            done.append(c.product(c.rows(y[low:high]), c.matrices(work[0], high - low), weights, float(bias)))
        return done
    return CudaKernel(actions, c.workspace())


def data_gradient(s: CudaConvolutionSizes, places: tuple[int, int], inputs: int) -> CudaKernel:
    """``places``: of upstream gradient and weights among the inputs, ``inputs``: how many there are."""
    c = Im2colConvolution(s)

    def actions(*arrays: Any) -> Sequence[Action]:
        g, w, out, work = arrays[places[0]], arrays[places[1]], arrays[inputs], arrays[inputs + 1:]
        weights, given, inner = c.weights(w, work)
        done: list[Action] = [ArrayCopy(given, inner)] if c.transposed else []
        for low, high in c.chunks():
            columns, rows = c.matrices(work[0], high - low), c.rows(g[low:high])
            done.append(MatrixProduct(rows, weights.T, columns)
                        if s.last else MatrixProduct(s.repeated(weights, high - low), rows, columns))
            done.append(c.launch("from_columns", out[low:high], work[0]))
        return done
    return CudaKernel(actions, c.workspace())


def weight_gradient(s: CudaConvolutionSizes) -> CudaKernel:
    """Inputs x, g, w; channels first, the gradient is transposed so that all images of a chunk are one product."""
    c = Im2colConvolution(s)
    places, length = s.grid.places, c.length

    def actions(x: Any, g: Any, _: Any, out: Any, *work: Any) -> Sequence[Action]:
        weights, given, inner = c.weights(out, work)
        done: list[Action] = []
        for low, high in c.chunks():
            count, rows = high - low, c.rows(g[low:high])
            done.append(c.launch("to_columns", x[low:high], work[0], joined=True))
            if s.last:
                columns = c.matrices(work[0], count).T
            else:
                columns = work[0][:length * count * places].reshape(length, count * places)
                transposed = work[1][:count * places * s.columns].reshape(s.columns, count, places)
                done.append(ArrayCopy(rows.transpose(1, 0, 2), transposed))
                rows = transposed.reshape(s.columns, count * places).T
            product = (columns, rows, weights) if weights.flags.c_contiguous else (rows.T, columns.T, weights.T)
            done.append(MatrixProduct(*product, beta=float(low > 0)))
        return [*done, ArrayCopy(inner, given)] if c.transposed else done
    turn = () if s.last else (TensorSpec((c.chunk * places * s.columns,), s.dtype),)
    columns, *rest = c.workspace()
    return CudaKernel(actions, (columns, *turn, *rest))


def body_of(dtype: DataType, last: bool, offset: str) -> str:
    """The kernel source for an element type."""
    return text("columns", T=type_name(dtype), I=offset, LAST=int(last))


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    yield "columns first", body_of(DataType.HALF, False, "int")
    yield "columns last", body_of(DataType.BFLOAT16, True, "long long")
