"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.recurrent.gru_sequence`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.recurrent.gru_sequence import GruSequence, GruSequenceGrad
from ...kernel_table import kernel_for
from ...routines import gru


@kernel_for(GruSequence)
def _(op: GruSequence, *specs: TensorSpec) -> Kernel | None:
    return gru.gru(specs)


@kernel_for(GruSequenceGrad)
def _(op: GruSequenceGrad, *specs: TensorSpec) -> Kernel | None:
    return gru.gru_gradient(specs)
