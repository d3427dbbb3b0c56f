"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.shape.standing`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.shape.standing import Standing
from ...kernel_table import KERNELS, kernel_for


@kernel_for(Standing)
def _(op: Standing, *specs: TensorSpec) -> Kernel | None:
    return KERNELS.kernel(op.meant(), *specs)
