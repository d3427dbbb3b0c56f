"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.nn.dropout_mask`."""
from __future__ import annotations

import math

import numpy as np

from ....base.spec import TensorSpec
from ....ir.run_context import stream_of
from ....ops.nn.dropout_mask import DropoutMask
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.dropout_mask import keep


@kernel_for(DropoutMask)
def _(op: DropoutMask, *specs: TensorSpec) -> CudaKernel | None:
    return keep(stream_of(op.of), math.ceil(float(np.float32(op.p)) * (1 << 24)))
