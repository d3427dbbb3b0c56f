"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.gru_sequence`."""
from __future__ import annotations

from ....op import Kernel
from ....ops.gru_sequence import GruSequence, GruSequenceGrad
from ....spec import TensorSpec
from .. import gated
from ..kernel_table import kernel_for


@kernel_for(GruSequence)
def _(op: GruSequence, *specs: TensorSpec) -> Kernel | None:
    return gated.gru(specs)


@kernel_for(GruSequenceGrad)
def _(op: GruSequenceGrad, *specs: TensorSpec) -> Kernel | None:
    return gated.gru_gradient(specs)
