"""Images of another size on the GPU, one axis after the other. The weights of an axis are tables in the text of its kernel."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ops.image.resize import Resize, ResizeBack
from ....plans.actions import Action, ArrayCopy, CudaKernel, KernelLaunch
from ...kernel_table import kernel_for
from ...routines.partial_sums import work_type
from ...routines.pooling_sizes import NUMBERS
from ...routines.window_geometry import served, threads_for
from ...sources import source, type_name

#: Weights of a table at most.
LARGEST = 1 << 16


@dataclass(frozen=True)
class Band:
    """A matrix (new, old) without the zeros at both ends of its rows, as text."""

    text: str
    new: int
    old: int
    is_identity: bool

    @classmethod
    def of(cls, matrix: Any, dtype: DataType) -> Band | None:
        """None where there is too much of it."""
        new, old = matrix.shape
        used = matrix != 0
        first = used.argmax(axis=1)
        count = np.where(used.any(axis=1), old - used[:, ::-1].argmax(axis=1) - first, 0)
        if count.sum() > LARGEST:
            return None
        found = np.concatenate([row[a:a + n] for row, a, n in zip(matrix, first, count)] or [np.zeros(0)])
        weights = [float(v).hex() for v in (found if dtype is DataType.DOUBLE else found.astype(np.float32))]
        tables = ("int first", first), ("int begin", [0, *np.cumsum(count)]), (f"{type_name(dtype)} weights", weights)
        text = "".join(f"__device__ const {name}[] = {{{', '.join(map(str, values)) or '0'}}};\n" for name, values in tables)
        return cls(text, new, old, new == old and bool((matrix == np.eye(new)).all()))

    def launch(self, source_: Any, target: Any, outer: int, inner: int, work: DataType) -> KernelLaunch:
        """The launch that resizes (outer, old, inner) to (outer, new, inner); both are not empty."""
        size = outer * self.new * inner
        body = self.text + _rest(DataType.of(source_.dtype), DataType.of(target.dtype), work, max(size, source_.size))
        args = (source_, target, np.int64(size), *map(np.int32, (self.old, self.new, inner)))
        return KernelLaunch(body, "resample", *threads_for(size), args)


def resized(of: Resize, x: TensorSpec, size: TensorSpec | None, back: bool = False) -> CudaKernel | None:
    """Inputs x and others that do not matter; ``back``: the transpose, for an image like x."""
    dtype = of.infer(*(s for s in (x, size) if s is not None))
    assert isinstance(dtype, TensorSpec)
    if not served(x, types=NUMBERS) or not dtype.is_static or (size is not None and size.value is None):
        return None
    old = (x.shape or ())[-3:-1]
    new, work = (dtype.shape or ())[-3:-1], work_type(dtype.dtype)
    matrices = [of.weights(a, b) for a, b in zip(old, new)]
    bands = [Band.of(m.T if back else m, work) for m in matrices]
    rows, columns = bands
    if rows is None or columns is None or not work.is_floating:
        return None
    outer, channels = math.prod((x.shape or ())[:-3]), (x.shape or ())[-1]
    between = (outer, rows.new, columns.old, channels)

    def actions(image: Any, *rest: Any) -> Sequence[Action]:
        out, middle = (rest[-2], rest[-1]) if both else (rest[-1], None)
        if not out.size:
            return ()
        if rows.is_identity and columns.is_identity and image.dtype == out.dtype:
            return (ArrayCopy(image.reshape(-1), out.reshape(-1)),)
        down = (rows, outer, columns.old * channels)
        over = (columns, outer * rows.new, channels)
        if not both:
            band, count, inner = down if columns.is_identity else over
            return (band.launch(image, out, count, inner, work),)
        return (down[0].launch(image, middle, *down[1:], work), over[0].launch(middle, out, *over[1:], work))
    both = not (rows.is_identity or columns.is_identity)
    return CudaKernel(actions, (TensorSpec(between, work),) if both else ())


def _rest(given: DataType, made: DataType, work: DataType, size: int) -> str:
    return source("resize", T=type_name(given), OUT=type_name(made), WORK=type_name(work), I="int" if size < 1 << 30 else "long long")


@kernel_for(Resize)
def _(op: Resize, *specs: TensorSpec) -> CudaKernel | None:
    return resized(op, specs[0], specs[1] if len(specs) > 1 else None)


@kernel_for(ResizeBack)
def _(op: ResizeBack, *specs: TensorSpec) -> CudaKernel | None:
    return resized(op.of, specs[1], specs[2] if len(specs) > 2 else None, back=True)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    band = Band.of(np.array([[0.5, 0.25, 0], [0, 0, 1]]), DataType.FLOAT)
    assert band is not None
    for dtype in (DataType.FLOAT, DataType.HALF, DataType.UBYTE):
        yield f"resample {dtype.name}", band.text + _rest(dtype, DataType.FLOAT, DataType.FLOAT, 1)
