"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.slicing`."""
from __future__ import annotations

from ....base.spec import Shape, TensorSpec
from ....ops.shape.shape_inputs import ints_of
from ....ops.shape.slicing import Placed, index_of
from ...actions import CudaKernel
from ...code.copies import placed
from ...kernel_table import kernel_for


@kernel_for(Placed)
def _(op: Placed, *specs: TensorSpec) -> CudaKernel | None:
    numbers = [ints_of(s) for s in specs[2:]]
    if not all(s.is_static for s in specs) or None in numbers:
        return None
    shape: Shape = specs[1].shape or ()
    return placed(index_of(shape, op.of.entries(len(shape), *numbers)))
