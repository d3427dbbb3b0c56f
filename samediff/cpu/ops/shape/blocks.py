"""Cells that are repeated or summed in blocks, on the CPU."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.conv.window import Window
from ....ops.shape.blocks import RepeatBlocks, SumBlocks
from ....plans.window_geometry import joined
from ...kernel_table import kernel_for
from ...routines.sliced import SlicedKernel, dense, kernel_of
from ...routines.window_sums import served, window_sums


@kernel_for(RepeatBlocks)
def repeated(op: RepeatBlocks, x: TensorSpec) -> Kernel | None:
    """Each cell ``factors[i]`` times along axis i: ``call(x, y)``."""
    factors = op.factors
    found = joined(x.shape or (), factors) if served(x) and min(factors) > 0 else None
    if found is None:
        return None
    from ...kernels.upsampling import repeat
    small, times = found
    large, three = [n * f for n, f in zip(small, times)], tuple(times[1:])

    return kernel_of(lambda x, y: [SlicedKernel(repeat, (dense(x, *small), dense(y, *large)), (), (three,))])


@kernel_for(SumBlocks)
def summed(op: SumBlocks, x: TensorSpec) -> Kernel | None:
    """Sums of blocks of cells, the transpose of :func:`repeated`: ``call(x, y)``."""
    factors = op.factors
    if not served(x) or min(factors) < 1:
        return None
    found = joined(tuple(n // f for n, f in zip(x.shape or (), factors)), factors)
    if found is None:
        return None
    small, times = found
    large, still = tuple(n * f for n, f in zip(small, times)), (0, 0, 0)
    kernel = tuple(times[1:])
    return window_sums(Window(kernel, kernel, still, (1, 1, 1)), large, x)
