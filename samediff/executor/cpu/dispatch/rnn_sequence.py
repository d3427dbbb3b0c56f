"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.rnn_sequence`."""
from __future__ import annotations

from ....op import Kernel
from ....ops.rnn_sequence import RnnSequence, RnnSequenceGrad, compiled_name
from ....spec import TensorSpec
from .. import recurrent
from ..kernel_table import kernel_for


@kernel_for(RnnSequence)
def _(op: RnnSequence, *specs: TensorSpec) -> Kernel | None:
    return recurrent.rnn(compiled_name(op.activation), specs)


@kernel_for(RnnSequenceGrad)
def _(op: RnnSequenceGrad, *specs: TensorSpec) -> Kernel | None:
    return recurrent.rnn_gradient(compiled_name(op.activation), specs)
