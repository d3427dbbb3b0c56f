"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.nn.softmax`."""
from __future__ import annotations

from ....base.spec import TensorSpec, normalize_axis
from ....ir.op import Kernel
from ....ops.nn.softmax import AlongAxis
from ....plans.sweeps.table import NORMALIZATIONS
from ...kernel_table import kernel_for
from ...sweeps.sweep import swept


@kernel_for(AlongAxis)
def _(op: AlongAxis, *specs: TensorSpec) -> Kernel | None:
    sweep, x = NORMALIZATIONS.get(op.compiled_as), specs[0]
    if sweep is None or not x.is_static or not x.shape:
        return None
    return swept(sweep, (normalize_axis(op.dimension, len(x.shape)),), specs)
