"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.recurrent.gru_sequence`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.recurrent.gru_sequence import GruSequence, GruSequenceGrad
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.recurrent import gru


@kernel_for(GruSequence)
def _(op: GruSequence, *specs: TensorSpec) -> CudaKernel | None:
    return gru.forward(*specs)


@kernel_for(GruSequenceGrad)
def _(op: GruSequenceGrad, *specs: TensorSpec) -> CudaKernel | None:
    return gru.backward(*specs)
