"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.nn.dropout_mask`."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ir.run_context import stream_of
from ....ops.nn.dropout_mask import DropoutMask
from ...kernel_table import kernel_for
from ...kernels.dropout_mask import keep
from ...native.instruction import instruction

_COST = 1.3


@kernel_for(DropoutMask)
def _(op: DropoutMask, *specs: TensorSpec) -> Kernel | None:
    numbers = stream_of(op.of), (math.ceil(float(np.float32(op.p)) * (1 << 24)) << 8) - 1

    def call(words: Any, kept: Any) -> None:
        keep(words, kept.reshape(-1), *numbers, 0, 1)

    def native(words: Any, kept: Any) -> Any:
        return instruction(keep, [words, kept.reshape(-1)], numbers, work=20 + _COST * kept.size, parts=True)
    return Kernel(call, native=native)
