"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.nn.kept`."""
from __future__ import annotations

import math

import numpy as np

from ....base.spec import TensorSpec
from ....ir.run_context import stream_of
from ....ops.nn.kept import Kept
from ...actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.masks import keep


@kernel_for(Kept)
def _(op: Kept, *specs: TensorSpec) -> CudaKernel | None:
    return keep(stream_of(op.of), math.ceil(float(np.float32(op.p)) * (1 << 24)))
