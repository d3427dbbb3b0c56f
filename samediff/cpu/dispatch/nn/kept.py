"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.nn.kept`."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ir.run_context import stream_of
from ....ops.nn.kept import Kept
from ...kernel_table import kernel_for
from ...kernels.kept import keep
from ...native.entry import instruction

_COST = 1.3


@kernel_for(Kept)
def _(op: Kept, *specs: TensorSpec) -> Kernel | None:
    numbers = stream_of(op.of), (math.ceil(float(np.float32(op.p)) * (1 << 24)) << 8) - 1

    def call(words: Any, kept: Any) -> None:
        keep(words, kept.reshape(-1), *numbers, 0, 1)

    def native(words: Any, kept: Any) -> Any:
        return instruction(keep, [words, kept.reshape(-1)], numbers, work=20 + _COST * kept.size, parts=True)
    return Kernel(call, native=native)
