"""The reductions and normalizations that run as sweeps on both back ends."""
from __future__ import annotations

import math
from typing import Any

from .spec import Formula, Stage, Sweep


def element(x0: Any) -> Any:
    """The element of the first array."""
    return x0


def second(x1: Any) -> Any:
    """The element of the second array."""
    return x1


def product(x0: Any, x1: Any) -> Any:
    """Product of the elements of two arrays."""
    return x0 * x1


def first_result(r0: Any) -> Any:
    """The result of the first fold."""
    return r0


def second_result(r1: Any) -> Any:
    """The result of the second fold."""
    return r1


def magnitude(xp: Any, x0: Any) -> Any:
    """The absolute value."""
    return xp.abs(x0)


def squared(x0: Any) -> Any:
    """The square."""
    return x0 * x0


def scale(xp: Any, largest: Any) -> Any:
    """A divisor that keeps squares in the range of the type: the largest magnitude, or 1 where that is 0 or infinite."""
    return xp.where((largest > 0) & (largest < xp.inf), largest, 1)


#: The largest magnitude of a slice, and its Euclidean norm.
NORM = (Stage(magnitude, "max"), Stage(lambda xp, x0, r0: squared(x0 / scale(xp, r0)), "sum", lambda xp, t, r0: xp.sqrt(t) * scale(xp, r0)))


def mean(t: Any, n: Any) -> Any:
    """The total over the length."""
    return t / n


def is_zero(x0: Any) -> Any:
    """Whether an element is 0."""
    return x0 == 0


def is_other_than_zero(x0: Any) -> Any:
    """Whether an element is not 0."""
    return x0 != 0


def _information(xp: Any, x0: Any) -> Any:
    return x0 * xp.log(x0)


def _weight(xp: Any, x0: Any, r0: Any) -> Any:
    """e to what an element is below the largest one."""
    return xp.exp(x0 - r0)


def _fold(*stage: Any, **options: Any) -> Sweep:
    """A sweep of one :class:`Stage` whose result is the result of the sweep."""
    return Sweep((Stage(*stage, **options),), (first_result,))


# A mean of differences from the first element makes the deviation of equal elements exactly 0. Where the first one is an outlier,
# these differences lose digits, or leave the type.

def _centred(x0: Any, first: Any, r0: Any) -> Any:
    return (x0 - first) - r0


# Squares of deviations that leave the range of the type are taken a second time in another unit, a power of two. A total of 0 may be
# of squares below the smallest number: only the second time it says that all elements are equal.

def _squared(x0: Any, first: Any, r0: Any, unit: Any) -> Any:
    return squared(_centred(x0, first, r0) * unit)


