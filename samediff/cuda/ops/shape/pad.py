"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.pad`."""
from __future__ import annotations

from ....base.enums import PadMode
from ....base.spec import TensorSpec
from ....ops.shape.pad import Pad
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.padding import padded


@kernel_for(Pad)
def _(op: Pad, *specs: TensorSpec) -> CudaKernel | None:
    x, padding = specs
    if padding.value is None or (op.mode is PadMode.CONSTANT and not op.constant):      # zeros around it are the op's copies
        return None
    return padded([(int(a), int(b)) for a, b in padding.value], op.mode, op.constant, x)
