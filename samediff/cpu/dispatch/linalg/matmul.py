"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.linalg.matmul`."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.linalg.matmul import Matmul, swapped
from ...kernel_table import kernel_for
from ...matrix.blas_threads import is_small
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
