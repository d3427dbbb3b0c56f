"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.recurrent.lstm_sequence`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.recurrent.lstm_sequence import LstmSequence, LstmSequenceGrad
from ...kernel_table import kernel_for
from ...routines import recurrent


@kernel_for(LstmSequence)
def _(op: LstmSequence, *specs: TensorSpec) -> Kernel | None:
    return recurrent.lstm(op, (*specs, *[None] * (8 - len(specs))))


@kernel_for(LstmSequenceGrad)
def _(op: LstmSequenceGrad, *specs: TensorSpec) -> Kernel | None:
    return recurrent.lstm_gradient(op, specs)
