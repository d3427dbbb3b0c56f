"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.recurrent.lstm_sequence`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.recurrent.lstm_sequence import LstmSequence, LstmSequenceGrad
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.recurrent import lstm


@kernel_for(LstmSequence)
def _(op: LstmSequence, *specs: TensorSpec) -> CudaKernel | None:
    return lstm.forward(op, (*specs, *[None] * (8 - len(specs))))


@kernel_for(LstmSequenceGrad)
def _(op: LstmSequenceGrad, *specs: TensorSpec) -> CudaKernel | None:
    return lstm.backward(op, specs)
