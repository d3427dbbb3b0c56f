"""Standardization over axes, and its gradient."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.named_axes import expect
from ...base.spec import TensorSpec, normalize_axes, reduced
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...expressions.arrays import centred, deviation_over, mean_over
from ...families.broadcasting import axes_of
from ...families.composite import Composite
from ...ir.op import Op, Specs, SweepOf, op, require_floating

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def standardize(xp: Any, x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """(x - mean) / deviation and 1 / deviation, both 0 where the deviation is 0; in float32 for types of 16 bits."""
    y = centred(x, axes)[1]
    deviation = deviation_over(y, axes, True, np.float64(max(math.prod(y.shape[i] for i in axes), 1)))
    held = deviation > 1 / np.finfo(y.dtype).max            # so that 1 / deviation is a number of the type
    scale = xp.where(held, 1 / xp.where(held, deviation, y.dtype.type(1)), y.dtype.type(0)).astype(y.dtype)
    y *= scale
    return y, scale


@op("standardized_axes")
class StandardizedAxes(Op):
    """(x - mean) / deviation over ``axes`` (made by gradients)."""

    axes: tuple[int, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return standardize(xp, x, normalize_axes(self.axes, x.ndim))[0].astype(x.dtype, copy=False)

    def as_sweep(self, *specs: TensorSpec) -> SweepOf:
        return SweepOf("standardize", normalize_axes(self.axes, specs[0].rank or 0))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """(g - mean(g) - y mean(g y)) / deviation."""
        return [inputs[0].sd.add_op(StandardizeSlope(self.axes), [inputs[0], output_grads[0]])]


@op("standardize_slope", inputs="x upstream")
class StandardizeSlope(Composite):
    """(g - mean(g) - y mean(g y)) / deviation: gradient of the standardization (made by gradients)."""

    axes: tuple[int, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        expect("upstream", specs[1], specs[0].shape)
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, upstream: Any) -> Any:
        axes = normalize_axes(self.axes, x.ndim)
        y, scale = standardize(xp, x, axes)
        upstream = upstream.astype(y.dtype, copy=False)
        slope = upstream - mean_over(upstream, axes, keepdims=True)
        slope -= y * mean_over(upstream * y, axes, keepdims=True)
        slope *= scale
        return slope.astype(x.dtype, copy=False)

    def as_sweep(self, *specs: TensorSpec) -> SweepOf:
        return SweepOf("standardize_backward", normalize_axes(self.axes, specs[0].rank or 0))

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        x, g = inputs
        sd = x.sd
        y = sd.add_op(StandardizedAxes(self.axes), [x])
        inner = g - g.mean(True, *self.axes) - y * (g * y).mean(True, *self.axes)
        return sd.call("math", "div_no_nan", inner, sd.call("base", "standard_deviation", x, False, True, *self.axes))


@op("standardize", api="math.standardize base.standardize", signatures=("x, *dimensions",), file=FileArgs(ints=("*dimensions",)))
class Standardize(Op):
    """(x - mean) / std over ``dimensions`` (at least one) with the population deviation; 0 where the deviation is 0."""

    flops_per_element = 6
    dimensions: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating("standardize", specs[0])
        if not self.dimensions:
            raise ShapeError("standardize needs at least one dimension")
        reduced(specs[0].shape, self.dimensions, True)
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return standardize(xp, x, axes_of(self.dimensions, x.ndim))[0].astype(x.dtype, copy=False)

    def as_sweep(self, *specs: TensorSpec) -> SweepOf:
        return SweepOf("standardize", normalize_axes(self.dimensions, specs[0].rank or 0))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """(g - mean(g) - y mean(g y)) / std."""
        return [inputs[0].sd.add_op(StandardizeSlope(self.dimensions), [inputs[0], output_grads[0]])]
