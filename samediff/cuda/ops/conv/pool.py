"""Pooling ops on the GPU."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.conv.pool import MaxPooling, MaxPoolWithArgmax, PNormPool2D
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.pooling_sizes import NUMBERS, planes_of
from ...routines.window_geometry import FLOATS


@kernel_for(MaxPooling)
def maximum(op: MaxPooling, x: TensorSpec) -> CudaKernel | None:
    """The kernel of max pooling; input x."""
    p = planes_of(op.pool(), NUMBERS, x)
    return None if p is None else p.kernel(p.maximum(), "max_pool", p.windows)


@kernel_for(MaxPoolWithArgmax)
def maximum_and_place(op: MaxPoolWithArgmax, x: TensorSpec) -> CudaKernel | None:
    """The kernel of max pooling; input x, results are the maxima and their positions."""
    p = planes_of(op.pool(), NUMBERS, x) if op.output_type in NUMBERS else None
    return None if p is None else p.kernel(p.maximum(op.output_type), "max_pool_place", p.windows)


@kernel_for(PNormPool2D)
def power_mean(op: PNormPool2D, x: TensorSpec) -> CudaKernel | None:
    """(sum |x|^power)^(1 / power) of each window: input x."""
    p = planes_of(op.pool(), FLOATS, x)
    return None if p is None else p.kernel(p.sums(), "power_pool", p.windows, p.number(op.extra))
