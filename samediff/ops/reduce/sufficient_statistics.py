"""Sufficient statistics of mean and variance."""
from __future__ import annotations

from typing import Any

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...expressions.arrays import sum_over
from ...families.broadcasting import axes_of
from ...families.composite import Composite
from ...families.indices import require_integer
from ...families.sizes import axis_size
from ...ir.op import op, require_floating
from .reduce import Sum


@op("sufficient_statistics", inputs="x axes shift_value?", signatures=("x, axes, shift", "x, axes, shift_value"),
    file=FileArgs(floats=("shift?",)))
class SufficientStatistics(Composite):
    """Number, sum and sum of squares of the elements over ``axes``; with a ``shift`` that number besides.

    As in DL4J the sums are those of x itself: a shift is handed on, not subtracted, and the input ``shift_value`` has no effect.

    Shapes: x (*S) -> count (), sum and squares without the axes[, shift ()], all in the type of x.
    """

    shift: float | None = None

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Count, sum and sum of squares, and the shift where it is given."""
        x, axes = specs[:2]
        require_floating(self.id, x)
        require_integer("axes", axes)
        total = Sum().infer(x, axes)
        assert isinstance(total, TensorSpec)  # a reduction has one output
        shifted = self.shift is not None
        return (TensorSpec((), x.dtype), total, total, TensorSpec((), x.dtype))[:4 if shifted else 3]

    def compute(self, xp: Any, x: Any, axes: Any, shift_value: Any = None) -> Any:
        over = axes_of((), x.ndim, axes)
        count = x.dtype.type(1)
        for axis in over:
            count = count * x.dtype.type(x.shape[axis])
        found = xp.asarray(count), sum_over(x, over), sum_over(x * x, over)
        return found if self.shift is None else (*found, xp.asarray(self.shift, x.dtype))

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops; the count is a constant."""
        x, axes = inputs[:2]
        sd, one = x.sd, axis_size(x.sd.call("base", "reshape", x, -1), 0) * 0.0
        found = one, sd.call("base", "sum", x, axes, False), sd.call("base", "sum", x * x, axes, False)
        return found if self.shift is None else (*found, one)
