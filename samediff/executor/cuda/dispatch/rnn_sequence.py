"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.rnn_sequence`."""
from __future__ import annotations

from ....ops.rnn_sequence import RnnSequence, RnnSequenceGrad
from ....spec import TensorSpec
from .. import rnn
from ..actions import CudaKernel
from ..kernel_table import kernel_for


@kernel_for(RnnSequence)
def _(op: RnnSequence, *specs: TensorSpec) -> CudaKernel | None:
    return rnn.forward(op.activation, (*specs, *[None] * (6 - len(specs))))


@kernel_for(RnnSequenceGrad)
def _(op: RnnSequenceGrad, *specs: TensorSpec) -> CudaKernel | None:
    return rnn.backward(op.activation, specs)
