"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.conv.pool`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.conv.pool import MaxPooling, MaxPoolWithArgmax, PNormPool2D
from ...kernel_table import kernel_for
from ...routines.pooling import maximum, maximum_and_place, power_mean


@kernel_for(MaxPooling)
def _(op: MaxPooling, *specs: TensorSpec) -> Kernel | None:
    return maximum(op.pool(), specs[0])


@kernel_for(PNormPool2D)
def _(op: PNormPool2D, *specs: TensorSpec) -> Kernel | None:
    return power_mean(op.pool(), op.extra, specs[0])


@kernel_for(MaxPoolWithArgmax)
def _(op: MaxPoolWithArgmax, *specs: TensorSpec) -> Kernel | None:
    return maximum_and_place(op.pool(), specs[0])
