"""Local response normalization."""
from __future__ import annotations

from typing import Any

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.composite import Composite
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op, require_floating


@op("neighbour_sum")
class NeighbourSum(Op):
    """Sum over ``depth`` neighbours on each side along ``axis``; its own transpose."""

    depth: int
    axis: int = -1

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        """The sum over neighbouring channels, by one addition for each neighbour."""
        total = x.copy()
        sums, cells = (xp.moveaxis(a, self.axis, 0) for a in (total, x))
        for k in range(1, min(self.depth, len(cells) - 1) + 1):
            sums[k:] += cells[:-k]
            sums[:-k] += cells[k:]
        return total

    def grad(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        """The same sum over the upstream gradient, as the op is symmetric."""
        return [inputs[0].sd.add_op(self, [output_grads[0]])]


@op("lrn", api="cnn.local_response_normalization", signatures=("x, &config",), file=FileArgs(
    ints=("depth",), floats=("bias", "alpha", "beta"),
    properties={"alpha": "d:alpha", "beta": "d:beta", "bias": "d:bias", "depth": "i:depth"}))
class LocalResponseNormalizationOp(Composite):
    """x / (bias + alpha * sum of x^2 over c - depth … c + depth) ** beta along the last axis.

    Shapes: x (N, H, W, C) floating -> the same.  Source: Krizhevsky, Sutskever and Hinton 2012.
    """

    inlines = True
    depth: int = 5
    bias: float = 1.0
    alpha: float = 1.0
    beta: float = 0.5

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, specs[0])
        if specs[0].rank not in (None, 4):
            raise ShapeError(f"images need rank 4; got {specs[0].shape}")
        return TensorSpec(specs[0].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        total = NeighbourSum(self.depth).compute(xp, x * x)
        return x * (total * x.dtype.type(self.alpha) + x.dtype.type(self.bias)) ** x.dtype.type(-self.beta)

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        (x,) = inputs
        total = x.sd.add_op(NeighbourSum(self.depth), [x * x])
        return x * (total * self.alpha + self.bias) ** (-self.beta)
