"""Reductions over axes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...codecs.file_args import FileArgs
from ...codecs.file_forms import REDUCTION
from ...expressions.arrays import mean_over, norm_over, sum_over
from ...families.families import Reduction, reduction
from ...ir.op import op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("reduce_sum", api="math.sum base.sum var.sum", file=REDUCTION)
class Sum(Reduction):
    """Sum over ``dimensions``.  Shapes: x (*S) -> S without the dimensions, same type (integers wrap)."""

    of_one_itself = True

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        return sum_over(x, axes, self.keep_dims)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The upstream gradient, broadcast over x."""
        return [self.broadcast_reduced(output_grads[0], inputs)]


@op("reduce_mean", api="math.mean base.mean var.mean math.reduce_mean", file=REDUCTION)
class Mean(Reduction):
    """Arithmetic mean over ``dimensions``.  Shapes: x (*S) -> S without the dimensions; integers become FLOAT."""

    result = "to_float"
    of_one_itself = True

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        return mean_over(x, axes, self.keep_dims)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The upstream gradient over the number of elements, broadcast over x."""
        return [self.broadcast_reduced(output_grads[0], inputs, divisor=0)]


def _total(xp: Any, x: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
    return sum_over(x, axes, keep_dims)


def _extreme(name: str) -> Any:
    def reduce(xp: Any, x: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
        return getattr(xp, name)(x, axis=axes, keepdims=keep_dims)
    return reduce


def _at_extreme(xp: Any, x: Any, y: Any, upstream: Any) -> Any:
    return xp.where(x == y, upstream, 0)


def _at_absolute_extreme(xp: Any, x: Any, y: Any, upstream: Any) -> Any:
    return xp.where(abs(x) == y, upstream * xp.sign(x), 0)


def _over_norm(xp: Any, x: Any, y: Any, upstream: Any) -> Any:
    return xp.where(y == 0, 0, upstream * (x / y))


def _absolute_maximum(xp: Any, x: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
    return xp.max(abs(x), axis=axes, keepdims=keep_dims)


reduction("reduce_max", "base.max var.max math.reduce_max", _extreme("max"), "Largest element over ``dimensions``.", _at_extreme,
          of_one_itself=True, chosen_by="argmax")
reduction("reduce_min", "base.min var.min math.reduce_min", _extreme("min"), "Smallest element over ``dimensions``.", _at_extreme,
          of_one_itself=True, chosen_by="argmin")
reduction("reduce_norm1", "math.norm1 base.norm1 var.norm1", lambda xp, x, axes, keep: _total(xp, abs(x), axes, keep),
          "Sum of absolute values over ``dimensions``.", lambda xp, x, y, g: g * xp.sign(x), "to_float")
reduction("reduce_norm2", "math.norm2 base.norm2 var.norm2", lambda xp, x, axes, keep: norm_over(x, axes, keep),
          "Euclidean norm over ``dimensions``: sqrt(sum x^2).", _over_norm, "to_float")
reduction("reduce_sqnorm", "math.squared_norm base.squared_norm", lambda xp, x, axes, keep: _total(xp, x * x, axes, keep),
          "Sum of squares over ``dimensions``.", lambda xp, x, y, g: 2 * g * x, "to_float")
reduction("reduce_normmax", "math.norm_max base.normmax base.norm_max var.normmax var.norm_max", _absolute_maximum,
          "Largest absolute value over ``dimensions``, as a floating norm.", _at_absolute_extreme, "to_float",
          chosen_by="argamax")
reduction("asum", "math.asum", lambda xp, x, axes, keep: _total(xp, abs(x), axes, keep),
          "Sum of absolute values over ``dimensions``.", lambda xp, x, y, g: g * xp.sign(x))
reduction("amax", "math.amax math.reduce_a_max math.reduce_amax", _absolute_maximum, "Largest absolute value over ``dimensions``.",
          _at_absolute_extreme, chosen_by="argamax")
reduction("amin", "math.amin math.reduce_a_min math.reduce_amin", lambda xp, x, axes, keep: xp.min(abs(x), axis=axes, keepdims=keep),
          "Smallest absolute value over ``dimensions``.", _at_absolute_extreme, chosen_by="argamin")
reduction("entropy", "math.entropy", lambda xp, x, axes, keep: -_total(xp, x * xp.log(x), axes, keep),
          "-sum(x ln x) over ``dimensions``.", lambda xp, x, y, g: -g * (xp.log(x) + 1), "to_float")
reduction("shannonentropy", "math.shannon_entropy", lambda xp, x, axes, keep: -_total(xp, x * xp.log2(x), axes, keep),
          "-sum(x log2 x) over ``dimensions``.", lambda xp, x, y, g: -g * (xp.log(x) + 1) / float(np.log(2)), "to_float")
reduction("logentropy", "math.log_entropy", lambda xp, x, axes, keep: xp.log(-_total(xp, x * xp.log(x), axes, keep)),
          "ln(-sum(x ln x)) over ``dimensions``.", lambda xp, x, y, g: -g * (xp.log(x) + 1) / xp.exp(y), "to_float")
reduction("all", "base.all math.all var.all", lambda xp, x, axes, keep: xp.all(x != 0, axis=axes, keepdims=keep),
          "True where every element over ``dimensions`` is not 0.", result=DataType.BOOL)
reduction("any", "base.any math.any var.any", lambda xp, x, axes, keep: xp.any(x != 0, axis=axes, keepdims=keep),
          "True where some element over ``dimensions`` is not 0.", result=DataType.BOOL)
reduction("countNonZero", "math.count_non_zero base.count_non_zero", lambda xp, x, axes, keep: (x != 0).sum(axis=axes, keepdims=keep),
          "Number of elements other than 0 over ``dimensions``.", result=DataType.LONG)
reduction("countZero", "math.count_zero base.count_zero", lambda xp, x, axes, keep: (x == 0).sum(axis=axes, keepdims=keep),
          "Number of zeros over ``dimensions``.", result=DataType.LONG)


@op("amean", api="math.amean math.reduce_amean math.reduce_a_mean", file=REDUCTION)
class AbsoluteMean(Reduction):
    """Mean of absolute values over ``dimensions``."""

    result = "to_float"

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        return mean_over(abs(x), axes, self.keep_dims)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [self.broadcast_reduced(output_grads[0], inputs, divisor=0) * inputs[0].sd.call("math", "sign", inputs[0])]


@op("reduce_logsumexp", api="math.log_sum_exp base.log_sum_exp",
    file=FileArgs(ints=("*dimensions",), floats=("keep_dims:bool",), properties={"keepDims": "b:keep_dims"}))
class LogSumExp(Reduction):
    """ln(sum(exp x)) over ``dimensions``, computed from the largest element of each slice; gradient softmax(x)."""

    result = "to_float"
    slope = staticmethod(lambda xp, x, y, g: xp.where(y == -xp.inf, 0, g * xp.where(x == y, 1, xp.exp(x - y))))

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        """Computed without overflow for any x."""
        if not all(x.shape[i] for i in axes):       # nothing: ln(0)
            return xp.full([1 if i in axes else n for i, n in enumerate(x.shape) if self.keep_dims or i not in axes], -xp.inf, x.dtype)
        top = xp.max(x, axis=axes, keepdims=True)
        top = xp.where(abs(top) == xp.inf, x.dtype.type(0), top)
        found = xp.log(_total(xp, xp.exp(x - top), axes, True)) + top
        return found if self.keep_dims else found.reshape([n for i, n in enumerate(x.shape) if i not in axes])


@op("zero_fraction", api="math.zero_fraction", gradient="zero")
class ZeroFraction(Reduction):
    """Share of zeros in the whole array, FLOAT."""

    result = DataType.FLOAT

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        count = (x == 0).sum(axis=axes, keepdims=self.keep_dims)
        return count / xp.float32(x.size / max(count.size, 1))
