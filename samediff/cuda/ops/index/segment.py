"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.index.segment`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.index.segment import CountOfRow, Segment, UnsortedSegment
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.gather import equal_rows
from ...routines.scatter import segments


@kernel_for(CountOfRow)
def _(op: CountOfRow, *specs: TensorSpec) -> CudaKernel | None:
    out = op.infer(*specs)
    return equal_rows(False, specs[0], out) if isinstance(out, TensorSpec) else None


@kernel_for(Segment)
def _(op: Segment, *specs: TensorSpec) -> CudaKernel | None:
    return segments(op.how, op.how in ("max", "min"), True, op.number(*specs), *specs)


@kernel_for(UnsortedSegment)
def _(op: UnsortedSegment, *specs: TensorSpec) -> CudaKernel | None:
    return segments(op.how, False, False, op.number(*specs), *specs) if len(specs) == 2 else None
