"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.argreduce`."""
from __future__ import annotations

from ....datatype import DataType
from ....ops.argreduce import IndexReduction, IsMax
from ....spec import TensorSpec
from ....spreading import axes_of
from ..actions import CudaKernel
from ..kernel_table import kernel_for
from ..sweep import folded, swept
from ..sweeps import IS_MAX, POSITIONS


@kernel_for(IndexReduction)
def _(op: IndexReduction, *specs: TensorSpec) -> CudaKernel | None:
    x = specs[0]
    if op.which is None or len(specs) > 1 or not x.is_static:
        return None
    sweep = POSITIONS[op.which, op.absolute]
    return folded(sweep, axes_of(op.dimensions, len(x.shape or ())), [x], [TensorSpec(None, DataType.LONG)])


@kernel_for(IsMax)
def _(op: IsMax, *specs: TensorSpec) -> CudaKernel | None:
    x = specs[0]
    if not x.is_static or not x.dtype.is_numeric:
        return None
    return swept(IS_MAX, axes_of(op.dimensions, len(x.shape or ())), [x], result=DataType.BOOL)
