"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.conv.pooling`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.conv.pooling import WindowGather, WindowScatter, WindowSpread, WindowSum
from ...kernel_table import kernel_for
from ...routines.pooling import maximum_gradient, maximum_taken, spread, total


@kernel_for(WindowSum)
def _(op: WindowSum, *specs: TensorSpec) -> Kernel | None:
    return total(op.pool, specs[0])


@kernel_for(WindowSpread)
def _(op: WindowSpread, *specs: TensorSpec) -> Kernel | None:
    return spread(op.pool, *specs)


@kernel_for(WindowScatter)
def _(op: WindowScatter, *specs: TensorSpec) -> Kernel | None:
    return maximum_gradient(op.pool, *specs)


@kernel_for(WindowGather)
def _(op: WindowGather, *specs: TensorSpec) -> Kernel | None:
    return maximum_taken(op.pool, *specs)
