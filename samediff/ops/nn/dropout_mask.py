"""Dropout mask: the values that a dropout keeps, shared by the node and its gradient."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...ir.op import Op, Specs, op


def keeps(generator: np.random.Generator, shape: tuple[int, ...], p: float) -> Any:
    """A BOOL array that is true with probability ``p``."""
    return generator.random(shape, np.float32) < np.float32(p)


@op("kept", inputs="", stateful=True, gradient="none")
class DropoutMask(Op):
    """Booleans, True with probability ``p``: by the random numbers of node ``of`` (made by plans)."""

    flops_per_element = 0
    p: float
    of: str
    shape: tuple[int, ...]
    is_shared = True

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the op was given."""
        return TensorSpec(self.shape, DataType.BOOL)

    def compute(self, xp: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        return xp.asarray(keeps(context.at(self.of).random(), self.shape, self.p))
