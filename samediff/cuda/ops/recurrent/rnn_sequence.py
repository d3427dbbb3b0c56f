"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.recurrent.rnn_sequence`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.recurrent.rnn_sequence import RnnSequence, RnnSequenceGrad
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.recurrent import rnn


@kernel_for(RnnSequence)
def _(op: RnnSequence, *specs: TensorSpec) -> CudaKernel | None:
    return rnn.forward(op.activation, (*specs, *[None] * (6 - len(specs))))


@kernel_for(RnnSequenceGrad)
def _(op: RnnSequenceGrad, *specs: TensorSpec) -> CudaKernel | None:
    return rnn.backward(op.activation, specs)
