"""Sweeps that only the GPU backend has; the others are those of :mod:`...plans.sweeps.table`."""
from __future__ import annotations

import functools
from typing import Any, Literal

from ...plans.sweeps.spec import Stage, Sweep
from ...plans.sweeps.table import (
    DEVIATION,
    LOG_SUM,
    NORM,
    TOP,
    WEIGHTS,
    element,
    first_result,
    magnitude,
    mean,
    product,
    scale,
    second,
    second_result,
    spread,
    squared,
)
from ...plans.sweeps.table import REDUCTIONS as SHARED

#: By the name of the op: one result for each slice.
REDUCTIONS: dict[str, Sweep] = {
    **SHARED,
    "hasnan": Sweep((Stage(lambda xp, x0: xp.isnan(x0), "max", counting=True),), (first_result,)),
    "hasinf": Sweep((Stage(lambda xp, x0: xp.isinf(x0), "max", counting=True),), (first_result,)),
}

#: Of logits x0, labels x1 and upstream gradients x2 (one for each row); ``indices`` are labels that are class numbers.
CROSS_ENTROPY: dict[str, Sweep] = {
    "labels": Sweep((TOP, LOG_SUM, Stage(second), Stage(lambda xp, x0, x1, r0: xp.where(x1 != 0, x1 * (x0 - r0), 0))),
                    (lambda r1, r2, r3: r2 * r1 - r3,)),
    "labels_gradient": Sweep((TOP, WEIGHTS, Stage(second)), epilogue=lambda kept, x1, x2, r1, r2: (kept * (r1 * r2) - x1) * x2),
    # Nothing can be raised on the way: a number that is no class gives NaN.
    "indices": Sweep((TOP, LOG_SUM, Stage(lambda xp, x0, x1, r0, j: xp.where(j == x1, x0 - r0, 0)),
                      Stage(lambda x1, j: j == x1, counting=True)), (lambda xp, r1, r2, r3: xp.where(r3 != 0, r1 - r2, xp.nan),)),
    "indices_gradient": Sweep((TOP, WEIGHTS), epilogue=lambda xp, kept, x1, x2, r1, j, count: xp.where(
        (x1 >= 0) & (x1 < count), (kept * r1 - xp.where(j == x1, 1.0, 0.0)) * x2, xp.nan)),
}


def _found(combine: Literal["max", "min"], absolute: bool = False) -> tuple[Stage, ...]:
    """The first place of an extreme or of a NaN."""
    def place(xp: Any, x0: Any, r0: Any, j: Any, count: Any) -> Any:
        return xp.where(((magnitude(xp, x0) if absolute else x0) == r0) | xp.isnan(x0), j, count)
    return Stage(magnitude if absolute else element, combine), Stage(place, "min", counting=True)


#: The place of an extreme in its slice.
POSITIONS: dict[tuple[str, bool], Sweep] = {
    ("max", False): Sweep(_found("max"), (second_result,)), ("max", True): Sweep(_found("max", True), (second_result,)),
    ("min", False): Sweep(_found("min"), (second_result,)), ("min", True): Sweep(_found("min", True), (second_result,))}
#: Whether an element is the first of the largest ones.
IS_MAX = Sweep(_found("max"), epilogue=lambda r1, j: j == r1)

#: The first and the last place where a mask holds, -1 where it does nowhere.
PLACES: dict[str, Sweep] = {
    "first": Sweep((Stage(lambda xp, x0, j, count: xp.where(x0 != 0, j, count), "min", counting=True),),
                   (lambda xp, r0, count: xp.where(r0 != count, r0, -1),)),
    "last": Sweep((Stage(lambda xp, x0, j: xp.where(x0 != 0, j, -1), "max", counting=True),), (first_result,)),
}



def _second_squared(x1: Any) -> Any:
    return x1 * x1


#: The largest magnitudes, and products of what each array is to its own.
_ANGLE = (NORM[0], Stage(lambda xp, x1: xp.abs(x1), "max"), Stage(lambda xp, x0, x1, r0, r1: x0 / scale(xp, r0) * (x1 / scale(xp, r1))),
          Stage(lambda xp, x0, r0: squared(x0 / scale(xp, r0))), Stage(lambda xp, x1, r1: squared(x1 / scale(xp, r1))))


