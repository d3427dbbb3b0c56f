"""Sums and choices of windows on the GPU."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ops.conv.pooling import Pool, WindowGather, WindowScatter, WindowSpread, WindowSum
from ....plans.actions import Action, CudaKernel
from ...kernel_table import kernel_for
from ...routines.pooling_sizes import NUMBERS, planes_of
from ...routines.window_geometry import FLOATS


def _factor(pool: Pool) -> float:
    """The factor of all sums; 0 where each window has its own."""
    return {"none": 1.0, "kernel": 1 / max(math.prod(pool.window.kernel), 1), "inside": 0.0}[pool.divisor]


@kernel_for(WindowSum)
def total(op: WindowSum, x: TensorSpec) -> CudaKernel | None:
    """The kernel of sums over windows times their factors; input x."""
    p = planes_of(op.pool, FLOATS, x)
    return None if p is None else p.kernel(p.sums(), "window_sum", p.windows, p.number(_factor(op.pool)))


@kernel_for(WindowSpread)
def spread(op: WindowSpread, g: TensorSpec, x: TensorSpec) -> CudaKernel | None:
    """The transpose: inputs g, and x, of which only the shape matters."""
    p = planes_of(op.pool, FLOATS, x, g)
    if p is None:
        return None
    body, factor = p.sums(), p.number(_factor(op.pool))
    return CudaKernel(lambda g, _, out: p.launch(body, "window_spread", p.cells, g, out, factor))


@kernel_for(WindowScatter)
def maximum_gradient(op: WindowScatter, x: TensorSpec, g: TensorSpec) -> CudaKernel | None:
    """Inputs x, g; which cells are chosen is noted first."""
    p = planes_of(op.pool, FLOATS, x, g)
    if p is None:
        return None

    body = p.maximum()

    def actions(x: Any, g: Any, out: Any, taps: Any) -> Sequence[Action]:
        return (*p.launch(body, "max_pool_tap", p.windows, x, taps), *p.launch(body, "max_pool_back", p.cells, taps, g, out))
    return CudaKernel(actions, (TensorSpec((p.windows,), DataType.INT),))


@kernel_for(WindowGather)
def maximum_taken(op: WindowGather, x: TensorSpec, values: TensorSpec) -> CudaKernel | None:
    """Values where x is largest: inputs x, values."""
    p = planes_of(op.pool, NUMBERS, x, values)
    return None if p is None else p.kernel(p.maximum(), "max_pool_taken", p.windows)