def far_unit(xp: Any, t: Any) -> float:
    """By what numbers are multiplied, or divided, whose squares would leave the range of the type."""
    return float(2.0 ** (-2 * xp.finfo(t.dtype).minexp // 3))


def _near(xp: Any, r0: Any, t: Any, n: Any) -> Any:
    return (r0 * r0 * n <= 16 * t) & (t * far_unit(xp, t) >= n) & (t < xp.inf)


def _unit(xp: Any, t: Any, n: Any) -> Any:
    far = far_unit(xp, t)
    return xp.where(t * far < n, far, xp.where(t < xp.inf, 1, 1 / far))


def _inverse(xp: Any, t: Any, n: Any, unit: Any) -> Any:
    inverse = unit / xp.sqrt(t / n)
    return xp.where((t == 0) | (inverse == xp.inf), 0, inverse)


_MEAN = Stage(lambda x0, first, unit: (x0 - first) * unit, "sum", lambda t, n, unit: t / n / unit)
VARIANCE = Stage(_squared, "sum", lambda t, n, unit: t / n / unit / unit)
DEVIATION = Stage(_squared, "sum", lambda xp, t, n, unit: xp.sqrt(t / n) / unit)


def spread(stage: Stage, *results: Formula) -> Sweep:
    """``r0 + first`` is the mean, r1 the variance or deviation of the population."""
    return Sweep((_MEAN, stage), results, near=_near, unit=_unit)


def _normalized(epilogue: Formula, *more: Stage) -> Sweep:
    """r1 is 1 / deviation, 0 where that is 0 or left the type."""
    return Sweep((_MEAN, Stage(_squared, "sum", _inverse), *more), epilogue=epilogue, near=_near, unit=_unit)


#: By the name of the op: one result for each slice.
REDUCTIONS: dict[str, Sweep] = {
    "reduce_sum": _fold(),
    "reduce_mean": _fold(element, "sum", mean),
    "reduce_prod": _fold(element, "prod"),
    "reduce_max": _fold(element, "max"),
    "reduce_min": _fold(element, "min"),
    "reduce_norm1": _fold(magnitude),
    "reduce_norm2": Sweep(NORM, (second_result,)),
    "reduce_sqnorm": _fold(squared),
    "reduce_normmax": _fold(magnitude, "max"),
    "asum": _fold(magnitude),
    "amean": _fold(magnitude, "sum", mean),
    "amax": _fold(magnitude, "max"),
    "amin": _fold(magnitude, "min"),
    "entropy": _fold(_information, "sum", lambda t: -t),
    "shannonentropy": _fold(_information, "sum", lambda t: t * (-1 / math.log(2))),
    "logentropy": _fold(_information, "sum", lambda xp, t: xp.log(-t)),
    "all": _fold(is_other_than_zero, "min", counting=True),
    "any": _fold(is_other_than_zero, "max", counting=True),
    "countNonZero": _fold(is_other_than_zero, counting=True),
    "countZero": _fold(is_zero, counting=True),
    "zero_fraction": _fold(is_zero, "sum", mean, counting=True),
    "reduce_logsumexp": Sweep((Stage(element, "max", lambda xp, t: xp.where(xp.abs(t) == xp.inf, 0, t)),
                               Stage(_weight, "sum", lambda xp, t, r0: xp.log(t) + r0)), (second_result,)),
    "var": spread(VARIANCE, second_result),
    "sample_var": spread(VARIANCE, lambda r1, n: r1 * (n / (n - 1))),
    "std": spread(DEVIATION, second_result),
    "sample_std": spread(DEVIATION, lambda xp, r1, n: r1 * xp.sqrt(n / (n - 1))),
    "moments": spread(VARIANCE, lambda r0, first: r0 + first, second_result),
}

#: Of a softmax: the largest element, and e to what others are below it, over whose sum r1 is 1.
TOP = Stage(element, "max")
WEIGHTS = Stage(_weight, "sum", lambda t: 1 / t, keep=True)
#: The logarithm of that sum.
LOG_SUM = Stage(_weight, "sum", lambda xp, t: xp.log(t))


def _standardized(x0: Any, first: Any, r0: Any, r1: Any) -> Any:
    return _centred(x0, first, r0) * r1


#: One result for each element; x1 is the upstream gradient (of softmaxes: x0 their result).
NORMALIZATIONS: dict[str, Sweep] = {
    "softmax": Sweep((TOP, WEIGHTS), epilogue=lambda kept, r1: kept * r1),
    "softmax_bp": Sweep((TOP, WEIGHTS, Stage(lambda kept, x1: kept * x1, "sum", lambda t, r1: t * r1)),
                        epilogue=lambda kept, x1, r1, r2: kept * r1 * (x1 - r2)),
    "softmax_backward": Sweep((Stage(product),), epilogue=lambda x0, x1, r0: x0 * (x1 - r0)),
    "log_softmax": Sweep((TOP, LOG_SUM), epilogue=lambda x0, r0, r1: (x0 - r0) - r1),
    "log_softmax_backward": Sweep((Stage(second),), epilogue=lambda xp, x0, x1, r0: x1 - xp.exp(x0) * r0),
    "standardize": _normalized(_standardized),
    "standardize_backward": _normalized(
        lambda x0, x1, first, r0, r1, r2, r3: (x1 - r2 - _standardized(x0, first, r0, r1) * r3) * r1, Stage(second, "sum", mean),
        Stage(lambda x0, x1, first, r0, r1: x1 * _standardized(x0, first, r0, r1), "sum", mean)),
    "layer_norm": _normalized(_standardized),
    "layer_norm_gain": _normalized(lambda x0, x1, first, r0, r1: _standardized(x0, first, r0, r1) * x1),
    "layer_norm_bias": _normalized(lambda x0, x1, first, r0, r1: _standardized(x0, first, r0, r1) + x1),
    "layer_norm_gain_bias": _normalized(lambda x0, x1, x2, first, r0, r1: _standardized(x0, first, r0, r1) * x1 + x2),
}
