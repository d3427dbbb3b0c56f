"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.gru_sequence`."""
from __future__ import annotations

from ....ops.gru_sequence import GruSequence, GruSequenceGrad
from ....spec import TensorSpec
from .. import gated
from ..actions import CudaKernel
from ..kernel_table import kernel_for


@kernel_for(GruSequence)
def _(op: GruSequence, *specs: TensorSpec) -> CudaKernel | None:
    return gated.forward(*specs)


@kernel_for(GruSequenceGrad)
def _(op: GruSequenceGrad, *specs: TensorSpec) -> CudaKernel | None:
    return gated.backward(*specs)
