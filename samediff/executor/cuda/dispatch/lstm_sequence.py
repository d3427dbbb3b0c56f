"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.lstm_sequence`."""
from __future__ import annotations

from ....ops.lstm_sequence import LstmSequence, LstmSequenceGrad
from ....spec import TensorSpec
from .. import lstm
from ..actions import CudaKernel
from ..kernel_table import kernel_for


@kernel_for(LstmSequence)
def _(op: LstmSequence, *specs: TensorSpec) -> CudaKernel | None:
    return lstm.forward(op, (*specs, *[None] * (8 - len(specs))))


@kernel_for(LstmSequenceGrad)
def _(op: LstmSequenceGrad, *specs: TensorSpec) -> CudaKernel | None:
    return lstm.backward(op, specs)
