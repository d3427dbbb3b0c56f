"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.recurrent.rnn_sequence`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.recurrent.rnn_sequence import RnnSequence, RnnSequenceGrad, compiled_name
from ...kernel_table import kernel_for
from ...routines import recurrent


@kernel_for(RnnSequence)
def _(op: RnnSequence, *specs: TensorSpec) -> Kernel | None:
    return recurrent.rnn(compiled_name(op.activation), specs)


@kernel_for(RnnSequenceGrad)
def _(op: RnnSequenceGrad, *specs: TensorSpec) -> Kernel | None:
    return recurrent.rnn_gradient(compiled_name(op.activation), specs)
