"""Variance, standard deviation, moments, standardization."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.named_axes import expect, expect_broadcast
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...expressions.arrays import centred, deviation_over, mean_of_squares
from ...families.broadcasting import axes_of, sum_to
from ...families.families import Elementwise, Reduction
from ...ir.op import Op, SweepOf, op
from .reduce import Mean

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


_FILE = FileArgs(dimensions="dimensions", properties={"keepDims": "b:keep_dims", "biasCorrected": "b:bias_corrected"})


class _Spread(Reduction):
    """Population (divisor n) or sample (n - 1) statistics."""

    signatures = ("x, bias_corrected, *dimensions", "x, bias_corrected, keep_dims, *dimensions", "x, bias_corrected, axes, keep_dims",
                  "x, *dimensions")
    result = "to_float"
    bias_corrected = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__annotations__["bias_corrected"] = "bool"

    @property
    def compiled_as(self) -> str:
        """Name of the compiled reduction, one for each divisor."""
        return f"sample_{self.id}" if self.bias_corrected else self.id

    def rest(self, x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
        """Differences from the mean, and what to divide the sum of their squares by."""
        n = x.size
        for i, size in enumerate(x.shape):
            n = n if i in axes else n // max(size, 1)
        return centred(x, axes)[1], np.float64(n - int(self.bias_corrected))

    def centred(self, inputs: Sequence[SDVariable]) -> SDVariable:
        """x minus its mean over the dimensions."""
        mean = inputs[0].sd.add_op(Mean(self.dimensions, True), list(inputs))  # type: ignore[call-arg]
        return inputs[0] - mean  # type: ignore[no-any-return]

    def over_n(self, value: SDVariable, inputs: Sequence[SDVariable]) -> SDVariable:
        """A reduced value divided by the divisor and broadcast over x."""
        return self.broadcast_reduced(value, inputs, divisor=int(self.bias_corrected))


@op("var", api="base.variance math.variance var.variance base.var_ math.var", file=_FILE)
class Variance(_Spread):
    """Mean of squared deviations over ``dimensions``; ``bias_corrected`` divides by n - 1."""

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        rest, divisor = self.rest(x, axes)
        wide = rest.astype(np.result_type(rest.dtype, np.float64), copy=False)
        return ((wide * wide).sum(axis=axes, keepdims=self.keep_dims) / divisor).astype(x.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """2 (x - mean) / divisor."""
        return [self.over_n(output_grads[0], inputs) * self.centred(inputs) * 2.0]


@op("std", api="base.standard_deviation math.standard_deviation var.std base.std math.std var.standard_deviation", file=_FILE)
class StandardDeviation(_Spread):
    """Square root of the variance over ``dimensions``; ``bias_corrected`` divides by n - 1."""

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        rest, divisor = self.rest(x, axes)
        return deviation_over(rest, axes, self.keep_dims, divisor).astype(x.dtype, copy=False)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """(x - mean) / (divisor * std)."""
        part = inputs[0].sd.call("math", "div_no_nan", output_grads[0], outputs[0])
        return [self.over_n(part, inputs) * self.centred(inputs)]


@op("moments", api="math.moments base.moments nn.moments", inputs="x axes?", signatures=(
    "x, dimensions, keep_dims", "x, *dimensions", "x, axes, keep_dims"),
    file=FileArgs(ints=("*dimensions",), bools=("keep_dims",), properties={"keepDims": "b:keep_dims"}))
class Moments(Op):
    """Mean and population variance over ``dimensions``: two outputs."""

    flops_per_element = 4
    dimensions: tuple[int, ...] = ()
    keep_dims: bool = False

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Two arrays of the reduced shape."""
        one = Variance(self.dimensions, self.keep_dims).infer(*specs)  # type: ignore[call-arg]
        return (one, one)  # type: ignore[return-value]

    def compute(self, xp: Any, x: Any, axes: Any = None) -> Any:
        x = x.astype(xp.float32) if x.dtype.kind in "iub" else x
        over = axes_of(self.dimensions, x.ndim, axes)
        mean, rest = centred(x, over)
        variance = mean_of_squares(rest, over, keepdims=self.keep_dims)
        return mean.reshape(variance.shape), variance.astype(x.dtype, copy=False)

    def as_sweep(self, *specs: TensorSpec) -> SweepOf | None:
        """Both in one sweep."""
        x = specs[0]
        result = x.dtype if x.dtype.is_floating else DataType.FLOAT
        return SweepOf("moments", axes_of(self.dimensions, x.rank or 0), result) if len(specs) == 1 else None

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The sum of the gradients through mean and variance."""
        mean = Mean(self.dimensions, self.keep_dims).grad(inputs, outputs[:1], output_grads[:1])[0]  # type: ignore[call-arg]
        variance = Variance(self.dimensions, self.keep_dims).grad(inputs, outputs[1:], output_grads[1:])[0]  # type: ignore[call-arg]
        return [mean + variance]  # type: ignore[operator]


@op("normalize_moments", api="math.normalize_moments", inputs="counts means variances", file=FileArgs(floats=("shift",)))
class NormalizeMoments(Elementwise):
    """Mean and variance from a count, a sum and a sum of squares (both shifted by ``shift``): two outputs."""

    shift: float = 0.0

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        counts, means, variances = specs
        expect("variances", variances, means.shape)
        expect_broadcast("counts", counts, means.shape)
        return (TensorSpec(means.shape, means.dtype if means.dtype.is_floating else DataType.FLOAT),) * 2

    def compute(self, xp: Any, counts: Any, means: Any, variances: Any) -> Any:
        mean = means / counts
        return mean + self.shift, variances / counts - mean * mean

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        counts, means, variances = inputs
        for_mean, for_variance = output_grads
        down = for_variance / counts
        mean_total = for_mean - for_variance * (means / counts) * 2.0
        by_counts = -(mean_total * means + for_variance * variances) / (counts * counts)
        return [sum_to(by_counts, counts), sum_to(mean_total / counts, means), sum_to(down, variances)]
