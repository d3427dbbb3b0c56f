"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.reduce.argreduce`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....families.broadcasting import axes_of
from ....ir.op import Kernel
from ....ops.reduce.argreduce import IndexReduction
from ...kernel_table import kernel_for
from ...routines.argreduce import position


@kernel_for(IndexReduction)
def _(op: IndexReduction, *specs: TensorSpec) -> Kernel | None:
    x = specs[0]
    if op.which is None or op.absolute or len(specs) > 1 or not x.is_static:
        return None
    return position(op.which, axes_of(op.dimensions, len(x.shape or ())), x)
