"""Masks of dropouts, from NumPy's stream of random numbers."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ir.run_context import stream_of
from ....ops.nn.dropout_mask import DropoutMask
from ....plans.actions import Action, CudaKernel, KernelLaunch
from ...kernel_table import kernel_for
from ...routines.gather import flat
from ...sources import source


@kernel_for(DropoutMask)
def keep(op: DropoutMask, *specs: TensorSpec) -> CudaKernel:
    """``call(words, kept)``: True where a number of 24 bits is below a limit."""
    text, stream, limit = source("dropout_mask"), stream_of(op.of), math.ceil(float(np.float32(op.p)) * (1 << 24))

    def actions(words: Any, kept: Any) -> list[Action]:
        args = words, kept, np.int64(kept.size), np.uint64(stream), np.uint32(limit)
        return [KernelLaunch(text, "keep", *flat(-(-kept.size // 8)), args)] if kept.size else []
    return CudaKernel(actions)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """The kernel for tests: label, source."""
    yield "keep", source("dropout_mask")
