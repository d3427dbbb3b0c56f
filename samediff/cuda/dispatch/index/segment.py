"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.index.segment`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.index.segment import CountOfRow, Segment, UnsortedSegment
from ...actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.changes import segments
from ...routines.rows import equal_rows


@kernel_for(CountOfRow)
def _(op: CountOfRow, *specs: TensorSpec) -> CudaKernel | None:
    out = op.infer(*specs)
    return equal_rows(False, specs[0], out) if isinstance(out, TensorSpec) else None


@kernel_for(Segment)
def _(op: Segment, *specs: TensorSpec) -> CudaKernel | None:
    name = op.id.removeprefix("segment_")
    return segments(name, name in ("max", "min"), True, op.number(*specs), *specs)


@kernel_for(UnsortedSegment)
def _(op: UnsortedSegment, *specs: TensorSpec) -> CudaKernel | None:
    return segments(op.id.removeprefix("unsorted_segment_"), False, False, op.number(*specs), *specs) if len(specs) == 2 else None
