"""Reductions over axes."""
from __future__ import annotations

from typing import Any

from ..families import Reduction
from ..op import op


@op("reduce_sum", api="math.sum base.sum var.sum")
class Sum(Reduction):
    """Sum over ``dimensions``.  Shapes: x (*S) -> S without the dimensions, same type (integers wrap)."""

    def compute(self, xp: Any, x: Any) -> Any:
        """The sum."""
        return x.sum(axis=self.axes(x), keepdims=self.keep_dims, dtype=x.dtype)

    def grad(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        """The upstream gradient, spread."""
        return [self.spread(output_grads[0], inputs[0])]
