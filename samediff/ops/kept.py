"""Which values a dropout keeps: a mask that the node and its gradient share."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..datatype import DataType
from ..executor.context import stream_of
from ..op import Kernel, Op, Specs, op
from ..spec import TensorSpec

if TYPE_CHECKING:
    from ..executor.cuda.actions import CudaKernel

#: Nanoseconds that an element takes.
_COST = 1.3


def keeps(generator: np.random.Generator, shape: tuple[int, ...], p: float) -> Any:
    """True with probability ``p``."""
    return generator.random(shape, np.float32) < np.float32(p)


@op("kept", inputs="", stateful=True, gradient="none")
class Kept(Op):
    """Booleans, True with probability ``p``: by the random numbers of node ``of`` (made by plans)."""

    p: float
    of: str
    shape: tuple[int, ...]
    is_shared = True

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape asked for."""
        return TensorSpec(self.shape, DataType.BOOL)

    def compute(self, xp: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """By uniform numbers."""
        return xp.asarray(keeps(context.at(self.of).random(), self.shape, self.p))

    def cpu(self, *specs: TensorSpec) -> Kernel | None:
        """The numbers are compared as integers: 24 bits, the upper ones of 32."""
        from ..executor.cpu.kernels.kept import keep
        numbers = stream_of(self.of), (math.ceil(float(np.float32(self.p)) * (1 << 24)) << 8) - 1

        def call(words: Any, kept: Any) -> None:
            keep(words, kept.reshape(-1), *numbers, 0, 1)

        def native(words: Any, kept: Any) -> Any:
            from ..executor.cpu.native.entry import instruction
            return instruction(keep, [words, kept.reshape(-1)], numbers, work=20 + _COST * kept.size, parts=True)
        return Kernel(call, native=native)

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """The same bits, each block of the stream by a thread of its own."""
        from ..executor.cuda.masks import keep
        return keep(stream_of(self.of), math.ceil(float(np.float32(self.p)) * (1 << 24)))
