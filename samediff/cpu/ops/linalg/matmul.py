"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.linalg.matmul`."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import Shape, TensorSpec
from ....ir.op import Kernel
from ....ops.linalg.matmul import Matmul, TensorMmul, swapped
from ...blas.blas_threads import is_small
from ...code.fused import laid_out
from ...kernel_table import kernel_for
from ...matrix.matrix_product import product


@kernel_for(Matmul)
def _(op: Matmul, *specs: TensorSpec) -> Kernel | None:
    matrices = all(s.dtype in (DataType.FLOAT, DataType.DOUBLE) and len(s.shape or ()) > 1 for s in specs)
    if not matrices or specs[0].dtype is not specs[1].dtype:
        return None
    tx, ty, tz = op.transpose_x, op.transpose_y, op.transpose_z

    def call(x: Any, y: Any, out: Any) -> None:
        a, b, c = swapped(x) if tx else x, swapped(y) if ty else y, swapped(out) if tz else out
        if c.ndim == 2 and c.flags.f_contiguous and not c.flags.c_contiguous:
            a, b, c = b.T, a.T, c.T
        np.matmul(a, b, out=c)
    def native(x: Any, y: Any, out: Any) -> Any:
        return product(swapped(x) if tx else x, swapped(y) if ty else y, swapped(out) if tz else out)
    out = op.infer(*specs)
    assert isinstance(out, TensorSpec) and out.shape and specs[0].shape
    return Kernel(call, one_thread=is_small(out.shape[-2], out.shape[-1], specs[0].shape[-2 if tx else -1]), native=native,
                  orders=lambda order: len(order) <= 4 and order[-1] >= len(order) - 2)


@kernel_for(TensorMmul)
def _(op: TensorMmul, *specs: TensorSpec) -> Kernel | None:
    x, y = (_side(over, s.shape or ()) for s, over in zip(specs, (op.dimensions_x, op.dimensions_y)))
    served = all(s.dtype in (DataType.FLOAT, DataType.DOUBLE) for s in specs) and not (op.transpose_x or op.transpose_y or op.transpose_z)
    if x is None or y is None or not served:
        return None

    def call(a: Any, b: Any, out: Any) -> None:
        out[...] = op.compute(np, a, b)

    def native(a: Any, b: Any, out: Any) -> Any:
        made: list[Any] = []
        left, right = (laid_out(v, made).reshape(shape) for v, (shape, _) in ((a, x), (b, y)))
        left, right = left.T if x[1] else left, right if y[1] else right.T
        matrix = (len(left), right.shape[1])
        if out.shape != matrix and not out.flags.c_contiguous:
            return None
        made.append(product(left, right, out.reshape(matrix)))
        return None if None in made else made
    return Kernel(call, native=native)


def _side(dimensions: Sequence[int], shape: Shape) -> tuple[tuple[int, int], bool] | None:
    """The shape of a factor as a matrix, and whether the axes that are summed over come first; None where they stand elsewhere."""
    over, count = [d % max(1, len(shape)) for d in dimensions], len(dimensions)
    first = over == list(range(count))
    if not count or not (first or over == list(range(len(shape) - count, len(shape)))):
        return None
    k, rest = math.prod(shape[d] for d in over), math.prod(n for d, n in enumerate(shape) if d not in over)
    return ((k, rest), True) if first else ((rest, k), False)
