"""Projections of attention heads on the CPU: the heads one below the other are one matrix for each example."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.nn.attention import Project, ProjectedInput, ProjectedWeights
from ...blas.blas_threads import is_small
from ...code.fused import joined, stored
from ...kernel_table import kernel_for
from ...matrix.matrix_product import product, sums_of_products
from ...routines.column_products import cleared, joined_shares, stacked
from ...routines.convolution_sizes import MULTIPLICATION
from ...routines.sliced import are_dense
from ...threads import parts_for


def _served(*specs: TensorSpec) -> bool:
    return all(s.is_static and s.dtype is specs[0].dtype for s in specs) and specs[0].dtype in (DataType.FLOAT, DataType.DOUBLE)


@kernel_for(Project)
def project(op: Project, x: TensorSpec, w: TensorSpec) -> Kernel | None:
    """``call(x, w, out)``: (N, features, steps) by (heads, size, features) -> (N, heads, size, steps)."""
    if not _served(x, w):
        return None
    (_, features, steps), (heads, size, _) = x.shape or (0, 0, 0), w.shape or (0, 0, 0)

    def call(x: Any, w: Any, out: Any) -> None:
        target = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
        np.matmul(w.reshape(heads * size, features), x, out=target.reshape(x.shape[0], heads * size, steps))
        if target is not out:
            out[...] = target

    def native(x: Any, w: Any, out: Any) -> Any:
        if not are_dense((w, out)):
            return None
        return product(stacked(w.reshape(heads * size, features), len(x)), x, out.reshape(len(x), heads * size, steps))
    return Kernel(call, one_thread=is_small(heads * size, steps, features), native=native)


@kernel_for(ProjectedInput)
def project_back(op: ProjectedInput, g: TensorSpec, w: TensorSpec) -> Kernel | None:
    """``call(g, w, out)``: (N, heads, size, steps) by (heads, size, features) -> (N, features, steps)."""
    if not _served(g, w):
        return None
    (batch, heads, size, steps), features = g.shape or (0, 0, 0, 0), (w.shape or (0, 0, 0))[2]

    def call(g: Any, w: Any, out: Any) -> None:
        np.matmul(w.reshape(heads * size, features).T, g.reshape(batch, heads * size, steps), out=out)

    def native(g: Any, w: Any, out: Any) -> Any:
        if not are_dense((g, w)):
            return None
        return product(stacked(w.reshape(heads * size, features).T, batch), g.reshape(batch, heads * size, steps), out)
    return Kernel(call, one_thread=is_small(heads * size, steps, features), native=native)


@kernel_for(ProjectedWeights)
def weights(op: ProjectedWeights, g: TensorSpec, x: TensorSpec) -> Kernel | None:
    """``call(g, x, out, totals)``: sum over the examples of g (N, heads, size, steps) by x (N, features, steps) transposed."""
    if not _served(g, x):
        return None
    (batch, heads, size, steps), features = g.shape or (0, 0, 0, 0), (x.shape or (0, 0, 0))[1]

    def call(g: Any, x: Any, out: Any, totals: Any) -> None:
        total = totals[0]
        total[...] = 0
        for rows, inputs in zip(g.reshape(batch, heads * size, steps), x, strict=True):
            total += rows @ inputs.T
        out[...] = total.reshape(heads, size, features)

    def native(g: Any, x: Any, out: Any, totals: Any) -> Any:
        if not are_dense((g,)):
            return None
        rows = g.reshape(batch, heads * size, steps)
        return joined(cleared(totals), sums_of_products(rows, x.swapaxes(1, 2), totals), joined_shares(totals),
                      stored(totals[0].reshape(heads, size, features), out))
    shares = max(1, min(parts_for(MULTIPLICATION * batch * heads * size * steps * features), batch))
    return Kernel(call, (TensorSpec((shares, heads * size, features), g.dtype),), one_thread=is_small(heads * size, steps, features),
                  native=native)