def _cosine(xp: Any, r2: Any, r3: Any, r4: Any) -> Any:
    return r2 / (xp.sqrt(r3) * xp.sqrt(r4))


#: Distances of x0 and x1.
DISTANCES: dict[str, Sweep] = {
    "manhattan": Sweep((Stage(lambda xp, x0, x1: xp.abs(x0 - x1)),), (first_result,)),
    "euclidean": Sweep((Stage(lambda xp, x0, x1: xp.abs(x0 - x1), "max"), Stage(
        lambda xp, x0, x1, r0: squared((x0 - x1) / scale(xp, r0)), "sum", NORM[1].result)), (second_result,)),
    "cosinesimilarity": Sweep(_ANGLE, (_cosine,)),
    "cosinedistance": Sweep(_ANGLE, (lambda xp, r2, r3, r4: 1 - _cosine(xp, r2, r3, r4),)),
    "jaccarddistance": Sweep((Stage(lambda xp, x0, x1: xp.minimum(x0, x1)), Stage(lambda xp, x0, x1: xp.maximum(x0, x1))),
                             (lambda r0, r1: 1 - r0 / r1,)),
    "hammingdistance": Sweep((Stage(lambda x0, x1: x0 != x1, "sum", mean, counting=True),), (first_result,)),
}


@functools.lru_cache(maxsize=64)
def mean_less(divisor: int | None) -> Sweep:
    """The sum, or the sum over the length of a slice less ``divisor``."""
    if divisor in (None, 0):
        return SHARED["reduce_sum" if divisor is None else "reduce_mean"]
    return Sweep((Stage(element, "sum", lambda t, n: t / (n - divisor)),), (first_result,))


@functools.lru_cache(maxsize=64)
def clipped(limit: float, average: bool) -> Sweep:
    """Slices scaled down to a norm."""
    def length(xp: Any, r1: Any, n: Any) -> Any:
        return r1 / n if average else r1

    def scaled(xp: Any, x0: Any, r1: Any, n: Any) -> Any:
        return xp.where(length(xp, r1, n) > limit, x0 * (limit / length(xp, r1, n)), x0)
    return Sweep(NORM, epilogue=scaled)


#: The sum of a slice instead of each element, and half the sum of squares.
SUM_SPREAD = Sweep((Stage(),), epilogue=first_result)
HALF_SQUARES = Sweep((Stage(squared, "sum", lambda t: t * 0.5),), (first_result,))


def _norm(xp: Any, t: Any) -> Any:
    return xp.where(xp.sqrt(t) < 1e-5, 1e-5, xp.sqrt(t))


def _proximity_slope(xp: Any, x0: Any, x1: Any, x2: Any, r0: Any, r1: Any, r2: Any) -> Any:
    length = _norm(xp, r1)
    return -(x0 * r1 - x1 * r2) / (r0 * length * length * length) * x2


#: Of labels and output: minus the cosine of the angle, and its slope by the output; norms below 1e-5 count as 1e-5.
_PROXIMITY = Stage(squared, "sum", _norm), Stage(_second_squared), Stage(product)
PROXIMITY = Sweep(_PROXIMITY, (lambda xp, r0, r1, r2: -r2 / (r0 * _norm(xp, r1)),))
PROXIMITY_SLOPE = Sweep(_PROXIMITY, epilogue=_proximity_slope)


@functools.lru_cache(maxsize=64)
def statistics(epsilon: float, has_sample: bool = False) -> Sweep:
    """Mean, population variance, what rounding takes from the mean and 1 / sqrt(variance + epsilon), for which the variance may be
    beyond the type; the sample variance behind, if that is asked for."""
    sample = (lambda xp, r1, n: r1 * r1 * (n / xp.where(n > 1, n - 1, 1)),) if has_sample else ()
    return spread(DEVIATION, lambda r0, first: r0 + first, lambda r1: r1 * r1, lambda r0, first: r0 - ((r0 + first) - first),
                  lambda xp, r1: 1 / xp.where(r1 * r1 < xp.inf, xp.sqrt(r1 * r1 + epsilon), r1), *sample)


#: 1 at the last element of a slice that is not 0, else 0.
LAST = Sweep(PLACES["last"].folds, epilogue=lambda j, r0: j == r0)
#: The sum of the first array where the second is not 0.
WHERE_SUM = Sweep((Stage(lambda xp, x0, x1: xp.where(x1 != 0, x0, 0)),), (first_result,))
