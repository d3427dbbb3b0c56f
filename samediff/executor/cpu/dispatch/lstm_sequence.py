"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.lstm_sequence`."""
from __future__ import annotations

from ....op import Kernel
from ....ops.lstm_sequence import LstmSequence, LstmSequenceGrad
from ....spec import TensorSpec
from .. import recurrent
from ..kernel_table import kernel_for


@kernel_for(LstmSequence)
def _(op: LstmSequence, *specs: TensorSpec) -> Kernel | None:
    return recurrent.lstm(op, (*specs, *[None] * (8 - len(specs))))


@kernel_for(LstmSequenceGrad)
def _(op: LstmSequenceGrad, *specs: TensorSpec) -> Kernel | None:
    return recurrent.lstm_gradient(op, specs)
